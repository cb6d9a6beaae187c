//! Pages become text: whatever shape, however long, without any key.

use serde_json::{Value, json};

use crate::{PRIVATE, call, runtime, serve};

#[test]
fn a_page_is_read_without_any_key() {
    let server = serve(|path, _| match path {
        "/moved" => (302, "Location: /page\r\n".into(), String::new()),
        _ => (200, "Content-Type: text/html\r\n".into(), "<title>Lamp</title><p>Bright words.</p>".into()),
    });
    let (_folder, runtime) = runtime(PRIVATE, &[]);

    let body = call(&runtime, "web_extract", &json!({ "urls": [format!("{}/moved", server.address)] }));

    let text = body.to_string();
    assert!(text.contains("Bright words.") && text.contains("Lamp"), "{text}");
    assert_eq!(server.asked.lock().unwrap().as_slice(), ["GET /moved HTTP/1.1", "GET /page HTTP/1.1"]);
}

#[test]
fn saved_pages_of_many_shapes_are_read_from_a_server() {
    const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/pages");
    let read = |file: &str| std::fs::read(std::path::Path::new(PAGES).join(file)).unwrap();
    let index: Vec<Value> = serde_json::from_slice(&read("index.json")).unwrap();
    let kinds: Vec<(String, String)> = index
        .iter()
        .map(|page| {
            (format!("/{}", page["file"].as_str().unwrap()), page["type"].as_str().unwrap().to_owned())
        })
        .collect();
    let server = serve(move |path, _| {
        let (file, kind) = kinds.iter().find(|(file, _)| file == path).unwrap();
        let kind = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
        (200, kind, read(file.trim_start_matches('/')))
    });
    let (_folder, runtime) = runtime(PRIVATE, &[]);

    assert!(index.len() >= 30);
    for pages in index.chunks(5) {
        let urls: Vec<String> = pages
            .iter()
            .map(|page| format!("{}/{}", server.address, page["file"].as_str().unwrap()))
            .collect();
        let answer = call(&runtime, "web_extract", &json!({ "urls": urls }));
        assert_eq!(answer["untrusted"], true, "{answer}");
        let results = answer["data"]["results"].as_array().unwrap();
        for (page, result) in pages.iter().zip(results) {
            let content = result["content"].as_str().unwrap();
            for words in page["has"].as_array().unwrap() {
                assert!(content.contains(words.as_str().unwrap()), "{}: {words}\n{content}", page["file"]);
            }
            for words in page["lacks"].as_array().unwrap() {
                assert!(!content.contains(words.as_str().unwrap()), "{}: {words}\n{content}", page["file"]);
            }
        }
    }
}

#[test]
fn a_long_page_is_kept_whole_where_it_can_be_read_on() {
    let server = serve(|_, _| {
        let lines = (0..3_000).fold(String::new(), |all, number| all + &format!("line number {number}\n"));
        (200, "Content-Type: text/plain\r\n".into(), lines)
    });
    let (folder, runtime) = runtime(PRIVATE, &[]);

    let arguments = json!({ "urls": [server.address], "char_limit": 2000 });
    let text = call(&runtime, "web_extract", &arguments).to_string();

    assert!(text.contains("line number 0") && text.contains("line number 2999"), "{text}");
    assert!(!text.contains("line number 1500"));
    let kept = walk(&folder.path().join("home"));
    assert!(kept.iter().any(|text| text.contains("line number 1500")), "nothing was kept");
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            texts.extend(walk(&path));
        } else {
            texts.push(String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned());
        }
    }
    texts
}
