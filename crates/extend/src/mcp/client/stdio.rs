//! Messages as lines over a program's standard streams.
//!
//! Lines that are no message are counted and passed over: programs print things. A line longer than
//! any message may be is not kept; the call it would have answered is told so, and the others go on.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::pipe;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::lane::{Input, Lane};
use super::log::Log;

/// Longest message.
pub(crate) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// What is kept of the beginning and the end of a line that is too long.
const EDGE: usize = 4096;

/// Lines in a row that are no message before the other side is given up.
const MAX_GARBAGE: usize = 10_000;

/// A program's standard streams.
pub(crate) struct Pipes {
    reader: BufReader<pipe::Receiver>,
    line: Line,
    writer: Input,
    lane: Arc<Lane>,
    log: Arc<Log>,
    /// Fires when the program has closed its end.
    gone: CancellationToken,
    garbage: usize,
}

impl Pipes {
    /// Over our ends of the pipes. Must be called inside the runtime.
    pub(crate) fn new(
        input: OwnedFd,
        output: OwnedFd,
        log: Arc<Log>,
        gone: CancellationToken,
        handle: &Handle,
    ) -> io::Result<Self> {
        let reader = BufReader::with_capacity(64 * 1024, pipe::Receiver::from_owned_fd_unchecked(output)?);
        let writer = Arc::new(Mutex::new(pipe::Sender::from_owned_fd_unchecked(input)?));
        let lane = Lane::new(Arc::clone(&writer), handle.clone());
        Ok(Self { reader, line: Line::default(), writer, lane, log, gone, garbage: 0 })
    }

    /// The short way for calls, over the same pipes.
    pub(super) fn lane(&self) -> Arc<Lane> {
        Arc::clone(&self.lane)
    }

    /// The next line, or nothing at the end.
    async fn next_line(&mut self) -> io::Result<Option<Piece>> {
        loop {
            let bytes = self.reader.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let (used, done) = match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), false),
            };
            self.line.push(bytes.get(..used).unwrap_or_default());
            self.reader.consume(used);
            if done {
                return Ok(Some(self.line.take()));
            }
        }
    }

    /// In place of an answer that was too long: that it was, to the call that waits for it.
    fn refusal(&self, edges: &[u8], total: usize) -> Option<ServerJsonRpcMessage> {
        let id = answered(&String::from_utf8_lossy(edges))?;
        if self.lane.too_long(id, total) {
            return None;
        }
        Some(ServerJsonRpcMessage::error(too_long(total), Some(RequestId::Number(id))))
    }

    fn complain(&mut self, line: &[u8]) {
        self.garbage += 1;
        let text = String::from_utf8_lossy(line.get(..line.len().min(200)).unwrap_or_default()).into_owned();
        if !text.trim().is_empty() {
            self.log.line(&format!("[on standard output, not a message] {text}"));
        }
    }
}

/// A line as it comes in.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    /// How long it is in all.
    total: usize,
}

/// A line.
enum Piece {
    Whole(Vec<u8>),
    /// Too long; its edges, and its length.
    Cut(Vec<u8>, usize),
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len();
        self.bytes.extend_from_slice(bytes);
        if self.total > MAX_MESSAGE && self.bytes.len() > 4 * EDGE {
            let tail = self.bytes.len().saturating_sub(EDGE).max(EDGE);
            self.bytes.drain(EDGE..tail);
        }
    }

    fn take(&mut self) -> Piece {
        let Self { bytes, total } = std::mem::take(self);
        if total > MAX_MESSAGE { Piece::Cut(bytes, total) } else { Piece::Whole(bytes) }
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move {
            let mut line = serde_json::to_vec(&item).map_err(io::Error::other)?;
            line.push(b'\n');
            writer.lock().await.write_all(&line).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = match self.next_line().await {
                Ok(Some(Piece::Whole(line))) => {
                    let Some(line) = self.lane.took(line) else {
                        self.garbage = 0;
                        continue;
                    };
                    let read = serde_json::from_slice(&line).ok();
                    if read.is_none() {
                        self.complain(&line);
                    }
                    read
                }
                Ok(Some(Piece::Cut(edges, total))) => {
                    self.log.line(&format!(
                        "[a message of {total} bytes was dropped: {MAX_MESSAGE} are the most]"
                    ));
                    self.refusal(&edges, total)
                }
                Ok(None) | Err(_) => break,
            };
            if let Some(message) = message {
                self.garbage = 0;
                return Some(message);
            }
            if self.garbage > MAX_GARBAGE {
                self.log.line("[it is given up: nothing it says is a message]");
                break;
            }
        }
        self.gone.cancel();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.gone.cancel();
        self.writer.lock().await.shutdown().await
    }
}

/// What is told in place of an answer that was too long.
pub(super) fn too_long(bytes: usize) -> ErrorData {
    let why = format!("the answer has {bytes} bytes; {MAX_MESSAGE} are the most that is taken");
    ErrorData::internal_error(why, None)
}

/// The number of the call in `"id":7` at the beginning or the end of a message.
fn answered(edges: &str) -> Option<i64> {
    let number = |after: &str| {
        let text = after.trim_start().strip_prefix(':')?.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text.get(..end)?.parse().ok()
    };
    // Behind what was cut out, the end counts first: results may hold ids of their own.
    edges.rsplit("\"id\"").find_map(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_that_a_long_answer_belongs_to_is_found() {
        assert_eq!(answered(r#"{"jsonrpc":"2.0","id":17,"result":{"x":"aaaa"#), Some(17));
        assert_eq!(answered(r#"{"result":{"x":"aaa aaa"},"jsonrpc":"2.0","id": 4}"#), Some(4));
        assert_eq!(answered("nothing"), None);
    }

    #[test]
    fn a_line_without_end_takes_no_memory_without_end() {
        let mut line = Line::default();
        for _ in 0..40 {
            line.push(&vec![b'x'; 1024 * 1024]);
        }
        assert!(line.bytes.capacity() < 3 * MAX_MESSAGE);
        line.push(b"\"id\":3}\n");

        let Piece::Cut(edges, total) = line.take() else { panic!() };

        assert!(edges.len() < 5 * EDGE && total > 40_000_000);
        assert_eq!(answered(&String::from_utf8_lossy(&edges)), Some(3));
    }
}
