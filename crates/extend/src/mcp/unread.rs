//! Answers that the other side does not take.
//!
//! Whoever asks and does not read what is answered leaves us with the answers. They have a limit: nothing more is
//! read from somebody whose answers wait in such number, until some of them were taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::task::yield_now;

/// Answers that may wait to be taken.
pub(super) const MOST: usize = 256;

/// Messages in a row before whoever works on them gets a turn: they come quicker than they are dealt with.
const IN_A_ROW: usize = 32;

/// The answers to one other side that it has not taken yet. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Unread(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    waiting: AtomicUsize,
    messages: AtomicUsize,
    taken: Notify,
}

/// An answer, until it was taken or given up.
pub(super) struct Leaves(Arc<Inner>);

impl Unread {
    /// An answer is on its way for as long as this is held.
    pub(super) fn leaves(&self) -> Leaves {
        self.0.waiting.fetch_add(1, Ordering::AcqRel);
        Leaves(Arc::clone(&self.0))
    }

    /// Whether nothing more may be read for now.
    pub(super) fn is_full(&self) -> bool {
        self.0.waiting.load(Ordering::Acquire) >= MOST
    }

    /// Ends when one more message may be read.
    pub(super) async fn room(&self) {
        if self.0.messages.fetch_add(1, Ordering::Relaxed) % IN_A_ROW == IN_A_ROW - 1 {
            yield_now().await;
        }
        loop {
            let taken = self.0.taken.notified();
            if !self.is_full() {
                return;
            }
            taken.await;
        }
    }
}

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
        self.0.taken.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::poll;

    use super::*;

    #[tokio::test]
    async fn nothing_more_is_read_while_too_many_answers_wait() {
        let unread = Unread::default();
        let mut leaving: Vec<Leaves> = (1..MOST).map(|_| unread.leaves()).collect();
        unread.room().await;

        leaving.push(unread.leaves());
        let mut room = pin!(unread.room());

        assert!(poll!(&mut room).is_pending());
        drop(leaving.pop());
        assert!(poll!(&mut room).is_ready());
    }
}
