//! A fresh home without any key, on a machine with nothing but Debian's packages: pages are read, a browser
//! looks at them, texts are spoken and jobs are planned, each by the real program.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::home::Home;

/// The page lies on this machine, which is closed to tools until somebody opens it.
const OPENED: &str = "security:\n  allow_private_urls: true\nbrowser:\n  allow_private_urls: true\n";

/// A server with one page; it ends with the test.
fn page() -> String {
    const PAGE: &str =
        "<!doctype html><title>Lamps</title><h1>Lamps</h1><p>Oil burns slowly.</p><button>Light it</button>";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n";
            let answer = format!("{head}Content-Length: {}\r\n\r\n{PAGE}", PAGE.len());
            let _ = reader.get_mut().write_all(answer.as_bytes());
        }
    });
    address
}

/// What a call of the real program answers.
fn called(home: &Home, tool: &str, arguments: &Value) -> Value {
    serde_json::from_str(&home.say(&["tools", "call", tool, &arguments.to_string()])).unwrap()
}

/// Whether a program of Debian is here; CI has them all.
fn has(program: &str, testbed: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    assert!(found || std::env::var_os("CI").is_none(), "{program} is missing (scripts/testbeds/{testbed})");
    if !found {
        eprintln!("SKIPPED: {program} is missing (scripts/testbeds/{testbed})");
    }
    found
}

#[test]
fn pages_are_read() {
    let home = Home::configured(OPENED);

    let answer = called(&home, "web_extract", &json!({ "urls": [page()] }));

    let row = &answer["data"]["results"][0];
    assert_eq!(row["title"], "Lamps", "{answer}");
    assert!(row["content"].as_str().unwrap().contains("Oil burns slowly."), "{answer}");
}

#[test]
fn a_browser_looks_at_a_page() {
    if !has("chromium", "chromium") {
        return;
    }
    let home = Home::configured(OPENED);

    let answer = called(&home, "browser_navigate", &json!({ "url": page() })).to_string();

    assert!(answer.contains("Lamps") && answer.contains("Light it"), "{answer}");
}

#[test]
fn a_text_is_spoken() {
    if !has("espeak-ng", "espeak") {
        return;
    }
    let home = Home::new();

    let answer = called(&home, "text_to_speech", &json!({ "text": "Good evening.", "output_path": "a.wav" }));

    assert_eq!((&answer["success"], &answer["provider"]), (&json!(true), &json!("espeak")), "{answer}");
    assert!(std::fs::read(home.project().join("a.wav")).unwrap().starts_with(b"RIFF"));
}

#[test]
fn a_job_is_planned_and_found_again() {
    let home = Home::new();

    let made =
        called(&home, "cronjob", &json!({ "action": "create", "schedule": "@daily", "prompt": "Look" }));
    let listed = called(&home, "cronjob", &json!({ "action": "list" }));

    assert_eq!(made["success"], true, "{made}");
    assert_eq!((&listed["count"], &listed["jobs"][0]["job_id"]), (&json!(1), &made["job_id"]), "{listed}");
}
