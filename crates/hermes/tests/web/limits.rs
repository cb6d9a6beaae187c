//! Servers that send too much, too long, packed, or other than they say.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::{PRIVATE, Server, call, runtime, serve};

/// The row of one page of the server.
fn row(server: &Server, path: &str) -> Value {
    let (_folder, runtime) = runtime(PRIVATE, &[]);
    let answer = call(&runtime, "web_extract", &json!({ "urls": [format!("{}{path}", server.address)] }));
    answer["data"]["results"][0].clone()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn a_page_without_end_is_read_as_far_as_it_may_and_says_so() {
    // Half as much again as is read of a page.
    let server = serve(|_, _| (200, "Content-Type: text/plain\r\n".into(), "word ".repeat(2_500_000)));

    let row = row(&server, "/");

    let content = row["content"].as_str().unwrap();
    assert!(content.contains("the rest of the page was not read"), "{row}");
    assert!(content.chars().count() < 20_000);
}

#[test]
fn a_packed_page_is_unpacked_and_one_that_would_burst_is_cut() {
    let packed = "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n";
    let bomb = gzip(&vec![b'a'; 20_000_000]);
    assert!(bomb.len() < 200_000, "{}", bomb.len());
    let server = serve(move |path, _| match path {
        "/bomb" => (200, packed.into(), bomb.clone()),
        "/odd" => (200, packed.replace("gzip", "br"), b"?".to_vec()),
        _ => (200, packed.into(), gzip("A packed page.".as_bytes())),
    });

    assert_eq!(row(&server, "/page")["content"], "A packed page.");
    let bomb = row(&server, "/bomb");
    assert!(bomb["content"].as_str().unwrap().contains("the rest of the page was not read"), "{bomb}");
    assert!(row(&server, "/odd")["error"].as_str().unwrap().contains("`br`"));
}

#[test]
fn a_way_that_leads_on_and_on_is_left() {
    let server = serve(|path, _| {
        let step: u32 = path.trim_start_matches('/').parse().unwrap_or_default();
        (302, format!("Location: /{}\r\n", step + 1), "")
    });

    let error = row(&server, "/0")["error"].as_str().unwrap().to_owned();

    assert!(error.contains("more than 5 times"), "{error}");
    assert_eq!(server.asked.lock().unwrap().len(), 6);
}

#[test]
fn a_page_that_breaks_off_is_no_page() {
    let server =
        serve(|_, _| (200, "Content-Length: 5000\r\nContent-Type: text/plain\r\n".into(), "only this"));

    let row = row(&server, "/");

    assert_eq!(row["content"], "", "{row}");
    assert!(!row["error"].as_str().unwrap().is_empty(), "{row}");
}

#[test]
fn words_in_other_alphabets_arrive_as_they_were_written() {
    let server = serve(|path, _| {
        let (kind, body): (&str, Vec<u8>) = match path {
            // こんにちは
            "/shift_jis" => ("text/plain; charset=Shift_JIS", b"\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd".to_vec()),
            // Привет
            "/koi8" => ("text/plain; charset=koi8-r", b"\xf0\xd2\xc9\xd7\xc5\xd4".to_vec()),
            // 你好
            "/gbk" => ("text/html", b"<meta charset=gbk><p>\xc4\xe3\xba\xc3</p>".to_vec()),
            // Nothing but the first bytes says so.
            "/utf16" => ("text/plain", b"\xff\xfeg\0r\0\xfc\0n\0".to_vec()),
            // мир, as the document itself says
            "/feed" => (
                "application/rss+xml",
                b"<?xml version=\"1.0\" encoding=\"windows-1251\"?><rss version=\"2.0\"><channel><title>t</title>\
                  <item><title>\xec\xe8\xf0</title><link>https://a.example/</link></item></channel></rss>"
                    .to_vec(),
            ),
            // What says to be UTF-8 and is not loses a letter, and nothing more.
            _ => ("text/plain; charset=utf-8", b"caf\xe9 noir".to_vec()),
        };
        (200, format!("Content-Type: {kind}\r\n"), body)
    });

    for (path, words) in [
        ("/shift_jis", "こんにちは"),
        ("/koi8", "Привет"),
        ("/gbk", "你好"),
        ("/utf16", "grün"),
        ("/feed", "мир"),
        ("/wrong", "caf\u{fffd} noir"),
    ] {
        let row = row(&server, path);
        assert!(row["content"].as_str().unwrap().contains(words), "{path}: {row}");
    }
}
