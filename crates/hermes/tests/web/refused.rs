//! Addresses that must not be asked for are not: in any spelling, behind any redirect or name.

use serde_json::json;

use crate::{PRIVATE, call, runtime, serve};

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
fn an_address_that_carries_a_key_is_refused() {
    let server = serve(|_, _| (200, String::new(), "got it"));
    let (_folder, runtime) = runtime(PRIVATE, &[]);

    let url = format!("{}/?api_key=abcdef0123456789", server.address);
    let text = call(&runtime, "web_extract", &json!({ "urls": [url] })).to_string();

    assert!(text.contains("blocked_by_policy") && server.asked.lock().unwrap().is_empty(), "{text}");
}
