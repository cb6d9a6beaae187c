//! Logging in to a service, against its double.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::home::Home;

/// Spotify's double, stopped with the test.
struct Spotify(Child, u16);

impl Spotify {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hermes/tests/doubles/spotify.py");
        let mut command = Command::new("python3");
        command.arg("-B").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self(child, line.trim().parse().unwrap())
    }
}

impl Drop for Spotify {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a browser gets at an address.
fn get(url: &str) -> String {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_person_logs_in_to_spotify_and_the_tools_are_there() {
    let (spotify, home) = (Spotify::start(), Home::new());
    let base = format!("http://127.0.0.1:{}", spotify.1);
    let api = format!("{base}/v1");
    let command = |words: &[&str]| {
        let mut command = home.command(words);
        command.env("HERMES_SPOTIFY_ACCOUNTS_BASE_URL", &base).env("HERMES_SPOTIFY_API_BASE_URL", &api);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    assert_eq!(home.json(&["auth", "spotify", "--status"])["status"], "nobody is logged in");
    assert_eq!(home.run(&["auth", "spotify"]).code, Some(2));

    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let redirect = format!("http://127.0.0.1:{port}/spotify/callback");
    let mut login =
        command(&["auth", "spotify", "--client-id", "c1", "--redirect-uri", &redirect]).spawn().unwrap();
    let lines = BufReader::new(login.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut lines = lines.skip_while(|line| !line.starts_with("http"));
    let page = lines.next().unwrap();
    let agreed = get(&page);
    let location: Value = serde_json::from_str(agreed.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert!(get(location["location"].as_str().unwrap()).contains("You are logged in"));
    assert!(login.wait().unwrap().success());

    let kept: Value =
        serde_json::from_slice(&std::fs::read(home.state().join("auth.json")).unwrap()).unwrap();
    assert_eq!(kept["providers"]["spotify"]["access_token"], "good-access");
    let devices = command(&["tools", "call", "spotify_devices", &json!({ "action": "list" }).to_string()])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&devices.stdout).contains("Kitchen"), "{devices:?}");
    assert_eq!(home.json(&["auth", "spotify", "--forget"])["status"], "forgotten");
    assert_eq!(home.json(&["auth", "spotify", "--status"])["status"], "nobody is logged in");
}
