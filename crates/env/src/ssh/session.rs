//! Programs over the shared connection. A server carries only so many on one, so they are counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::{End, EnvError, Line, Process, Size};

/// How many programs the connection carries.
#[derive(Default)]
pub(super) struct Sessions(Arc<AtomicUsize>);

/// One of them.
pub(super) struct Seat(Arc<AtomicUsize>);

impl Sessions {
    /// A seat on the connection, if it has one left.
    pub(super) fn seat(&self, most: usize) -> Option<Seat> {
        let taken =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| (now < most).then_some(now + 1));
        taken.is_ok().then(|| Seat(Arc::clone(&self.0)))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A program that has a seat as long as it is held.
pub(super) struct Seated {
    pub(super) process: Box<dyn Process>,
    pub(super) _seat: Option<Seat>,
}

impl Process for Seated {
    fn pid(&self) -> Option<u32> {
        self.process.pid()
    }

    fn ended(&mut self) -> BoxFuture<'_, Result<End, EnvError>> {
        self.process.ended()
    }

    fn stop(&self, grace: Duration) -> BoxFuture<'_, ()> {
        self.process.stop(grace)
    }

    fn write(&self, bytes: Vec<u8>) -> Result<(), EnvError> {
        self.process.write(bytes)
    }

    fn close_input(&self) {
        self.process.close_input();
    }

    fn resize(&self, size: Size) {
        self.process.resize(size);
    }

    fn line(&mut self) -> Option<Box<dyn Line>> {
        self.process.line()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_free_again_when_it_is_let_go_of() {
        let sessions = Sessions::default();

        let (one, two) = (sessions.seat(2), sessions.seat(2));

        assert!(one.is_some() && two.is_some() && sessions.seat(2).is_none());
        drop(one);
        assert!(sessions.seat(2).is_some());
        assert!(sessions.seat(0).is_none());
    }
}
