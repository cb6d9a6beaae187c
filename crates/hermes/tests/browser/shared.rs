//! A browser that runs already, reached by its address.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::server::{Seat, Server, chromium, html_type};

/// A browser of somebody else.
struct Elsewhere {
    child: std::process::Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Elsewhere {
    fn start(program: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let child = Command::new(program)
            .args(["--headless", "--no-sandbox", "--remote-debugging-port=0", "--no-first-run"])
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .arg("about:blank")
            .env("HOME", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let told = folder.path().join("DevToolsActivePort");
        let begun = Instant::now();
        let port = loop {
            let text = std::fs::read_to_string(&told).unwrap_or_default();
            if let Some(port) = text.lines().next().and_then(|line| line.parse().ok()) {
                break port;
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "Chromium did not start");
            std::thread::sleep(Duration::from_millis(20));
        };
        Self { child, port, _folder: folder }
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_running_browser_is_used_by_its_address_with_every_request_judged() {
    let Some(program) = chromium() else { return };
    let secret = Server::with(|_| (200, html_type(), "secret".to_owned()));
    let other = secret.port;
    let server = Server::with(move |_| {
        let html = format!("<title>One</title><img src='http://127.0.0.1:{other}/img'><p>one</p>");
        (200, html_type(), html)
    });
    let browser = Elsewhere::start(&program);
    let Some(seat) = Seat::at(&[&server]) else { return };
    seat.runtime.set_env("BROWSER_CDP_URL", Some(&format!("http://127.0.0.1:{}", browser.port)));

    let answer = seat.open(&server.url("/"));

    assert!(answer["snapshot"].as_str().unwrap().contains("one"), "{answer}");
    assert!(answer["blocked_requests"].to_string().contains(&format!("127.0.0.1:{other}")), "{answer}");
    assert_eq!(secret.asked(), []);
    let refused = seat.call("browser_cdp", json!({ "method": "Fetch.disable" }));
    assert!(refused["error"].is_string(), "{refused}");
    drop(seat);
    // Our tab is closed, the browser is not.
    let begun = Instant::now();
    let mut browser = browser;
    assert!(browser.child.try_wait().unwrap().is_none(), "it goes on after {:?}", begun.elapsed());
}
