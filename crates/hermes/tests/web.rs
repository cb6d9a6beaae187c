//! `web_search` and `web_extract` against servers on this machine: what is fetched, what is refused.

#![expect(clippy::disallowed_methods, reason = "a test brings its own server and home")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use hermes::store::Home;
use hermes::{Runtime, ToolCall};
use serde_json::{Value, json};

/// Answers every request with what `answer` says of its first line and body; remembers the first lines.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

fn serve<B: AsRef<[u8]>>(answer: impl Fn(&str, &str) -> (u16, String, B) + Send + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut first = String::new();
            if reader.read_line(&mut first).unwrap_or(0) == 0 {
                continue;
            }
            let mut length = 0;
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
            let (status, headers, body) = answer(&path, &String::from_utf8_lossy(&body));
            seen.lock().unwrap().push(first.trim().to_owned());
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n",
                body.as_ref().len()
            );
            let _ = reader.get_mut().write_all([head.as_bytes(), body.as_ref()].concat().as_slice());
        }
    });
    Server { address, asked }
}

fn runtime(config: &str, variables: &[(&str, &str)]) -> (tempfile::TempDir, Runtime) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(&folder.path().join("home"));
    std::fs::create_dir_all(folder.path().join("home")).unwrap();
    std::fs::write(folder.path().join("home/config.yaml"), config).unwrap();
    let env = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let runtime = Runtime::builder().cwd(folder.path()).home(home).env(env).build().unwrap();
    (folder, runtime)
}

fn call(runtime: &Runtime, tool: &str, arguments: &Value) -> Value {
    let outcome = runtime.call_blocking(ToolCall::new(tool, arguments.to_string()));
    // Words of strangers come in a frame that says so.
    let body: Value = serde_json::from_str(&outcome.body).unwrap();
    body
}

const PRIVATE: &str = "security:\n  allow_private_urls: true\n";

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
fn addresses_of_this_machine_are_refused_before_anything_is_asked() {
    let server = serve(|_, _| (200, String::new(), "inside"));
    let (_folder, runtime) = runtime("", &[]);
    let port = server.address.rsplit(':').next().unwrap().to_owned();
    let urls = [
        server.address.clone(),
        format!("http://localhost:{port}/"),
        format!("http://2130706433:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ];

    for url in urls {
        let text = call(&runtime, "web_extract", &json!({ "urls": [url] })).to_string();
        assert!(text.contains("error") && !text.contains("inside"), "{url}: {text}");
    }
    assert!(server.asked.lock().unwrap().is_empty());
}

#[test]
fn every_redirect_is_judged_again() {
    let server = serve(|path, _| {
        let to = match path {
            "/metadata" => "http://169.254.169.254/latest/meta-data/",
            "/number" => "http://2852039166/latest/",
            "/name" => "http://metadata.google.internal/",
            "/file" => "file:///etc/passwd",
            "/blocked" => "http://inner.blocked.example/",
            "/circle" => "/circle",
            _ => return (200, String::new(), "arrived"),
        };
        (302, format!("Location: {to}\r\n"), "")
    });
    let config = format!("{PRIVATE}  website_blocklist:\n    domains: [\"*.blocked.example\"]\n");
    let (_folder, runtime) = runtime(&config, &[]);

    for path in ["/metadata", "/number", "/name", "/file", "/blocked", "/circle"] {
        let urls = json!({ "urls": [format!("{}{path}", server.address)] });
        let text = call(&runtime, "web_extract", &urls).to_string();
        assert!(text.contains("error") && !text.contains("arrived"), "{path}: {text}");
    }
    let circles = server.asked.lock().unwrap().iter().filter(|line| line.contains("/circle")).count();
    assert!((2..=20).contains(&circles), "a circle ends: {circles}");
}

#[test]
fn a_harmless_name_that_leads_inside_is_refused_when_it_is_looked_up() {
    let server = serve(|_, _| (200, String::new(), "inside"));
    let (_folder, runtime) = runtime("", &[]);
    let port = server.address.rsplit(':').next().unwrap();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();

    let url = format!("http://{}:{port}/", host.trim());
    let text = call(&runtime, "web_extract", &json!({ "urls": [url] })).to_string();

    assert!(text.contains("error") && !text.contains("inside"), "{text}");
    assert!(server.asked.lock().unwrap().is_empty());
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
fn an_address_that_carries_a_key_is_refused() {
    let server = serve(|_, _| (200, String::new(), "got it"));
    let (_folder, runtime) = runtime(PRIVATE, &[]);

    let url = format!("{}/?api_key=abcdef0123456789", server.address);
    let text = call(&runtime, "web_extract", &json!({ "urls": [url] })).to_string();

    assert!(text.contains("blocked_by_policy") && server.asked.lock().unwrap().is_empty(), "{text}");
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

#[test]
fn every_search_provider_is_asked_in_its_own_words() {
    let server = serve(|path, body| {
        let row = json!({ "title": "T", "url": "https://t.example", "content": "D", "description": "D" });
        let answer = match path.split('?').next().unwrap() {
            "/search" if body.is_empty() => json!({ "results": [row] }),
            "/search" => {
                json!({ "results": [{ "title": "T", "url": "https://t.example", "content": "D", "highlights": ["D"] }] })
            }
            "/v2/search" => json!({ "data": { "web": [row] } }),
            "/v1beta/search" => {
                json!({ "results": [{ "title": "T", "url": "https://t.example", "excerpts": ["D"] }] })
            }
            "/res/v1/web/search" => json!({ "web": { "results": [row] } }),
            "/w/api.php" => json!({ "query": { "search": [{ "title": "T", "snippet": "D" }] } }),
            other => json!({ "unexpected": other }),
        };
        (200, "Content-Type: application/json\r\n".into(), answer.to_string())
    });
    let address = server.address.as_str();
    let providers: [(&str, &[(&str, &str)]); 7] = [
        ("tavily", &[("TAVILY_API_KEY", "k"), ("TAVILY_BASE_URL", address)]),
        ("exa", &[("EXA_API_KEY", "k"), ("EXA_BASE_URL", address)]),
        ("firecrawl", &[("FIRECRAWL_API_URL", address)]),
        ("parallel", &[("PARALLEL_API_KEY", "k"), ("PARALLEL_BASE_URL", address)]),
        ("searxng", &[("SEARXNG_URL", address)]),
        ("brave-free", &[("BRAVE_SEARCH_API_KEY", "k"), ("BRAVE_BASE_URL", address)]),
        ("wikipedia", &[("WIKIPEDIA_BASE_URL", address)]),
    ];

    for (name, variables) in providers {
        let (_folder, runtime) = runtime("", variables);
        let text = call(&runtime, "web_search", &json!({ "query": "lamps & oil" })).to_string();
        assert!(text.contains(name) && text.contains("position"), "{name}: {text}");
    }
}

#[test]
fn every_reading_provider_is_asked_in_its_own_words() {
    let server = serve(|path, body| {
        let asked: Value = serde_json::from_str(body).unwrap();
        let url = asked.pointer("/urls/0").or_else(|| asked.get("url")).unwrap();
        let page = |field: &str| json!({ "results": [{ "url": url, "title": "T", field: "Words of it." }] });
        let answer = match path {
            "/extract" => page("raw_content"),
            "/contents" if asked["text"] == true => page("text"),
            "/v1beta/extract" if asked["full_content"] == true => page("full_content"),
            "/v2/scrape" => {
                json!({ "data": { "markdown": "Words of it.", "metadata": { "title": "T", "sourceURL": url } } })
            }
            other => json!({ "unexpected": other }),
        };
        (200, "Content-Type: application/json\r\n".into(), answer.to_string())
    });
    let address = server.address.as_str();
    let providers: [(&str, &[(&str, &str)]); 4] = [
        ("/extract", &[("TAVILY_API_KEY", "k"), ("TAVILY_BASE_URL", address)]),
        ("/contents", &[("EXA_API_KEY", "k"), ("EXA_BASE_URL", address)]),
        ("/v1beta/extract", &[("PARALLEL_API_KEY", "k"), ("PARALLEL_BASE_URL", address)]),
        ("/v2/scrape", &[("FIRECRAWL_API_URL", address)]),
    ];

    for (path, variables) in providers {
        let (_folder, runtime) = runtime("", variables);
        let answer = call(&runtime, "web_extract", &json!({ "urls": ["https://page.example/x"] }));
        let page = &answer["data"]["results"][0];
        assert_eq!(
            (&page["title"], &page["content"]),
            (&json!("T"), &json!("Words of it.")),
            "{path}: {answer}"
        );
        assert!(server.asked.lock().unwrap().last().unwrap().contains(path), "{path}");
    }
}

#[test]
fn a_provider_that_refuses_is_quoted_and_its_key_is_not() {
    let server = serve(|_, _| (401, String::new(), "unknown key"));
    let variables = [("EXA_API_KEY", "exa-secret-0123456789"), ("EXA_BASE_URL", server.address.as_str())];
    let (_folder, runtime) = runtime("", &variables);

    let text = call(&runtime, "web_search", &json!({ "query": "x" })).to_string();

    assert!(text.contains("401") && text.contains("is the key right?"), "{text}");
    assert!(!text.contains("exa-secret"), "{text}");
}
