//! Places for connections: how many there may be, and which one goes when somebody else comes.
//!
//! A connection costs little, and anybody on this machine can open one and say nothing. When all places
//! are taken, one that nothing is answered on at that moment goes: first whoever never sent a request
//! that was let in, then whoever was silent for longest. Only when every one of them is at work does the
//! newcomer wait.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http_body_util::BodyExt as _;
use hyper::StatusCode;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::answers::Answer;

/// All places.
pub(super) struct Room {
    size: usize,
    taken: Mutex<Taken>,
    /// Somebody left, or has nothing to do any more.
    moved: Notify,
}

#[derive(Default)]
struct Taken {
    /// Counts what happened, so that it is known what was before what.
    moments: u64,
    seats: BTreeMap<u64, Manner>,
}

/// How somebody sits there.
struct Manner {
    /// Requests that are being answered.
    at_work: usize,
    /// Whether one of its requests was let in.
    known: bool,
    /// Since when it is as it is.
    since: u64,
    goes: CancellationToken,
}

/// One place, until this is dropped.
pub(super) struct Seat {
    room: Arc<Room>,
    number: u64,
    goes: CancellationToken,
}

/// A request that is being answered, until this is dropped.
pub(super) struct AtWork(Arc<Seat>);

impl Room {
    pub(super) fn new(size: usize) -> Arc<Self> {
        Arc::new(Self { size, taken: Mutex::default(), moved: Notify::new() })
    }

    /// A place for somebody who came; waits while everybody is at work.
    pub(super) async fn seat(self: &Arc<Self>) -> Arc<Seat> {
        loop {
            let moved = self.moved.notified();
            if let Some(seat) = self.try_seat() {
                return Arc::new(seat);
            }
            moved.await;
        }
    }

    fn try_seat(self: &Arc<Self>) -> Option<Seat> {
        let mut taken = self.taken();
        if taken.seats.len() >= self.size {
            let idle = taken.seats.iter().filter(|(_, manner)| manner.at_work == 0);
            let goes =
                idle.min_by_key(|(_, manner)| (manner.known, manner.since)).map(|(number, _)| *number)?;
            if let Some(manner) = taken.seats.remove(&goes) {
                manner.goes.cancel();
            }
        }
        let number = taken.moment();
        let goes = CancellationToken::new();
        let manner = Manner { at_work: 0, known: false, since: number, goes: goes.clone() };
        taken.seats.insert(number, manner);
        Some(Seat { room: Arc::clone(self), number, goes })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn moment(&mut self) -> u64 {
        self.moments += 1;
        self.moments
    }
}

impl Seat {
    /// Fires when somebody else needs the place.
    pub(super) fn goes(&self) -> &CancellationToken {
        &self.goes
    }

    /// A request begins, unless the place is somebody else's already: then nothing may begin.
    pub(super) fn works(self: &Arc<Self>) -> Option<AtWork> {
        self.change(|manner, _| manner.at_work += 1).then(|| AtWork(Arc::clone(self)))
    }

    /// Changes how somebody sits here; false when the place is somebody else's.
    fn change(&self, change: impl FnOnce(&mut Manner, u64)) -> bool {
        let mut taken = self.room.taken();
        let now = taken.moment();
        let manner = taken.seats.get_mut(&self.number);
        manner.map(|manner| change(manner, now)).is_some()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.room.taken().seats.remove(&self.number);
        self.room.moved.notify_waiters();
    }
}

impl AtWork {
    /// The answer, which is at work until its last byte is out.
    pub(super) fn on(self, answer: Answer) -> Answer {
        if !matches!(answer.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            self.0.change(|manner, _| manner.known = true);
        }
        answer.map(|body| {
            let held = body.map_frame(move |frame| {
                // It is held by being here.
                let _ = &self;
                frame
            });
            held.boxed()
        })
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.change(|manner, now| {
            manner.at_work = manner.at_work.saturating_sub(1);
            manner.since = now;
        });
        self.0.room.moved.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http_body_util::Full;
    use hyper::Response;

    use super::*;

    fn answer(status: StatusCode) -> Answer {
        let mut answer = Response::new(Full::new(Bytes::from("x")).boxed());
        *answer.status_mut() = status;
        answer
    }

    fn gone(seats: &[&Arc<Seat>]) -> Vec<bool> {
        seats.iter().map(|seat| seat.goes().is_cancelled()).collect()
    }

    #[tokio::test]
    async fn whoever_was_never_let_in_goes_first_then_who_is_silent_longest() {
        let room = Room::new(4);
        let (working, known) = (room.seat().await, room.seat().await);
        let (silent, refused) = (room.seat().await, room.seat().await);
        let _work = working.works().unwrap();
        drop(known.works().unwrap().on(answer(StatusCode::OK)));
        drop(refused.works().unwrap().on(answer(StatusCode::UNAUTHORIZED)));
        let all = [&working, &known, &silent, &refused];

        let first = room.seat().await;
        assert_eq!(gone(&all), [false, false, true, false]);
        let second = room.seat().await;
        assert_eq!(gone(&all), [false, false, true, true]);

        drop([
            first.works().unwrap().on(answer(StatusCode::OK)),
            second.works().unwrap().on(answer(StatusCode::OK)),
        ]);
        let _third = room.seat().await;
        assert_eq!((gone(&all), gone(&[&first, &second])), (vec![false, true, true, true], vec![false; 2]));
    }

    #[tokio::test]
    async fn who_comes_while_everybody_is_at_work_waits_until_one_has_done() {
        let room = Room::new(1);
        let only = room.seat().await;
        let sent = only.works().unwrap().on(answer(StatusCode::OK));
        let mut newcomer = std::pin::pin!(room.seat());

        assert!(futures::poll!(&mut newcomer).is_pending());
        drop(sent);

        newcomer.await;
        assert!(only.goes().is_cancelled() && only.works().is_none());
    }

    #[tokio::test]
    async fn a_place_that_was_left_is_free() {
        let room = Room::new(1);
        drop(room.seat().await);

        let next = room.seat().await;

        assert!(!next.goes().is_cancelled());
    }
}
