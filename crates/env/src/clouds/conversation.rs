//! A program in a sandbox, as the far layer knows programs: what is wanted of it goes into a queue,
//! and whoever speaks to the vendor takes it from there.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::channel::{mpsc, oneshot};
use futures::future::BoxFuture;
use hermes_core::environment::{End, EnvError, Input, Output, Process, Size, Stream};

use crate::clouds::carrier::Carrier;
use crate::far::Call;

/// Most input that waits to be taken.
const MOST_WAITING: usize = 256 * 1024 * 1024;

/// What is wanted of a running program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    /// More input.
    Write(Vec<u8>),
    /// The end of its input.
    Close,
    /// Another size of its terminal.
    Resize(Size),
}

/// What is wanted, as it comes. It ends when nobody is interested any more.
pub(super) struct Wishes {
    queue: mpsc::UnboundedReceiver<Wish>,
    waiting: Arc<AtomicUsize>,
}

impl Wishes {
    pub(super) async fn next(&mut self) -> Option<Wish> {
        use futures::StreamExt as _;
        let wish = self.queue.next().await?;
        if let Wish::Write(bytes) = &wish {
            self.waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
        }
        Some(wish)
    }

    /// Waits until nobody is interested any more.
    pub(super) async fn over(&mut self) {
        while self.next().await.is_some() {}
    }
}

/// A program, as seen from here.
pub(super) struct Conversation {
    wishes: mpsc::UnboundedSender<Wish>,
    waiting: Arc<AtomicUsize>,
    told: Option<oneshot::Receiver<Result<End, String>>>,
    ended: Option<Result<End, String>>,
    environment: String,
}

impl Conversation {
    /// Begins one: `speak` gets what is wanted and where output goes, and returns how it ended. What
    /// went wrong is also told as complaint of the program's client.
    pub(super) fn start<F>(
        carrier: &Carrier,
        environment: &str,
        call: Call,
        speak: impl FnOnce(Spoken) -> F,
    ) -> Box<dyn Process>
    where
        F: Future<Output = Result<End, String>> + Send + 'static,
    {
        let (give, queue) = mpsc::unbounded();
        let (tell, told) = oneshot::channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let conversation = Self {
            wishes: give,
            waiting: Arc::clone(&waiting),
            told: Some(told),
            ended: None,
            environment: environment.to_owned(),
        };
        match call.input {
            Input::Empty => conversation.close_input(),
            Input::Bytes(bytes) => {
                // It is there already, so there is no need to limit it.
                waiting.fetch_add(bytes.len(), Ordering::Relaxed);
                let _ = conversation.wishes.unbounded_send(Wish::Write(bytes));
                conversation.close_input();
            }
            Input::Open => {}
        }
        let output = Arc::clone(&call.output);
        let wishes = Wishes { queue, waiting };
        let speech = speak(Spoken { words: call.words, output: Arc::clone(&output), wishes });
        carrier.start(async move {
            let end = speech.await;
            if let Err(why) = &end {
                output.take(Stream::Err, why.as_bytes());
            }
            let _ = tell.send(end);
        });
        Box::new(conversation)
    }
}

/// What is needed to speak to a program.
pub(super) struct Spoken {
    pub(super) words: Vec<String>,
    pub(super) output: Arc<dyn Output>,
    pub(super) wishes: Wishes,
}

impl Process for Conversation {
    fn pid(&self) -> Option<u32> {
        None
    }

    fn ended(&mut self) -> BoxFuture<'_, Result<End, EnvError>> {
        Box::pin(async move {
            if let Some(told) = &mut self.told {
                let end = told.await.unwrap_or_else(|_| Err("we end".to_owned()));
                self.told = None;
                self.ended = Some(end);
            }
            let environment = self.environment.clone();
            let cut = |why| EnvError::CutOff { environment, why, output: Box::default() };
            self.ended.clone().unwrap_or_else(|| Err("it has ended".to_owned())).map_err(cut)
        })
    }

    /// Whatever runs there is stopped by the mark it carries; this only stops listening to it.
    fn stop(&self, _: Duration) -> BoxFuture<'_, ()> {
        self.wishes.close_channel();
        Box::pin(std::future::ready(()))
    }

    fn write(&self, bytes: Vec<u8>) -> Result<(), EnvError> {
        let length = bytes.len();
        if self.waiting.fetch_add(length, Ordering::Relaxed) + length > MOST_WAITING {
            self.waiting.fetch_sub(length, Ordering::Relaxed);
            return Err(EnvError::Input("more than 256 MB wait to be read by it".to_owned()));
        }
        let ended = |_| EnvError::Input("it has ended".to_owned());
        self.wishes.unbounded_send(Wish::Write(bytes)).map_err(ended)
    }

    fn close_input(&self) {
        // One that has ended needs no end of input.
        let _ = self.wishes.unbounded_send(Wish::Close);
    }

    fn resize(&self, size: Size) {
        let _ = self.wishes.unbounded_send(Wish::Resize(size));
    }
}
