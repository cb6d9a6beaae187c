//! What is done with a page: forms, uploads, keys, scrolling, going back, commands of the protocol.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::server::{Seat, Server, reference};

const FORM: &str = "<form method=post action=/done enctype=multipart/form-data>\
    <input name=name aria-label=Name value=old><textarea name=text aria-label=Text></textarea>\
    <input type=password name=word aria-label=Word><input type=date name=day aria-label=Day>\
    <select name=lamp aria-label=Lamp><option value=r>Red</option><option value=b>Blue</option></select>\
    <input type=checkbox name=yes aria-label=Yes><input type=file name=file aria-label=File>\
    <div contenteditable role=textbox aria-label=Free>x</div><button>Send</button></form>";

#[test]
fn a_form_with_a_file_is_filled_in_and_sent() {
    let server = Server::pages(&[("/", FORM), ("/done", "<title>Done</title>thanks")]);
    let Some(seat) = Seat::at(&[&server]) else { return };
    std::fs::write(seat.folder.path().join("work/note.txt"), "buy milk").unwrap();
    let answer = seat.open(&server.url("/"));
    let text = answer["snapshot"].as_str().unwrap().to_owned();
    let fill = |words: &str, value: &str| {
        seat.call("browser_type", json!({ "ref": reference(&text, words), "text": value }))
    };

    for (field, value) in [
        ("Name", "Ann \"é\" O'Hara"),
        ("Text", "two\nlines"),
        ("Word", "s3cret"),
        ("Day", "2026-02-03"),
        ("Lamp", "blue"),
        ("Free", "free"),
    ] {
        let typed = fill(&format!("\"{field}\""), value);
        assert_eq!(typed["success"], true, "{typed}");
    }
    assert!(fill("\"Lamp\"", "green")["error"].as_str().unwrap().contains("Red, Blue"));
    let file = reference(&text, "\"File");
    let refused = fill("\"File", "note.txt")["error"].as_str().unwrap().to_owned();
    assert!(refused.contains("DOM.setFileInputFiles"), "{refused}");
    let put = seat.call(
        "browser_cdp",
        json!({ "method": "DOM.setFileInputFiles", "params": { "files": ["note.txt"], "backendNodeId": file } }),
    );
    assert_eq!(put["success"], true, "{put}");
    seat.call("browser_click", json!({ "ref": reference(&text, "checkbox \"Yes\"") }));
    assert_eq!(seat.run("document.querySelector('[contenteditable]').textContent"), "free");
    let sent = seat.call("browser_click", json!({ "ref": reference(&text, "button \"Send\"") }));

    assert_eq!(sent["url"], server.url("/done"), "{sent}");
    let (first, body) = server.asked().into_iter().find(|(first, _)| first.starts_with("POST")).unwrap();
    assert_eq!(first, "POST /done HTTP/1.1");
    for part in
        ["Ann \"é\" O'Hara", "two\r\nlines", "s3cret", "2026-02-03", "\r\nb\r\n", "name=\"yes\"", "buy milk"]
    {
        assert!(body.contains(part), "{part} in\n{body}");
    }
    let gone = seat.call("browser_click", json!({ "ref": reference(&text, "button \"Send\"") }));
    assert!(gone["error"].as_str().unwrap().contains("take a new snapshot"), "{gone}");
}

#[test]
fn files_that_may_not_be_read_are_not_uploaded() {
    let server = Server::pages(&[("/", FORM)]);
    let Some(seat) = Seat::at(&[&server]) else { return };
    let text = seat.open(&server.url("/"))["snapshot"].as_str().unwrap().to_owned();
    let upload = |file: &str| {
        let params = json!({ "files": [file], "backendNodeId": reference(&text, "\"File") });
        seat.call("browser_cdp", json!({ "method": "DOM.setFileInputFiles", "params": params }))
    };

    for file in ["/etc/shadow", "missing.txt"] {
        let answer = upload(file);
        assert!(answer.get("error").is_some(), "{file}: {answer}");
    }
    assert_eq!(seat.run("document.querySelector('[type=file]').files.length"), 0);
}

#[test]
fn links_keys_scrolling_and_the_way_back() {
    let server = Server::pages(&[
        ("/", "<title>One</title><a href=/two>go</a><form action=/found><input name=q aria-label=q></form>"),
        (
            "/two",
            "<title>Two</title><div style='height:5000px'>tall</div><a id=new target=_blank href=/three>tab</a>",
        ),
        ("/three", "<title>Three</title>three"),
        ("/found", "<title>Found</title>found"),
    ]);
    let Some(seat) = Seat::at(&[&server]) else { return };
    let text = seat.open(&server.url("/"))["snapshot"].as_str().unwrap().to_owned();

    let went = seat.call("browser_click", json!({ "ref": reference(&text, "link \"go\"") }));
    assert_eq!(went["url"], server.url("/two"), "{went}");
    let down = seat.call("browser_scroll", json!({ "direction": "down" }));
    assert_eq!((&down["scrolled"], &down["position"]["y"]), (&json!("down"), &json!(500)));
    assert_eq!(seat.call("browser_scroll", json!({ "direction": "up" }))["position"]["y"], 0);
    let back = seat.call("browser_back", json!({}));
    assert_eq!(back["url"], server.url("/"), "{back}");

    let text = seat.snapshot();
    seat.call("browser_type", json!({ "ref": reference(&text, "textbox \"q\""), "text": "lamp & co" }));
    let sent = seat.call("browser_press", json!({ "key": "Enter" }));
    assert_eq!(sent["url"], server.url("/found?q=lamp+%26+co"), "{sent}");

    seat.open(&server.url("/two"));
    let text = seat.snapshot();
    seat.call("browser_click", json!({ "ref": reference(&text, "link \"tab\"") }));
    seat.wait_for("document.title === 'Three'");
    assert!(seat.snapshot().contains("three"), "a new tab is followed");
    let targets = seat.call("browser_cdp", json!({ "method": "Target.getTargets" }));
    let targets = targets["result"]["targetInfos"].as_array().unwrap();
    let before = targets.iter().find(|it| it["url"] == server.url("/two")).unwrap();
    let script = json!({ "expression": "document.title" });
    let asked = json!({ "method": "Runtime.evaluate", "params": script, "target_id": before["targetId"] });
    let title = seat.call("browser_cdp", asked);
    assert_eq!(title["result"]["result"]["value"], "Two", "the tab before can still be asked: {title}");
}

#[test]
fn a_page_that_closes_or_crashes_ends_what_is_asked_of_it_at_once() {
    let server = Server::pages(&[
        ("/", "<title>One</title><button onclick=\"window.open('/two')\">open</button>"),
        ("/two", "<title>Two</title><button onclick='window.close()'>close</button>"),
    ]);
    // So long that a call which waited for it would be noticed.
    let Some(seat) = Seat::set_up(&[&server], "  command_timeout: 250\n") else { return };
    let text = seat.open(&server.url("/"))["snapshot"].as_str().unwrap().to_owned();
    let begun = Instant::now();
    let open = || {
        let opened = seat.call("browser_click", json!({ "ref": reference(&text, "button \"open\"") }));
        assert_eq!(opened["url"], server.url("/two"), "a new tab is followed: {opened}");
    };

    open();
    let script = json!({ "expression": "new Promise(() => window.close())" });
    let asked = seat.call("browser_console", script);
    assert!(asked["error"].as_str().unwrap().contains("the page was closed before it answered"), "{asked}");
    assert_eq!(seat.call("browser_snapshot", json!({}))["title"], "One", "the page before is there again");

    open();
    let inner = seat.snapshot();
    let clicked = seat.call("browser_click", json!({ "ref": reference(&inner, "button \"close\"") }));
    assert_eq!(clicked["success"], true, "{clicked}");
    seat.wait_for("document.title === 'One'");

    let asked = std::thread::scope(|scope| {
        let script = json!({ "expression": "fetch('/asked'); new Promise(() => {})" });
        let asked = scope.spawn(|| seat.call("browser_console", script));
        while !server.asked().iter().any(|(first, _)| first.contains("/asked")) {
            assert!(begun.elapsed() < Duration::from_mins(1), "the script runs");
            std::thread::sleep(Duration::from_millis(10));
        }
        let renderers = renderers(&seat.folder.path().join("tmp"));
        assert!(!renderers.is_empty());
        for renderer in renderers {
            Command::new("kill").args(["-KILL", &renderer.to_string()]).status().unwrap();
        }
        asked.join().unwrap()
    });
    assert!(asked["error"].as_str().unwrap().contains("the page crashed before it answered"), "{asked}");
    let later = seat.call("browser_snapshot", json!({}));
    assert!(later["error"].as_str().unwrap().contains("crashed; open it again"), "{later}");
    assert_eq!(seat.open(&server.url("/"))["title"], "One", "and it can be opened again");
    assert!(begun.elapsed() < Duration::from_mins(2), "nothing waited: {:?}", begun.elapsed());
}

/// The processes that hold the pages of a browser with its things in this folder.
fn renderers(folder: &Path) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pages = processes.filter_map(|process| {
        let words = std::fs::read(process.path().join("cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).into_owned();
        let is_page = words.contains("--type=renderer") && words.contains(folder.to_str()?);
        process.file_name().to_str()?.parse().ok().filter(|_| is_page)
    });
    pages.collect()
}

#[test]
fn commands_of_the_protocol_are_sent_unless_they_lead_out() {
    let server = Server::pages(&[("/", "<title>One</title><p>one</p>")]);
    let Some(seat) = Seat::at(&[&server]) else { return };
    let cdp = |method: &str, params: serde_json::Value| {
        seat.call("browser_cdp", json!({ "method": method, "params": params, "timeout": 20 }))
    };
    assert!(cdp("Page.reload", json!({}))["error"].as_str().unwrap().contains("no page is open"));
    seat.open(&server.url("/"));

    let answer = cdp("Runtime.evaluate", json!({ "expression": "document.title" }));
    assert_eq!(answer["result"]["result"]["value"], "One", "{answer}");
    let targets = cdp("Target.getTargets", json!({}));
    assert!(targets["result"].to_string().contains(&server.url("/")), "{targets}");
    for (method, params) in [
        ("Browser.close", json!({})),
        ("Target.createBrowserContext", json!({ "proxyServer": "direct://" })),
        ("Page.navigate", json!({ "url": "file:///etc/passwd" })),
        ("Page.navigate", json!({ "url": "chrome://version" })),
        ("Target.createTarget", json!({ "url": "http://169.254.169.254/" })),
        ("Browser.setDownloadBehavior", json!({ "behavior": "allow", "downloadPath": "/etc" })),
    ] {
        let answer = cdp(method, params);
        assert!(answer.get("error").is_some(), "{method}: {answer}");
    }
    assert!(seat.snapshot().contains("one"));
}
