//! Something that is found out ahead of its time, beside other work: by a task if one comes to it, else by whoever
//! wants to know. On a machine that has no time for a task nobody waits for one to begin.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use hermes_extend::rpc::Tasks;

use crate::host::aside;

/// What is found out once, and taken once.
pub(super) struct Ahead<T>(Arc<Inner<T>>);

struct Inner<T> {
    state: Mutex<State<T>>,
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
        Self(Arc::new(Inner { state: Mutex::new(State::Idle), done: Condvar::new() }))
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
        self.0.done.notify_all();
    }
}

impl<T: Send + 'static> Ahead<T> {
    /// Has a task find it out, unless somebody does or has.
    pub(super) fn begin(&self, tasks: &dyn Tasks, find: impl FnOnce() -> T + Send + 'static) {
        let inner = Arc::clone(&self.0);
        tasks.start(Box::pin(async move {
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
        }));
    }

    /// What a task has found out; nothing where none has begun, and from then on none does.
    pub(super) fn take(&self) -> Option<T> {
        let mut state = self.0.lock();
        if matches!(*state, State::UnderWay) {
            drop(state);
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

    use futures::future::BoxFuture;
    use hermes_core::wait::wait;

    use super::*;

    /// Each task has a thread.
    struct Threads;

    impl Tasks for Threads {
        fn start(&self, task: BoxFuture<'static, ()>) -> bool {
            std::thread::spawn(move || wait(task));
            true
        }
    }

    /// Tasks never come to their turn.
    struct Busy(Mutex<Vec<BoxFuture<'static, ()>>>);

    impl Tasks for Busy {
        fn start(&self, task: BoxFuture<'static, ()>) -> bool {
            self.0.lock().unwrap().push(task);
            true
        }
    }

    #[test]
    fn what_is_under_way_is_waited_for_and_taken_once() {
        let (ahead, (begun, has_begun)) = (Ahead::default(), mpsc::channel());
        ahead.begin(&Threads, move || {
            begun.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(50));
            7
        });
        has_begun.recv().unwrap();

        assert_eq!((ahead.take(), ahead.take()), (Some(7), None));
    }

    #[test]
    fn nobody_waits_for_a_task_that_has_not_begun_and_it_never_does() {
        let (ahead, busy) = (Ahead::default(), Busy(Mutex::default()));
        ahead.begin(&busy, || panic!("it is too late"));

        assert_eq!(ahead.take(), None::<u8>);
        busy.0.into_inner().unwrap().into_iter().for_each(wait);
    }

    #[test]
    fn nobody_waits_for_work_that_broke() {
        let (ahead, (begun, has_begun)) = (Ahead::<u8>::default(), mpsc::channel());
        ahead.begin(&Threads, move || {
            begun.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(50));
            panic!("a test of what happens then")
        });
        has_begun.recv().unwrap();

        assert_eq!(ahead.take(), None);
    }
}
