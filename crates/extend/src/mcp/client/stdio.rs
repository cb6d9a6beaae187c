//! Messages as lines over a program's standard streams.
//!
//! Lines that are no message are counted and passed over: programs print things. A line longer than
//! any message may be is not kept, and one that should have been an answer may be no JSON; the call it
//! would have answered is told so, and the others go on.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use futures::future::{BoxFuture, Either, select};
use hermes_core::host::Host;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::AsyncWriteExt as _;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::connect::Probe;
use super::lane::{Lane, hung_up};
use super::log::Log;
use super::message;
use super::output::{MAX_MESSAGE, Piece};

/// Lines in a row that are no message before the other side is given up.
const MAX_GARBAGE: usize = 10_000;

/// A program's standard streams.
pub(crate) struct Pipes {
    lane: Arc<Lane>,
    log: Arc<Log>,
    /// Fires when the program has closed its end.
    gone: CancellationToken,
    garbage: usize,
    /// Messages that came at once with one that was taken.
    ready: VecDeque<ServerJsonRpcMessage>,
    /// The question that finds out which protocol the program speaks, once it was given up on: a program
    /// that takes long to start answers it all the same, in the middle of what was said since.
    late: Option<RequestId>,
    probe: Option<RequestId>,
    /// How long the answer to that question is waited for, where there is another way to go on.
    asking: Option<Probe>,
    patience: Option<BoxFuture<'static, ()>>,
    host: Arc<dyn Host>,
}

impl Pipes {
    /// Over our ends of the pipes. Must be called inside the runtime.
    pub(crate) fn new(
        input: OwnedFd,
        output: OwnedFd,
        log: Arc<Log>,
        gone: CancellationToken,
        handle: &Handle,
        host: Arc<dyn Host>,
    ) -> io::Result<Self> {
        let lane = Lane::new(input, output, handle.clone(), Arc::clone(&host))?;
        let (late, probe, asking, patience) = (None, None, None, None);
        Ok(Self { lane, log, gone, garbage: 0, ready: VecDeque::new(), late, probe, asking, patience, host })
    }

    /// The first question is one that not every program knows.
    pub(super) fn probing(mut self, probe: Option<Probe>) -> Self {
        self.asking = probe;
        self
    }

    /// The short way for calls, over the same pipes.
    pub(super) fn lane(&self) -> Arc<Lane> {
        Arc::clone(&self.lane)
    }

    /// In place of an answer that was too long: that it was, to the call that waits for it.
    fn refusal(&self, edges: &[u8], total: usize) -> Option<ServerJsonRpcMessage> {
        let (id, why) = (answered(&String::from_utf8_lossy(edges))?, too_long(total));
        if self.lane.unread(id, &why) {
            return None;
        }
        Some(ServerJsonRpcMessage::error(why, Some(RequestId::Number(id))))
    }

    /// The messages on a line that is none as it stands. That a call of the short way was answered with
    /// something that cannot be read is told to that call.
    fn read_again(&mut self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let read = message::again(line);
        if read.is_empty() {
            self.complain(line);
        }
        let lane = &self.lane;
        self.ready.extend(read.into_iter().filter(|message| match message {
            JsonRpcMessage::Error(it) => match it.id {
                Some(RequestId::Number(id)) => !lane.unread(id, &it.error),
                _ => true,
            },
            _ => true,
        }));
        self.ready.pop_front()
    }

    /// Takes note of how the conversation begins.
    fn begin(&mut self, item: &TxJsonRpcMessage<RoleClient>) {
        if let JsonRpcMessage::Request(asked) = item {
            match asked.request {
                ClientRequest::DiscoverRequest(_) => {
                    self.probe = Some(asked.id.clone());
                    self.patience = self.asking.as_ref().map(|probe| self.host.sleep(probe.limit));
                }
                ClientRequest::InitializeRequest(_) => self.late = self.probe.take(),
                _ => {}
            }
        }
    }

    /// Whether this answers the question that nobody waits for any more.
    fn is_late(&mut self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        let id = match message {
            JsonRpcMessage::Response(answer) => Some(&answer.id),
            JsonRpcMessage::Error(answer) => answer.id.as_ref(),
            _ => None,
        };
        let late = id.is_some() && id == self.late.as_ref();
        if late {
            self.late = None;
            let known = matches!(message, JsonRpcMessage::Response(it) if matches!(it.result, ServerResult::DiscoverResult(_)));
            if let Some(probe) = self.asking.as_ref().filter(|_| known) {
                probe.is_late();
            }
        } else if id.is_some() {
            // It was answered in time, by whatever came before the rest.
            self.probe = None;
            self.patience = None;
        }
        late
    }

    /// What comes next; an error when the first question was not answered in time.
    async fn next(&mut self) -> Result<Option<Piece>, RequestId> {
        let Some(patience) = &mut self.patience else { return Ok(self.lane.heard().await) };
        if let Either::Left((piece, _)) = select(Box::pin(self.lane.heard()), patience).await {
            return Ok(piece);
        }
        self.patience = None;
        match self.probe.clone() {
            Some(probe) => Err(probe),
            None => Ok(self.lane.heard().await),
        }
    }

    fn complain(&mut self, line: &[u8]) {
        self.garbage = if self.lane.has_answered() { 1 } else { self.garbage + 1 };
        let text = String::from_utf8_lossy(line.get(..line.len().min(200)).unwrap_or_default()).into_owned();
        if !text.trim().is_empty() {
            self.log.line(&format!("[on standard output, not a message] {text}"));
        }
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.begin(&item);
        let input = self.lane.input();
        async move {
            let mut line = serde_json::to_vec(&item).map_err(io::Error::other)?;
            line.push(b'\n');
            input.lock().await.as_mut().ok_or_else(hung_up)?.write_all(&line).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            while let Some(message) = self.ready.pop_front() {
                if !self.is_late(&message) {
                    return Some(message);
                }
            }
            let piece = match self.next().await {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(probe) => return Some(Probe::unanswered(probe, "it does not answer")),
            };
            let message = match piece {
                Piece::Whole(line) => serde_json::from_slice(&line).ok().or_else(|| self.read_again(&line)),
                Piece::Cut(edges, total) => {
                    self.log.line(&format!(
                        "[a message of {total} bytes was dropped: {MAX_MESSAGE} are the most]"
                    ));
                    self.refusal(&edges, total)
                }
            };
            if let Some(message) = message {
                self.garbage = 0;
                if self.is_late(&message) {
                    continue;
                }
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
        self.lane.hang_up().await;
        Ok(())
    }
}

/// What is told in place of an answer that was too long.
fn too_long(bytes: usize) -> ErrorData {
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
}
