//! How a job's keeper is spoken to: one request per connection on a socket in the job's folder.
//!
//! The first byte says what is wanted, the rest of the request is its payload. A request to listen
//! keeps the connection: what happens comes as one line of JSON each, and it closes when the job
//! is over. That also holds when the keeper is killed.

#![expect(clippy::disallowed_methods, reason = "keepers of background jobs are reached by sockets of ours")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_core::environment::EnvError;

/// Name of the socket in the job's folder.
const SOCKET: &str = "socket";

/// Longest request.
const MAX_REQUEST: u64 = 4 * 1024 * 1024;

/// How long one side waits for the other to get to the point.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is wanted of a keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Request {
    /// Write this to the job's input.
    Write(Vec<u8>),
    /// End its input.
    Close,
    /// Stop it.
    Kill,
    /// Tell what happens, until it is over.
    Listen,
}

/// Listens in a job's folder.
pub(crate) fn bind(folder: &Path) -> std::io::Result<UnixListener> {
    let (path, _open) = short(folder)?;
    UnixListener::bind(path)
}

/// Asks a keeper for something and waits until it has been done.
pub(crate) fn ask(folder: &Path, request: &Request) -> Result<(), EnvError> {
    let mut stream = connect(folder, request)?;
    let mut answer = String::new();
    stream.set_read_timeout(Some(PATIENCE)).map_err(wrong)?;
    stream.read_to_string(&mut answer).map_err(wrong)?;
    match answer.as_str() {
        "ok" => Ok(()),
        "" => Err(EnvError::Input("it has just ended".to_owned())),
        why => Err(EnvError::Input(why.to_owned())),
    }
}

/// A connection that tells what happens.
pub(crate) fn listen(folder: &Path) -> Result<UnixStream, EnvError> {
    connect(folder, &Request::Listen)
}

/// Reads a request; the keeper's side.
pub(crate) fn read(stream: &mut UnixStream) -> Option<Request> {
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let mut bytes = Vec::new();
    stream.take(MAX_REQUEST).read_to_end(&mut bytes).ok()?;
    let (kind, payload) = bytes.split_first()?;
    match kind {
        b'w' => Some(Request::Write(payload.to_vec())),
        b'c' => Some(Request::Close),
        b'k' => Some(Request::Kill),
        b'l' => Some(Request::Listen),
        _ => None,
    }
}

/// Answers a request; the keeper's side.
pub(crate) fn answer(stream: &mut UnixStream, done: Result<(), EnvError>) {
    let words = match done {
        Ok(()) => "ok".to_owned(),
        Err(EnvError::Input(why)) => why,
        Err(other) => other.to_string(),
    };
    // Whoever asked may be gone; it is done all the same.
    let _ = stream.write_all(words.as_bytes());
}

fn connect(folder: &Path, request: &Request) -> Result<UnixStream, EnvError> {
    let (path, _open) = short(folder).map_err(wrong)?;
    let mut stream = UnixStream::connect(path).map_err(wrong)?;
    let (kind, payload): (u8, &[u8]) = match request {
        Request::Write(bytes) => (b'w', bytes),
        Request::Close => (b'c', b""),
        Request::Kill => (b'k', b""),
        Request::Listen => (b'l', b""),
    };
    stream.set_write_timeout(Some(PATIENCE)).map_err(wrong)?;
    stream.write_all(&[kind]).and_then(|()| stream.write_all(payload)).map_err(wrong)?;
    stream.shutdown(Shutdown::Write).map_err(wrong)?;
    Ok(stream)
}

/// The socket by way of its open folder: addresses of sockets must be short, homes need not be.
fn short(folder: &Path) -> std::io::Result<(PathBuf, File)> {
    let open = File::open(folder)?;
    let path = Path::new("/proc/self/fd").join(open.as_raw_fd().to_string()).join(SOCKET);
    Ok((path, open))
}

#[expect(clippy::needless_pass_by_value, reason = "it is what errors are mapped with")]
fn wrong(error: std::io::Error) -> EnvError {
    EnvError::Input(error.to_string())
}
