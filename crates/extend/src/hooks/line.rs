//! What one observer was not told yet: told in its order and one at a time. Each has a line of its own, so that
//! one that does not come to an end is in the way of no other.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::observers::{Counted, Observers};

/// Most that waits in one line.
const MAX_WAITING: usize = 64;

/// A line of news of one kind.
pub(crate) struct Line<T> {
    observers: Observers,
    state: Mutex<State<T>>,
}

struct State<T> {
    waiting: VecDeque<(T, Counted)>,
    /// Whether somebody tells what waits.
    is_told: bool,
}

impl<T> Line<T> {
    /// Nothing waits in it; what does is counted among `observers`.
    pub(crate) fn new(observers: &Observers) -> Arc<Self> {
        let state = State { waiting: VecDeque::new(), is_told: false };
        Arc::new(Self { observers: observers.clone(), state: Mutex::new(state) })
    }

    /// Puts something at the end of the line; what does not fit is dropped and counted. Whoever is given a teller
    /// has to tell what waits, until there is nothing more.
    pub(crate) fn add(self: &Arc<Self>, news: T) -> Option<Teller<T>> {
        let mut state = self.lock();
        if state.waiting.len() >= MAX_WAITING {
            drop(state);
            self.observers.drop_some(1);
            return None;
        }
        state.waiting.push_back((news, self.observers.waits()));
        if std::mem::replace(&mut state.is_told, true) {
            return None;
        }
        drop(state);
        Some(Teller { of: Arc::clone(self), is_over: false, _counted: self.observers.at_work() })
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one who tells what waits in a line. When it goes before that is done, the rest is dropped and counted.
pub(crate) struct Teller<T> {
    of: Arc<Line<T>>,
    is_over: bool,
    _counted: Counted,
}

impl<T> Iterator for Teller<T> {
    type Item = T;

    /// What has waited longest; the telling is over when nothing has.
    fn next(&mut self) -> Option<T> {
        if self.is_over {
            return None;
        }
        let mut state = self.of.lock();
        let next = state.waiting.pop_front();
        if next.is_none() {
            (state.is_told, self.is_over) = (false, true);
        }
        next.map(|(news, _)| news)
    }
}

impl<T> Drop for Teller<T> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let left: Vec<_> = {
            let mut state = self.of.lock();
            state.is_told = false;
            state.waiting.drain(..).collect()
        };
        self.of.observers.drop_some(left.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_teller_tells_everything_in_its_order() {
        let observers = Observers::new(str::to_owned);
        let line = Line::new(&observers);
        let mut teller = line.add(1).unwrap();
        assert!(line.add(2).is_none());

        assert_eq!((teller.next(), teller.next(), teller.next()), (Some(1), Some(2), None));

        assert!(line.add(3).is_some_and(|next| next.eq([3])), "the next news has a teller of its own");
        assert_eq!((observers.waiting(), observers.dropped()), (0, 0));
    }

    #[test]
    fn what_does_not_fit_and_what_nobody_tells_any_more_is_counted() {
        let observers = Observers::new(str::to_owned);
        let line = Line::new(&observers);
        let teller = line.add(0).unwrap();
        for number in 1..=MAX_WAITING {
            assert!(line.add(number).is_none());
        }
        assert_eq!((observers.waiting(), observers.dropped()), (MAX_WAITING, 1));

        drop(teller);

        assert_eq!((observers.waiting(), observers.dropped()), (0, 1 + MAX_WAITING as u64));
        assert!(line.add(0).is_some(), "a line goes on after its teller is gone");
    }
}
