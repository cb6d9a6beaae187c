//! `hermes mcp login` against an authority on this machine: found by asking, agreed to in a browser that is
//! this test, come back over loopback; what is kept, what is refused, and the exit codes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::home::{Home, Said};

/// A server that wants to know who asks, and its authority.
struct Authority {
    process: Child,
    told: BufReader<std::process::ChildStdout>,
    base: String,
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Authority {
    fn new() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/authority.py");
        let mut command = Command::new("python3");
        let mut process = command.arg(script).stdout(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(process.stdout.take().unwrap());
        let mut port = String::new();
        told.read_line(&mut port).unwrap();
        Self { process, told, base: format!("http://127.0.0.1:{}", port.trim()) }
    }

    /// A user who has the server in the configuration.
    fn user(&self, more: &Value) -> Home {
        let server = json!({ "url": format!("{}/mcp", self.base), "auth": "oauth", "oauth": more });
        Home::configured(&json!({ "mcp_servers": { "g": server } }).to_string())
    }

    /// What it was asked until it is stopped.
    fn was_asked(mut self) -> Vec<String> {
        let _ = self.process.kill();
        let mut text = String::new();
        self.told.read_to_string(&mut text).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

/// `hermes mcp login g`, up to the page it shows.
struct Login {
    process: Child,
    err: BufReader<ChildStderr>,
    page: String,
}

impl Login {
    fn begin(home: &Home) -> Self {
        let mut command = home.command(&["mcp", "login", "g", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut err = BufReader::new(process.stderr.take().unwrap());
        let mut page = String::new();
        while !page.starts_with("http") {
            page.clear();
            assert!(err.read_line(&mut page).unwrap() > 0, "it shows no page");
        }
        Self { process, err, page: page.trim().to_owned() }
    }

    fn said(mut self) -> Said {
        let mut said = Said { out: String::new(), err: String::new(), code: None };
        self.err.read_to_string(&mut said.err).unwrap();
        self.process.stdout.take().unwrap().read_to_string(&mut said.out).unwrap();
        said.code = self.process.wait().unwrap().code();
        said
    }
}

/// What a browser gets at this address: the whole answer.
fn visit(url: &str) -> String {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut link = TcpStream::connect(host).unwrap();
    link.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(link, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    link.read_to_string(&mut answer).unwrap();
    answer
}

/// Where the page sends the browser back to.
fn back_from(page: &str) -> String {
    let answer = visit(page);
    let line = answer.lines().find_map(|line| line.strip_prefix("location: "));
    line.unwrap_or_else(|| panic!("no way back: {answer}")).to_owned()
}

fn kept(home: &Home) -> std::path::PathBuf {
    home.state().join("mcp-tokens/g.json")
}

#[test]
fn a_person_logs_in_and_what_comes_of_it_is_kept_for_themselves() {
    let authority = Authority::new();
    let home = authority.user(&json!({}));
    assert_eq!(home.run(&["mcp", "test", "g"]).code, Some(3), "nobody has logged in");

    let login = Login::begin(&home);
    let back = back_from(&login.page);
    assert!(back.starts_with("http://127.0.0.1:"), "{back}");
    let shown = visit(&back);
    let said = login.said();

    assert!(shown.contains("You are logged in"), "{shown}");
    assert_eq!(
        (said.code, said.json()),
        (Some(0), json!({ "name": "g", "status": "connected" })),
        "{said:?}"
    );
    let text = std::fs::read_to_string(kept(&home)).unwrap();
    let tokens: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&tokens["access"], &tokens["refresh"]), (&json!("right-1"), &json!("again-1")));
    assert_eq!(std::fs::metadata(kept(&home)).unwrap().permissions().mode() & 0o777, 0o600);
    let called = home.run(&["tools", "call", "mcp__g__who"]);
    assert!(called.code == Some(0) && called.out.contains("somebody we know"), "{called:?}");
    let asked = authority.was_asked();
    for line in ["described the server", "described the authority", "took a stranger", "gave the right"] {
        assert!(asked.iter().any(|it| it == line), "{line}: {asked:?}");
    }
    assert!(asked.iter().any(|it| it == "was asked for ask of /mcp with S256"), "{asked:?}");
}

#[test]
fn an_answer_to_another_question_is_refused_and_nothing_is_kept() {
    let authority = Authority::new();
    let home = authority.user(&json!({}));

    let login = Login::begin(&home);
    let back = back_from(&login.page);
    let (before, state) = back.split_once("state=").unwrap();
    assert!(!state.is_empty());
    visit(&format!("{before}state=somebody-elses"));
    let said = login.said();

    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("not the answer to this question"), "{said:?}");
    assert!(!kept(&home).exists());
    assert!(!authority.was_asked().iter().any(|line| line == "gave the right"));
}

#[test]
fn a_no_and_a_person_who_never_comes_leave_the_login_to_be_done() {
    let authority = Authority::new();
    let (home, hasty) = (authority.user(&json!({})), authority.user(&json!({ "timeout": 1 })));

    let login = Login::begin(&home);
    let back = back_from(&login.page);
    let (place, query) = back.split_once('?').unwrap();
    let state = query.split('&').find(|part| part.starts_with("state=")).unwrap();
    visit(&format!("{place}?error=access_denied&{state}"));
    let denied = login.said();
    let late = Login::begin(&hasty).said();

    assert_eq!((denied.code, late.code), (Some(3), Some(3)), "{denied:?} {late:?}");
    assert!(denied.err.contains("the answer was no: access_denied"), "{denied:?}");
    assert!(late.err.contains("nobody logged in in time"), "{late:?}");
    assert!(!kept(&home).exists() && !kept(&hasty).exists());
}

#[test]
fn what_knows_no_login_says_so() {
    let home = Home::configured("mcp_servers:\n  local:\n    command: cat\n");

    let local = home.run(&["mcp", "login", "local"]);
    let unknown = home.run(&["mcp", "login", "locl"]);

    assert_eq!((local.code, unknown.code), (Some(1), Some(2)));
    assert!(local.err.contains("which knows no login"), "{local:?}");
    assert!(unknown.err.contains("did you mean `local`?"), "{unknown:?}");
}
