//! The pipe to a client: a message is a line.
//!
//! No request is dropped without a word: what is too long, or is no JSON, is answered by the id that
//! can still be read of it, and told to the person at the other end of standard error.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader, Empty};
use tokio_util::task::TaskTracker;

use super::flight::Flight;
use super::message::{self, MAX_MESSAGE, Read, Waits, Wrong};
use super::seat::Workshop;
use crate::letters::mended;
use crate::mcp::skim::Skim;
use crate::mcp::unread::Unread;

/// Both ends of the pipe.
pub(super) struct Pipe<R, W: AsyncWrite> {
    read: BufReader<R>,
    /// What has come of the next line, as long as it is not too long.
    line: Vec<u8>,
    /// What was seen of a line that is too long, until its end.
    skim: Option<Skim>,
    write: AsyncRwTransport<RoleServer, Empty, W>,
    /// Whether the client has asked for anything.
    begun: bool,
    flight: Flight,
    unread: Unread,
    tasks: TaskTracker,
    workshop: Arc<dyn Workshop>,
}

impl<R, W> Pipe<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new((read, write): (R, W), tasks: TaskTracker, workshop: Arc<dyn Workshop>) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            skim: None,
            write: AsyncRwTransport::new(tokio::io::empty(), write),
            begun: false,
            flight: Flight::default(),
            unread: Unread::default(),
            tasks,
            workshop,
        }
    }

    /// Reads until a line is whole; nothing when the client is gone. What was read is kept when this is
    /// given up in between.
    async fn whole_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            let piece = self.read.fill_buf().await?;
            if piece.is_empty() {
                // A client that leaves without ending its last line has said it all the same.
                let said = self.skim.is_some() || !self.line.is_empty();
                return Ok(said.then(|| self.line_ends()));
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let (taken, used) = match end {
                Some(end) => (piece.get(..end).unwrap_or_default(), end + 1),
                None => (piece, piece.len()),
            };
            match &mut self.skim {
                Some(skim) => skim.feed(taken),
                None if self.line.len() + taken.len() > MAX_MESSAGE => {
                    let skim = self.skim.insert(Skim::default());
                    skim.feed(&std::mem::take(&mut self.line));
                    skim.feed(taken);
                }
                None => self.line.extend_from_slice(taken),
            }
            self.read.consume(used);
            if end.is_some() {
                return Ok(Some(self.line_ends()));
            }
        }
    }

    fn line_ends(&mut self) -> Line {
        match self.skim.take() {
            Some(skim) => Line::TooLong(skim),
            None => Line::Whole,
        }
    }

    /// The message on the line that is whole, if there is one that can be served.
    fn understood(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = self.line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.line).trim_ascii();
        let read = (!line.is_empty()).then(|| message::read(&mended(line)));
        self.line.clear();
        let message = match read? {
            Read::Message(message) => *message,
            Read::Wrong(wrong) => {
                self.refuse(&wrong);
                return None;
            }
        };
        self.begun |= message::asks(&message);
        if !self.begun && message::request_id(&message).is_none() {
            // There is nothing yet that it could be about.
            self.workshop.trouble("a message of the client was ignored: it came before its first request");
            return None;
        }
        self.flight.heard(&message);
        if let Some(id) = message::request_id(&message)
            && let Err(error) = self.flight.begins(id)
        {
            self.refuse(&Wrong { error, waits: Waits::Request(id.clone()) });
            return None;
        }
        Some(message)
    }

    /// Answers a message that cannot be served, and says so to the person.
    fn refuse(&mut self, wrong: &Wrong) {
        let unanswered = match wrong.waits {
            Waits::Nobody => "; it was ignored",
            Waits::Request(_) | Waits::Somebody => "",
        };
        self.workshop
            .trouble(&format!("a message of the client was refused: {}{unanswered}", wrong.error.message));
        if let Some(answer) = message::answer(wrong) {
            let (leaves, sent) = (self.unread.leaves(), self.write.send(answer));
            self.tasks.spawn(async move {
                // A client that is gone has no use for it.
                let _ = sent.await;
                drop(leaves);
            });
        }
    }
}

/// A line that has come to its end.
enum Line {
    /// It is at hand.
    Whole,
    /// It was too long to be kept.
    TooLong(Skim),
}

impl<R, W> Transport<RoleServer> for Pipe<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.flight.told(&message);
        let answers = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let leaves = answers.then(|| self.unread.leaves());
        let sent = self.write.send(message);
        async move {
            let done = sent.await;
            drop(leaves);
            done
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.unread.room().await;
            match self.whole_line().await {
                Ok(Some(Line::Whole)) => {
                    if let Some(message) = self.understood() {
                        return Some(message);
                    }
                }
                Ok(Some(Line::TooLong(skim))) => self.refuse(&message::too_long(&skim)),
                // Whoever cannot be read any more is gone.
                Ok(None) | Err(_) => return None,
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.write.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::task::Poll;

    use futures::future::BoxFuture;
    use futures::poll;
    use hermes_core::host::Host;
    use rmcp::model::{EmptyResult, RequestId, ServerResult};
    use tokio::io::duplex;

    use super::*;
    use crate::mcp::server::seat::{Bench, Visitor};

    /// Nobody is served.
    struct Closed;

    impl Workshop for Closed {
        fn open(&self, _: Visitor) -> BoxFuture<'_, Result<Arc<dyn Bench>, String>> {
            Box::pin(async { Err("closed".to_owned()) })
        }

        fn host(&self) -> Arc<dyn Host> {
            Arc::new(hermes_testkit::FakeHost::default())
        }

        fn instructions(&self) -> String {
            String::new()
        }
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_its_answers_is_not_read_any_more() {
        let mut asks = Vec::new();
        for id in 0..1000 {
            writeln!(asks, r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).unwrap();
        }
        let (ours, _theirs) = duplex(16);
        let tasks = TaskTracker::new();
        let mut pipe = Pipe::new((asks.as_slice(), ours), tasks.clone(), Arc::new(Closed));
        let mut read = 0;

        for id in 0.. {
            let mut next = Box::pin(pipe.receive());
            let mut said = poll!(&mut next);
            if said.is_pending() {
                // Between many messages others get their turn.
                said = poll!(&mut next);
            }
            drop(next);
            let Poll::Ready(Some(_)) = said else { break };
            read += 1;
            let empty = ServerResult::EmptyResult(EmptyResult {});
            tasks.spawn(pipe.send(ServerJsonRpcMessage::response(empty, RequestId::Number(id))));
        }

        assert!((256..300).contains(&read), "{read}");
    }
}
