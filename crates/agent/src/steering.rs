//! What a person says while a turn goes on.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A queue others push words into. The model reads them as a message of the person, after the calls
/// that run at the moment, or after the answer it is giving.
///
/// Clones share the queue. What nobody has read when a turn ends stays in it.
#[derive(Debug, Clone, Default)]
pub struct Steering(Arc<Mutex<VecDeque<String>>>);

impl Steering {
    /// Adds words; blank ones are dropped.
    pub fn push(&self, text: impl Into<String>) {
        let text = text.into();
        if !text.trim().is_empty() {
            self.queue().push_back(text);
        }
    }

    /// Takes everything out, oldest first.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.queue()).into()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue().is_empty()
    }

    /// Puts words back that were taken and not read.
    pub(crate) fn put_back(&self, texts: &[String]) {
        let mut queue = self.queue();
        for text in texts.iter().rev() {
            queue.push_front(text.clone());
        }
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Steering;

    #[test]
    fn words_put_back_come_first() {
        let steering = Steering::default();
        steering.push("a");
        steering.push("  ");
        let taken = steering.take();
        steering.clone().push("b");
        steering.put_back(&taken);

        assert_eq!(steering.take(), ["a", "b"]);
        assert!(steering.is_empty());
    }
}
