//! Something that is found out ahead of its time, beside other work: by a task if one comes to it, else by whoever
//! wants to know. On a machine that has no time for a task nobody waits for one to begin.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::host::{aside, give_way};

/// How often whoever waits gives way before it goes to sleep: it takes longer to be woken than most work has left.
const SHORTLY: usize = 500;

/// What is found out once, and taken once.
pub(crate) struct Ahead<T>(Arc<Inner<T>>);

struct Inner<T> {
    state: Mutex<State<T>>,
    /// Whether work that was begun is over.
    is_over: AtomicBool,
    done: Condvar,
}

enum State<T> {
    /// Nobody has begun.
    Idle,
    UnderWay,
    Done(T),
    /// Whoever wanted to know does it, or has taken it.
    Over,
}

impl<T> Default for Ahead<T> {
    fn default() -> Self {
        Self(Arc::new(Inner {
            state: Mutex::new(State::Idle),
            is_over: AtomicBool::default(),
            done: Condvar::new(),
        }))
    }
}

impl<T> Inner<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sees to it that nobody waits for work that broke.
struct Broken<'a, T>(&'a Inner<T>);

impl<T> Drop for Broken<'_, T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if matches!(*state, State::UnderWay) {
            *state = State::Over;
        }
        drop(state);
        self.0.is_over.store(true, Ordering::Release);
        self.0.done.notify_all();
    }
}

/// Work for whoever has a thread to spare.
pub(crate) type Work = Box<dyn FnOnce() + Send>;

impl<T: Send + 'static> Ahead<T> {
    /// How a task finds it out, unless somebody does or has by then.
    pub(crate) fn work(&self, find: impl FnOnce() -> T + Send + 'static) -> Work {
        let inner = Arc::clone(&self.0);
        Box::new(move || {
            let mut state = inner.lock();
            if !matches!(*state, State::Idle) {
                return;
            }
            *state = State::UnderWay;
            drop(state);
            let broken = Broken(&inner);
            let found = find();
            *inner.lock() = State::Done(found);
            drop(broken);
        })
    }

    /// What a task has found out; nothing where none has begun, and from then on none does.
    pub(super) fn take(&self) -> Option<T> {
        let mut state = self.0.lock();
        if matches!(*state, State::UnderWay) {
            drop(state);
            // Without the lock, which whoever works wants to find free.
            (0..SHORTLY).take_while(|_| !self.0.is_over.load(Ordering::Acquire)).for_each(|_| give_way());
            state = aside(|| {
                let waits = |state: &mut State<T>| matches!(state, State::UnderWay);
                let waited = self.0.done.wait_while(self.0.lock(), waits);
                waited.unwrap_or_else(PoisonError::into_inner)
            });
        }
        match std::mem::replace(&mut *state, State::Over) {
            State::Done(found) => Some(found),
            _ => None,
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests have threads of their own")]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_under_way_is_waited_for_and_taken_once() {
        let (ahead, (begun, has_begun)) = (Ahead::default(), mpsc::channel());
        let work = ahead.work(move || {
            begun.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(50));
            7
        });
        std::thread::spawn(work);
        has_begun.recv().unwrap();

        assert_eq!((ahead.take(), ahead.take()), (Some(7), None));
    }

    #[test]
    fn nobody_waits_for_work_that_has_not_begun_and_it_never_does() {
        let ahead = Ahead::default();
        let work = ahead.work(|| panic!("it is too late"));

        assert_eq!(ahead.take(), None::<u8>);
        work();
    }

    #[test]
    fn nobody_waits_for_work_that_broke() {
        let (ahead, (begun, has_begun)) = (Ahead::<u8>::default(), mpsc::channel());
        let work = ahead.work(move || {
            begun.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(50));
            panic!("a test of what happens then")
        });
        std::thread::spawn(work);
        has_begun.recv().unwrap();

        assert_eq!(ahead.take(), None);
    }
}
