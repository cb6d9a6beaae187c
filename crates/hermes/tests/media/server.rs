//! Servers for tests, on this machine: one that answers HTTP as a closure says and remembers what it was
//! asked, and a real mail server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// One request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    first: String,
    headers: Vec<(String, String)>,
    /// What was sent with it.
    pub(crate) body: Vec<u8>,
}

impl Asked {
    /// `GET`, `POST`, …
    pub(crate) fn method(&self) -> &str {
        self.first.split(' ').next().unwrap_or_default()
    }

    /// The path with its query.
    pub(crate) fn path(&self) -> &str {
        self.first.split(' ').nth(1).unwrap_or_default()
    }

    /// A header, by its name in lower case; empty when there is none.
    pub(crate) fn header(&self, name: &str) -> String {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
            .unwrap_or_default()
    }

    /// The body as a document; nothing when it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Status, media type and body.
pub(crate) type Answer = (u16, String, Vec<u8>);

/// An answer that is a document.
pub(crate) fn json_answer(status: u16, body: &Value) -> Answer {
    (status, "application/json".to_owned(), body.to_string().into_bytes())
}

/// A server that answers as a closure says.
pub(crate) struct Server {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Starts it on a free port; it ends with the test.
    pub(crate) fn start(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&asked), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &seen, answer.as_ref()));
            }
        });
        Self { address, asked }
    }

    /// `http://host:port`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// What it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Asked>>, answer: &dyn Fn(&Asked) -> Answer) {
    let mut reader = BufReader::new(stream);
    let Some(asked) = read(&mut reader) else { return };
    seen.lock().unwrap().push(asked.clone());
    let (status, kind, body) = answer(&asked);
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = reader.get_mut().write_all(&[head.as_bytes(), &body].concat());
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut asked = Asked::default();
    reader.read_line(&mut asked.first).ok().filter(|read| *read > 0)?;
    asked.first = asked.first.trim().to_owned();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        asked.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    asked.body = vec![0; asked.header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut asked.body).ok()?;
    Some(asked)
}

/// The signature of a body, by somebody else's code.
pub(crate) fn hmac_by_python(secret: &str, body: &[u8]) -> String {
    let code = "import sys,hmac,hashlib;\
        print(hmac.new(sys.argv[1].encode(),sys.stdin.buffer.read(),hashlib.sha256).hexdigest())";
    let mut child = Command::new("python3")
        .args(["-c", code, secret])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(body).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().trim().to_owned()
}

/// A real SMTP server (aiosmtpd) that wants STARTTLS and a login, and writes down what it takes.
pub(crate) struct MailServer {
    child: Child,
    port: String,
    folder: PathBuf,
}

impl MailServer {
    /// Starts it with a certificate of its own.
    pub(crate) fn start(python: &str, folder: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/media/mail_server.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self { child, port: port.trim().to_owned(), folder: folder.to_path_buf() }
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> &str {
        &self.port
    }

    /// The certificate by which it is known.
    pub(crate) fn certificate(&self) -> String {
        self.folder.join("cert.pem").to_string_lossy().into_owned()
    }

    /// What it has taken so far.
    pub(crate) fn received(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.join("mails.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
