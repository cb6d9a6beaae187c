//! A small web server, and a session whose browser may reach it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use hermes::store::Home;
use hermes::{Outcome, Runtime, Session, ToolCall};
use serde_json::{Value, json};

/// A request that came: first line, and body.
pub(crate) type Asked = (String, String);

/// Answers every request on one port.
pub(crate) struct Server {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Serves what `page` makes of a path: status, headers, body.
    pub(crate) fn with(page: impl Fn(&str) -> (u16, String, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (seen, page) = (Arc::clone(&asked), Arc::new(page));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, page) = (Arc::clone(&seen), Arc::clone(&page));
                std::thread::spawn(move || answer(&stream, &seen, page.as_ref()));
            }
        });
        Self { port, asked }
    }

    /// Serves pages by their path, as HTML; `PORT` in them is the port.
    pub(crate) fn pages(pages: &'static [(&'static str, &'static str)]) -> Self {
        Self::with(|path| {
            let path = path.split('?').next().unwrap_or_default().to_owned();
            match pages.iter().find(|(known, _)| *known == path) {
                Some((_, html)) => (200, html_type(), (*html).to_owned()),
                None => (404, html_type(), format!("<title>404</title>nothing at {path}")),
            }
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The requests so far, but for the little picture that browsers ask for by themselves.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(first, _)| !first.contains("/favicon.ico")).cloned().collect()
    }
}

pub(crate) fn html_type() -> String {
    "Content-Type: text/html; charset=utf-8\r\n".to_owned()
}

fn answer(
    stream: &std::net::TcpStream,
    seen: &Mutex<Vec<Asked>>,
    page: &(dyn Fn(&str) -> (u16, String, String) + Send + Sync),
) {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    if reader.read_line(&mut first).unwrap_or(0) == 0 {
        return;
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
    seen.lock().unwrap().push((first.trim().to_owned(), String::from_utf8_lossy(&body).into_owned()));
    let (status, headers, body) = page(&path);
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n",
        body.len()
    );
    let mut stream = stream;
    let _ = stream.write_all([head.as_bytes(), body.as_bytes()].concat().as_slice());
}

/// A session on a runtime whose browser keeps its things in a folder of the test.
pub(crate) struct Seat {
    pub(crate) session: Session,
    pub(crate) runtime: Runtime,
    pub(crate) folder: tempfile::TempDir,
}

/// Where Chromium is: as the testbed says, else on the search path. Without one there is no test, but in CI.
pub(crate) fn chromium() -> Option<String> {
    let told = std::env::var("HERMES_TEST_CHROMIUM").ok();
    let path = std::env::var("PATH").unwrap_or_default();
    let on_path = || {
        let mut places = path.split(':').map(|folder| Path::new(folder).join("chromium"));
        places.find(|file| file.exists()).map(|file| file.display().to_string())
    };
    let found = told.or_else(on_path);
    if found.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "Chromium must be here in CI: see scripts/testbeds/chromium"
        );
        eprintln!("SKIPPED: there is no Chromium; scripts/testbeds/chromium brings it");
    }
    found
}

impl Seat {
    /// A session that may reach these servers of the loopback address; none where there is no Chromium.
    pub(crate) fn at(open: &[&Server]) -> Option<Self> {
        Self::set_up(open, "")
    }

    /// The same with more settings below `browser:`.
    pub(crate) fn set_up(open: &[&Server], settings: &str) -> Option<Self> {
        let chromium = chromium()?;
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(folder.path().join("tmp")).unwrap();
        std::fs::create_dir_all(folder.path().join("work")).unwrap();
        let ports = open.iter().map(|server| server.port);
        let hosts: Vec<String> =
            ports.flat_map(|port| [format!("127.0.0.1:{port}"), format!("localhost:{port}")]).collect();
        let config = format!("browser:\n  allow_private_urls: {}\n{settings}", json!(hosts));
        std::fs::write(home.join("config.yaml"), config).unwrap();
        let env = [
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("TMPDIR", folder.path().join("tmp").display().to_string()),
            ("BROWSER_PATH", chromium),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value));
        let runtime = Runtime::builder()
            .cwd(folder.path().join("work"))
            .home(Home::at(&home))
            .env(env)
            .build()
            .unwrap();
        let session = runtime.session().open().unwrap();
        Some(Self { session, runtime, folder })
    }

    /// Calls a tool.
    pub(crate) fn outcome(&self, tool: &str, arguments: &Value) -> Outcome {
        self.session.call_blocking(ToolCall::new(tool, arguments.to_string()))
    }

    /// Calls a tool; what it answered, out of the frame around words of strangers.
    #[expect(clippy::needless_pass_by_value, reason = "arguments are written where they are used")]
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        let outcome = self.outcome(tool, &arguments);
        let body: Value = serde_json::from_str(&outcome.body).unwrap();
        body.get("data").cloned().unwrap_or(body)
    }

    /// Opens a page; it must work.
    pub(crate) fn open(&self, url: &str) -> Value {
        let answer = self.call("browser_navigate", json!({ "url": url }));
        assert_eq!(answer["success"], true, "{answer}");
        answer
    }

    /// The text of the page now.
    pub(crate) fn snapshot(&self) -> String {
        let answer = self.call("browser_snapshot", json!({}));
        answer["snapshot"].as_str().unwrap_or_else(|| panic!("no snapshot in {answer}")).to_owned()
    }

    /// What a script in the page comes to.
    pub(crate) fn run(&self, script: &str) -> Value {
        let answer = self.call("browser_console", json!({ "expression": script }));
        assert_eq!(answer["success"], true, "{answer}");
        answer["result"].clone()
    }

    /// Runs a script until it comes to something.
    pub(crate) fn wait_for(&self, script: &str) -> Value {
        let script = format!(
            "new Promise((done) => {{ const look = () => {{ const it = {script}; it ? done(it) : setTimeout(look, 10) }}; look() }})"
        );
        self.run(&script)
    }
}

/// The ref of the line of a snapshot that holds these words.
pub(crate) fn reference(snapshot: &str, words: &str) -> String {
    let line = snapshot.lines().find(|line| line.contains(words));
    let line = line.unwrap_or_else(|| panic!("no line with {words:?} in\n{snapshot}"));
    let (_, rest) = line.split_once("[ref=").unwrap_or_else(|| panic!("no ref in {line:?}"));
    format!("@{}", rest.split(']').next().unwrap())
}
