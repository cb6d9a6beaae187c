//! What a page cannot reach, whatever it tries.

use serde_json::json;

use crate::server::{Seat, Server, html_type};

#[test]
fn private_addresses_are_refused_by_every_way_a_page_has() {
    let secret =
        Server::with(|_| (200, "Access-Control-Allow-Origin: *\r\n".to_owned(), "secret".to_owned()));
    let other = secret.port;
    let page = move |path: &str| {
        let html = match path {
            "/redirect" => {
                let to = format!("Location: http://127.0.0.1:{other}/redirected\r\n");
                return (302, to, String::new());
            }
            "/worker.js" => {
                let script = format!(
                    "onmessage = async () => postMessage(await fetch('http://127.0.0.1:{other}/worker').then((r) => r.text(), () => 'no'))"
                );
                return (200, "Content-Type: text/javascript\r\n".to_owned(), script);
            }
            "/service.js" => {
                let script = format!(
                    "onmessage = async (e) => e.source.postMessage(await fetch('http://127.0.0.1:{other}/service').then((r) => r.text(), () => 'no'))"
                );
                return (200, "Content-Type: text/javascript\r\n".to_owned(), script);
            }
            _ => format!(
                "<title>-</title><img src='http://127.0.0.1:{other}/img'><iframe src='http://127.0.0.1:{other}/frame'></iframe>\
                 <link rel=dns-prefetch href='//x.example'><link rel=preconnect href='http://127.0.0.1:{other}'>\
                 <script src='http://127.0.0.1:{other}/script'></script>"
            ),
        };
        (200, html_type(), html)
    };
    let server = Server::with(page);
    let Some(seat) = Seat::at(&[&server]) else { return };

    let answer = seat.open(&server.url("/"));
    let blocked = answer["blocked_requests"].to_string();
    assert!(blocked.contains(&format!("127.0.0.1:{other}")), "{answer}");

    let tries = [
        format!("fetch('http://127.0.0.1:{other}/fetch', {{ mode: 'no-cors' }}).then(() => 'yes', () => 'no')"),
        format!("fetch('http://localhost:{other}/name').then(() => 'yes', () => 'no')"),
        format!("fetch('http://[::1]:{other}/six').then(() => 'yes', () => 'no')"),
        format!("fetch('http://0x7f000001:{other}/hex').then(() => 'yes', () => 'no')"),
        "fetch('http://169.254.169.254/latest/meta-data/').then(() => 'yes', () => 'no')".to_owned(),
        "fetch('/redirect').then(() => 'yes', () => 'no')".to_owned(),
        format!("new Promise((done) => {{ const s = new WebSocket('ws://127.0.0.1:{other}/socket'); s.onopen = () => done('yes'); s.onerror = () => done('no') }})"),
        "new Promise((done) => { const w = new Worker('/worker.js'); w.onmessage = (e) => done(e.data); w.postMessage(1) })".to_owned(),
        "navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready).then((r) => new Promise((done) => { \
             navigator.serviceWorker.onmessage = (e) => done(e.data); r.active.postMessage(1) }))".to_owned(),
        format!("new Promise((done) => {{ const p = new RTCPeerConnection({{ iceServers: [{{ urls: 'stun:127.0.0.1:{other}' }}] }}); \
             p.createDataChannel('x'); let seen = 'no'; p.onicecandidate = (e) => {{ if (!e.candidate) done(seen); else if (e.candidate.candidate.includes('udp')) seen = 'yes ' + e.candidate.candidate }}; \
             p.createOffer().then((o) => p.setLocalDescription(o)); setTimeout(() => done(seen), 1000) }})"),
    ];
    for script in tries {
        assert_eq!(seat.run(&script), "no", "{script}");
    }
    assert_eq!(secret.asked(), [], "nothing came through");
    assert_eq!(seat.run("fetch('/open').then((r) => r.status)"), 200);
}

#[test]
fn pages_that_lead_to_private_addresses_are_not_opened() {
    let secret = Server::with(|_| (200, html_type(), "secret".to_owned()));
    let other = secret.port;
    let server = Server::with(move |path| match path {
        "/jump" => (302, format!("Location: http://127.0.0.1:{other}/jumped\r\n"), String::new()),
        "/script" => {
            (200, html_type(), format!("<script>location = 'http://127.0.0.1:{other}/script'</script>"))
        }
        _ => (200, html_type(), "<title>fine</title>".to_owned()),
    });
    let Some(seat) = Seat::at(&[&server]) else { return };
    let open = |url: &str| seat.call("browser_navigate", json!({ "url": url })).to_string();

    for url in [
        format!("http://127.0.0.1:{other}/"),
        format!("http://localhost:{other}/"),
        format!("http://2130706433:{other}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://metadata.google.internal/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "chrome://version".to_owned(),
        "view-source:http://127.0.0.1/".to_owned(),
        "javascript:alert(1)".to_owned(),
        "data:text/html,x".to_owned(),
        format!("{}?api_key=abcdef0123456789", server.url("/")),
    ] {
        let answer = open(&url);
        assert!(answer.contains("\"error\"") && !answer.contains("\"success\":true"), "{url}: {answer}");
    }
    assert_eq!(server.asked(), [], "they were refused before a browser was started");
    let jumped = open(&server.url("/jump"));
    assert!(
        jumped.contains("may not be reached") && jumped.contains("not one of the open internet"),
        "{jumped}"
    );
    let scripted = open(&server.url("/script"));
    assert!(!scripted.contains("secret"), "{scripted}");
    assert_eq!(secret.asked(), []);
    assert!(open(&server.url("/")).contains("fine"), "the browser goes on");
}

#[test]
fn blocked_sites_are_neither_opened_nor_loaded_by_a_page() {
    let html = "<title>fine</title><img src='http://pixel.ads.example/x.png'>";
    let server = Server::with(move |_| (200, html_type(), html.to_owned()));
    let lists = "security:\n  website_blocklist:\n    domains: [ads.example]\n";
    let Some(seat) = Seat::set_up(&[&server], lists) else { return };

    let opened = seat.call("browser_navigate", json!({ "url": "https://www.ads.example/" })).to_string();
    let page = seat.open(&server.url("/"));

    assert!(opened.contains("blocked by `ads.example`"), "{opened}");
    assert!(page["blocked_requests"].to_string().contains("blocked by `ads.example`"), "{page}");
}
