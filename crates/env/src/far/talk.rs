//! A program over there that is run to its end for something of our own.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::environment::{End, EnvError, Input, Output, Stream, Streams};
use hermes_core::host::Host;

use crate::far::{Call, Reach};

/// What a program over there said until it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Talk {
    pub(super) end: End,
    pub(super) out: Vec<u8>,
    pub(super) err: Vec<u8>,
}

#[derive(Default)]
struct Kept(Mutex<(Vec<u8>, Vec<u8>)>);

impl Output for Kept {
    fn take(&self, from: Stream, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match from {
            Stream::Out => kept.0.extend_from_slice(bytes),
            Stream::Err => kept.1.extend_from_slice(bytes),
        }
    }
}

impl Talk {
    /// Runs it, for no longer than this.
    pub(super) async fn ask(
        reach: &dyn Reach,
        host: &Arc<dyn Host>,
        words: Vec<String>,
        input: Vec<u8>,
        limit: Duration,
    ) -> Result<Self, EnvError> {
        match select(Box::pin(Self::listen(reach, words, input)), host.sleep(limit)).await {
            Either::Left((talk, _)) => talk,
            Either::Right(_) => {
                let why = format!("it did not answer within {} s", limit.as_secs());
                Err(EnvError::Start { what: "a program there".to_owned(), why })
            }
        }
    }

    /// Runs it, for as long as it takes.
    pub(super) async fn listen(
        reach: &dyn Reach,
        words: Vec<String>,
        input: Vec<u8>,
    ) -> Result<Self, EnvError> {
        let kept = Arc::new(Kept::default());
        let input = if input.is_empty() { Input::Empty } else { Input::Bytes(input) };
        let call = Call { words, input, streams: Streams::Separate, output: Arc::clone(&kept) as Arc<_> };
        let mut process = reach.start(call).await?;
        let end = process.ended().await?;
        let (out, err) = std::mem::take(&mut *kept.0.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Self { end, out, err })
    }

    pub(super) fn is_well(&self) -> bool {
        self.end == End::Code(0)
    }

    /// What went wrong, in the words of whoever said something.
    pub(super) fn complaint(&self, otherwise: &str) -> String {
        let err = String::from_utf8_lossy(&self.err).trim().to_owned();
        let out = String::from_utf8_lossy(&self.out).trim().to_owned();
        [err, out].into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| otherwise.to_owned())
    }
}
