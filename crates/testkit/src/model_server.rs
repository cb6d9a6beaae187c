//! A model server on loopback that says what the test wrote down, in all three languages.
//!
//! It runs on threads of its own with nothing but the standard library, records every request, and
//! can be slow, stall, refuse, or break off in the middle. When its answers run out it says so with
//! an error, so a test notices.

#![expect(clippy::disallowed_methods, reason = "a server on loopback, with threads that end with it")]

mod wire;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::lock;

/// Longest request body that is read.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// One answer of the server.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    text: String,
    reasoning: String,
    calls: Vec<(String, String, String)>,
    finish: Option<String>,
    status: u16,
    headers: Vec<(String, String)>,
    raw: Option<Vec<u8>>,
    delay: Duration,
    pause: Duration,
    stall_after: Option<usize>,
    cut_after: Option<usize>,
    usage: (u64, u64),
    then_close: bool,
}

impl Answer {
    /// Says `text`.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), status: 200, usage: (10, 5), ..Self::default() }
    }

    /// Calls one tool; [`Answer::and_call`] adds more.
    pub fn call(id: &str, name: &str, arguments: &Value) -> Self {
        Self::text("").and_call(id, name, arguments)
    }

    /// Calls a tool as well.
    pub fn and_call(self, id: &str, name: &str, arguments: &Value) -> Self {
        self.and_raw_call(id, name, &arguments.to_string())
    }

    /// Calls a tool as well, with arguments as they are written, valid or not.
    pub fn and_raw_call(mut self, id: &str, name: &str, arguments: &str) -> Self {
        self.calls.push((id.into(), name.into(), arguments.into()));
        self
    }

    /// Thinks this first.
    pub fn thinking(mut self, thought: impl Into<String>) -> Self {
        self.reasoning = thought.into();
        self
    }

    /// Stops for this reason, in the words of chat completions (`stop`, `length`, …).
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = Some(reason.into());
        self
    }

    /// Refuses with a status and a message.
    pub fn error(status: u16, message: &str) -> Self {
        let body = json!({ "error": { "message": message, "type": "error" } });
        Self { status, raw: Some(body.to_string().into_bytes()), ..Self::default() }
    }

    /// Answers with these bytes, whatever they are.
    pub fn raw(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let answer = Self { status, raw: Some(body.into()), ..Self::default() };
        answer.header("content-type", content_type)
    }

    /// Sends this header too.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Waits so long before it answers.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Waits so long before each piece of a stream.
    pub fn slowly(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Sends nothing more after so many pieces, and leaves the connection open.
    pub fn stall_after(mut self, pieces: usize) -> Self {
        self.stall_after = Some(pieces);
        self
    }

    /// Closes the connection after so many pieces.
    pub fn cut_after(mut self, pieces: usize) -> Self {
        self.cut_after = Some(pieces);
        self
    }

    /// Closes the connection when it has answered.
    pub fn then_close(mut self) -> Self {
        self.then_close = true;
        self
    }

    /// Says it took so many tokens.
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.usage = (input, output);
        self
    }
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct SeenRequest {
    /// `GET` or `POST`.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, null when there was none or it was no JSON.
    pub body: Value,
    /// The body, byte for byte.
    pub bytes: Vec<u8>,
}

impl SeenRequest {
    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<Answer>>,
    /// Said when the answers run out, instead of an error.
    otherwise: Option<Answer>,
    pages: Vec<(String, Value)>,
    seen: Mutex<Vec<SeenRequest>>,
    arrived: Condvar,
    closed: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

/// The server; it goes away when dropped.
pub struct ModelServer {
    address: SocketAddr,
    script: Arc<Script>,
    listener: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Gives these answers, one per question.
    ///
    /// # Panics
    /// When loopback has no port left.
    pub fn saying(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::start(
            "127.0.0.1:0",
            Script { answers: Mutex::new(answers.into_iter().collect()), ..Script::default() },
        )
    }

    /// Gives one answer to every question.
    ///
    /// # Panics
    /// When loopback has no port left.
    pub fn always(answer: Answer) -> Self {
        Self::start("127.0.0.1:0", Script { otherwise: Some(answer), ..Script::default() })
    }

    /// Gives one answer to every question at an address of one's own, for scripts.
    ///
    /// # Panics
    /// When the address is taken.
    pub fn always_at(address: &str, answer: Answer) -> Self {
        Self::start(address, Script { otherwise: Some(answer), ..Script::default() })
    }

    /// Gives these answers, and a page of JSON at each of these paths.
    ///
    /// # Panics
    /// When loopback has no port left.
    pub fn with_pages(pages: impl IntoIterator<Item = (&'static str, Value)>, answers: Vec<Answer>) -> Self {
        let pages = pages.into_iter().map(|(path, page)| (path.to_owned(), page)).collect();
        Self::start("127.0.0.1:0", Script { answers: Mutex::new(answers.into()), pages, ..Script::default() })
    }

    #[expect(clippy::expect_used, reason = "a test without its server cannot go on")]
    fn start(address: &str, script: Script) -> Self {
        let listener = TcpListener::bind(address).expect("a free port on loopback");
        let address = listener.local_addr().expect("the listener has an address");
        let script = Arc::new(script);
        let accepting = Arc::clone(&script);
        let listener = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.closed.load(Ordering::SeqCst) {
                    break;
                }
                if let Ok(twin) = stream.try_clone() {
                    lock(&accepting.connections).push(twin);
                }
                let script = Arc::clone(&accepting);
                std::thread::spawn(move || serve(stream, &script));
            }
        });
        Self { address, script, listener: Some(listener) }
    }

    /// The base address for the chat and responses wires, with `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address without a path.
    pub fn root(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Adds an answer.
    pub fn say(&self, answer: Answer) {
        lock(&self.script.answers).push_back(answer);
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<SeenRequest> {
        lock(&self.script.seen).clone()
    }

    /// The bodies of all questions so far.
    pub fn bodies(&self) -> Vec<Value> {
        self.requests()
            .into_iter()
            .filter(|request| request.method == "POST")
            .map(|request| request.body)
            .collect()
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        lock(&self.script.connections).len()
    }

    /// Waits until `count` requests have come in; false when they do not within ten seconds.
    pub fn wait_for(&self, count: usize) -> bool {
        let seen = lock(&self.script.seen);
        let waited =
            self.script.arrived.wait_timeout_while(seen, Duration::from_secs(10), |seen| seen.len() < count);
        waited.unwrap_or_else(PoisonError::into_inner).0.len() >= count
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.script.closed.store(true, Ordering::SeqCst);
        for connection in lock(&self.script.connections).drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        // One connection wakes the listener, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

/// Serves one connection until it closes.
fn serve(stream: TcpStream, script: &Script) {
    let _ = stream.set_nodelay(true);
    let Ok(twin) = stream.try_clone() else { return };
    let mut reader = BufReader::new(twin);
    let mut stream = stream;
    while let Some(request) = read_request(&mut reader) {
        let path = request.path.split('?').next().unwrap_or_default().to_owned();
        let is_question = request.method == "POST";
        let body = request.body.clone();
        lock(&script.seen).push(request);
        script.arrived.notify_all();
        let page = script.pages.iter().find(|(known, _)| *known == path).map(|(_, page)| page.clone());
        let done = match page {
            Some(page) => whole(
                &mut stream,
                200,
                &[("content-type".into(), "application/json".into())],
                page.to_string().as_bytes(),
            ),
            None if is_question => {
                let next = lock(&script.answers).pop_front().or_else(|| script.otherwise.clone());
                let answer = next.unwrap_or_else(|| Answer::error(500, "the scripted answers have run out"));
                say(&mut stream, &answer, &path, &body).filter(|()| !answer.then_close)
            }
            None => whole(&mut stream, 404, &[], b"{\"error\":{\"message\":\"no such page\"}}"),
        };
        if done.is_none() {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<SeenRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or("0", |(_, value)| value);
    let length = length.parse::<usize>().ok().filter(|length| *length <= MAX_BODY)?;
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).ok()?;
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    Some(SeenRequest { method, path, headers, body, bytes })
}

/// Answers a question; none when the connection is to be closed.
fn say(stream: &mut TcpStream, answer: &Answer, path: &str, question: &Value) -> Option<()> {
    std::thread::sleep(answer.delay);
    if let Some(raw) = &answer.raw {
        return whole(stream, answer.status, &answer.headers, raw);
    }
    let language = wire::Language::of_path(path);
    if question["stream"] != json!(true) {
        let mut headers = answer.headers.clone();
        headers.push(("content-type".into(), "application/json".into()));
        return whole(
            stream,
            answer.status,
            &headers,
            language.whole(answer, question).to_string().as_bytes(),
        );
    }
    let mut headers = answer.headers.clone();
    headers.push(("content-type".into(), "text/event-stream".into()));
    headers.push(("transfer-encoding".into(), "chunked".into()));
    head(stream, answer.status, &headers)?;
    for (at, piece) in language.stream(answer, question).into_iter().enumerate() {
        if answer.cut_after.is_some_and(|most| at >= most) {
            return None;
        }
        if answer.stall_after.is_some_and(|most| at >= most) {
            // Until the client gives up and closes, or the server goes away.
            let mut rest = [0; 64];
            while stream.read(&mut rest).is_ok_and(|read| read > 0) {}
            return None;
        }
        std::thread::sleep(answer.pause);
        let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
        stream.write_all(chunk.as_bytes()).ok()?;
        stream.flush().ok()?;
    }
    stream.write_all(b"0\r\n\r\n").ok()
}

fn whole(stream: &mut TcpStream, status: u16, headers: &[(String, String)], body: &[u8]) -> Option<()> {
    let mut headers = headers.to_vec();
    headers.push(("content-length".into(), body.len().to_string()));
    head(stream, status, &headers)?;
    stream.write_all(body).ok()
}

fn head(stream: &mut TcpStream, status: u16, headers: &[(String, String)]) -> Option<()> {
    let mut head = format!("HTTP/1.1 {status} Scripted\r\n");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).ok()
}
