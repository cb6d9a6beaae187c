//! Who is let in over HTTP.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::home::Home;
use crate::served::Served;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// The status of the answer to a request with these headers, and all of the answer.
fn post(served: &Served, headers: &[&str], body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(served.address()).unwrap();
    let mut request = "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
        Accept: application/json, text/event-stream\r\n"
        .to_owned();
    for header in headers {
        request.push_str(header);
        request.push_str("\r\n");
    }
    let length = body.len();
    let request = format!("{request}Content-Length: {length}\r\n\r\n{body}");
    // The server may answer and close before all of it was sent.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
    (status, answer)
}

const TOKEN: &str = "Authorization: Bearer a-token-that-is-long-enough";

#[test]
fn the_token_opens_the_door_and_nothing_else_does() {
    let home = Home::new();
    let served = Served::start(&home, &["--token-env", "MCP_TOKEN"]);
    let ask = |headers: &[&str]| post(&served, headers, HELLO).0;

    assert_eq!(ask(&["Host: localhost", TOKEN]), 200);
    assert_eq!(ask(&["Host: localhost", "Origin: http://127.0.0.1:6274", TOKEN]), 200);
    assert_eq!(ask(&["Host: localhost"]), 401);
    assert_eq!(ask(&["Host: localhost", "Authorization: Bearer a-token-that-is-long-enougH"]), 401);
    assert_eq!(ask(&["Host: evil.example", TOKEN]), 403);
    assert_eq!(ask(&["Host: localhost", "Origin: http://evil.example", TOKEN]), 403);
}

#[test]
fn a_request_that_is_too_large_is_told_so_also_to_somebody_who_sends_all_of_it_first() {
    let home = Home::new();
    let served = Served::start(&home, &["--token-env", "MCP_TOKEN"]);
    let large = format!("{}{}", HELLO, " ".repeat(17 * 1024 * 1024));

    let (status, answer) = post(&served, &["Host: localhost", TOKEN], &large);
    assert!(status == 413 && answer.contains("a request has at most 16 MiB"), "{status} {answer}");
    let (stranger, answer) = post(&served, &["Host: localhost"], &large);
    assert_eq!(stranger, 401, "{answer}");
    assert_eq!(post(&served, &["Host: localhost", TOKEN], HELLO).0, 200);
}

#[test]
fn a_token_that_nobody_chose_is_made_and_told_on_standard_error() {
    let home = Home::new();
    let served = Served::start(&home, &[]);
    let token =
        served.said.split("token (for this run): ").nth(1).unwrap().lines().next().unwrap().to_owned();

    let header = format!("Authorization: Bearer {token}");
    let status = post(&served, &["Host: localhost", &header], HELLO).0;
    let (out, ended) = served.interrupt();

    assert_eq!((token.len(), status), (64, 200));
    assert_eq!((out.as_str(), ended.code()), ("", Some(130)));
}

#[test]
fn a_program_that_wants_json_is_told_where_the_server_is() {
    let home = Home::new();
    let served = Served::start(&home, &["--json"]);
    let (url, said) = (served.url.clone(), served.said.clone());

    let (out, _) = served.interrupt();

    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["url"], url.as_str());
    assert!(said.contains(told["token"].as_str().unwrap()), "{said}");
}

#[test]
fn what_cannot_be_safe_is_wrong_usage() {
    let home = Home::new();
    let fails = |words: &[&str]| {
        let said = home.run(&[&["mcp", "serve"], words].concat());
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:?}");
        said.err
    };

    assert!(fails(&["--http", "0.0.0.0:0"]).contains("--allow-host"));
    assert!(fails(&["--http", "0", "--allow-host", "http://build.example:80"]).contains("write it alone"));
    assert!(fails(&["--http", "0", "--token-env", "NOT_SET"]).contains("`NOT_SET` is not set"));
    assert!(fails(&["--http", "0", "--token-file", "/nope"]).starts_with("error: cannot read /nope: "));
    assert!(fails(&["--toolsets", "no-such-toolset"]).contains("no-such-toolset"));
    assert!(fails(&["--token-env", "MCP_TOKEN"]).contains("--http"));
}
