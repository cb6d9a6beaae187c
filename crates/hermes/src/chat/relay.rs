//! Carries what a session's calls do to whoever follows the turn at the moment.
//!
//! A session is opened before its turns, and each turn may be followed by somebody else.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use hermes_agent::{Event, EventSink};

/// Hears what happens during turns.
pub(crate) type Follower = Arc<dyn Fn(Event) + Send + Sync>;

/// The one who listens now, if anybody does.
#[derive(Clone, Default)]
pub(crate) struct Relay(Arc<Mutex<Option<Follower>>>);

impl Relay {
    /// Passes something on.
    pub(crate) fn tell(&self, event: Event) {
        let follower = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(follower) = follower {
            follower(event);
        }
    }

    /// Lets somebody listen until the guard is dropped.
    pub(crate) fn follow(&self, follower: Follower) -> Following {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(follower);
        Following(self.clone())
    }
}

/// Ends the listening when it is dropped.
pub(crate) struct Following(Relay);

impl Drop for Following {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// What happened and was not told yet.
#[derive(Clone, Default)]
pub(crate) struct Queue(Arc<Mutex<VecDeque<Event>>>);

impl Queue {
    pub(crate) fn push(&self, event: Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(event);
    }

    fn pop(&self) -> Option<Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// Work whose events are told by whoever waits for it, on their thread, in order.
pub(crate) struct Told<'a, T> {
    pub(crate) work: BoxFuture<'a, T>,
    pub(crate) queue: Queue,
    pub(crate) sink: EventSink<'a>,
}

impl<T> Future for Told<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let end = self.work.as_mut().poll(cx);
        while let Some(event) = self.queue.pop() {
            (self.sink)(event);
        }
        end
    }
}
