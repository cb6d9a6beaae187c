//! `web_search` and `web_extract` against servers on this machine.
//!
//! | module | what it proves |
//! |---|---|
//! | `pages` | pages of many shapes become text, without any key |
//! | `refused` | addresses inside, and redirects and names that lead there, are refused |
//! | `sites` | sites that the settings or shared files block are not reached, whoever would fetch them |
//! | `limits` | servers that send too much, too long, packed, or other than they say |
//! | `asked` | every provider is asked in its own words |
//! | `searx` | a real searx is searched |

#![expect(clippy::disallowed_methods, reason = "a test brings its own server and home")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail like tests, and say what they left out"
)]

mod asked;
mod limits;
mod pages;
mod refused;
mod searx;
mod sites;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use hermes::store::Home;
use hermes::{Runtime, ToolCall};
use serde_json::Value;

/// Answers every request with what `answer` says of its first line and body; remembers the first lines, and whole
/// requests.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
    heard: Arc<Mutex<Vec<Heard>>>,
}

/// A request as it came: its lines up to the empty one, in lower case, and what followed.
#[derive(Clone)]
struct Heard {
    head: String,
    body: String,
}

fn serve<B: AsRef<[u8]>>(answer: impl Fn(&str, &str) -> (u16, String, B) + Send + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (seen, listened) = (Arc::clone(&asked), Arc::clone(&heard));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut first = String::new();
            if reader.read_line(&mut first).unwrap_or(0) == 0 {
                continue;
            }
            let (mut length, mut head) = (0, String::new());
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                head.push_str(&line.to_ascii_lowercase());
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
            let body = String::from_utf8_lossy(&body).into_owned();
            listened.lock().unwrap().push(Heard { head, body: body.clone() });
            let (status, headers, body) = answer(&path, &body);
            seen.lock().unwrap().push(first.trim().to_owned());
            let length = if headers.contains("Content-Length") {
                String::new()
            } else {
                format!("Content-Length: {}\r\n", body.as_ref().len())
            };
            let head = format!("HTTP/1.1 {status} X\r\n{length}Connection: close\r\n{headers}\r\n");
            let _ = reader.get_mut().write_all([head.as_bytes(), body.as_ref()].concat().as_slice());
        }
    });
    Server { address, asked, heard }
}

fn runtime(config: &str, variables: &[(&str, &str)]) -> (tempfile::TempDir, Runtime) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(&folder.path().join("home"));
    std::fs::create_dir_all(folder.path().join("home")).unwrap();
    std::fs::write(folder.path().join("home/config.yaml"), config).unwrap();
    let env = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let runtime = Runtime::builder().cwd(folder.path()).home(home).env(env).build().unwrap();
    (folder, runtime)
}

fn call(runtime: &Runtime, tool: &str, arguments: &Value) -> Value {
    let outcome = runtime.call_blocking(ToolCall::new(tool, arguments.to_string()));
    // Words of strangers come in a frame that says so.
    let body: Value = serde_json::from_str(&outcome.body).unwrap();
    body
}

const PRIVATE: &str = "security:\n  allow_private_urls: true\n";
