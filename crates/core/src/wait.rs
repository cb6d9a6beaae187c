//! Waiting for async work from plain blocking code.
//!
//! It parks the calling thread and needs no runtime, so it also works on a thread that already
//! belongs to one: that thread is simply busy until the work is done.
//!
//! Work that waits for a word from outside may [`offer`] a [`Bed`]: the thread then sleeps right
//! where the word comes in, and nobody has to hear it first and wake the thread afterwards.

use std::cell::RefCell;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use crate::host::Host;

/// A place where a thread that waits can sleep, and take what comes in there.
pub trait Bed: Send + Sync {
    /// Sleeps until something came in, and hands it to whoever waits for it; or until [`Bed::wake`].
    /// Whoever wakes has set `woken` before, so it must be looked at once more after `wake` is sure
    /// to be noticed. `false` when there is no sleeping here: somebody else does, or nothing will come.
    fn sleep(&self, woken: &AtomicBool) -> bool;

    /// Ends the sleep, from another thread.
    fn wake(&self);
}

thread_local! {
    /// The bed of this thread, while it waits. It belongs to the thread and not to the work, because
    /// work within work is polled with wakers of its own.
    static OFFERED: RefCell<Offered> = const { RefCell::new(Offered { waits: 0, bed: None }) };
}

struct Offered {
    /// How many waits are on this thread, one within the other.
    waits: usize,
    bed: Option<Arc<dyn Bed>>,
}

/// Work that is polled on a thread which just waits says where it may sleep; `false` on any other thread,
/// where nobody will. The last offer counts.
pub fn offer(bed: &Arc<dyn Bed>) -> bool {
    OFFERED.with_borrow_mut(|offered| {
        let waits = offered.waits > 0;
        if waits && !offered.bed.as_ref().is_some_and(|known| Arc::ptr_eq(known, bed)) {
            offered.bed = Some(Arc::clone(bed));
        }
        waits
    })
}

/// Takes an offer back.
pub fn withdraw(bed: &Arc<dyn Bed>) {
    OFFERED.with_borrow_mut(|offered| {
        if offered.bed.as_ref().is_some_and(|known| Arc::ptr_eq(known, bed)) {
            offered.bed = None;
        }
    });
}

/// A thread that waits, for the time of one wait.
struct Waits;

impl Waits {
    fn begin() -> Self {
        OFFERED.with_borrow_mut(|offered| offered.waits += 1);
        Self
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        let left = OFFERED.with_borrow_mut(|offered| {
            offered.waits = offered.waits.saturating_sub(1);
            if offered.waits == 0 { offered.bed.take() } else { None }
        });
        // Let go outside of the borrow: it may be the last one.
        drop(left);
    }
}

/// Wakes a thread, wherever it sleeps.
struct Sleeper {
    thread: Thread,
    woken: AtomicBool,
    /// Where it sleeps, when that is not the usual place.
    bed: Mutex<Option<Arc<dyn Bed>>>,
}

impl Sleeper {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            thread: std::thread::current(),
            woken: AtomicBool::new(false),
            bed: Mutex::new(None),
        })
    }

    fn bed(&self) -> MutexGuard<'_, Option<Arc<dyn Bed>>> {
        self.bed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until it is woken.
    fn sleep(&self) {
        while !self.woken.swap(false, Ordering::SeqCst) {
            let Some(bed) = OFFERED.with_borrow(|offered| offered.bed.clone()) else {
                std::thread::park();
                continue;
            };
            *self.bed() = Some(Arc::clone(&bed));
            let slept = bed.sleep(&self.woken);
            *self.bed() = None;
            if !slept {
                withdraw(&bed);
            }
        }
    }
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        match self.bed().as_ref() {
            Some(bed) => bed.wake(),
            None => self.thread.unpark(),
        }
    }
}

/// Runs the work to its end on this thread.
pub fn wait<T>(work: impl Future<Output = T>) -> T {
    let _waits = Waits::begin();
    let sleeper = Sleeper::new();
    let waker = Waker::from(Arc::clone(&sleeper));
    let mut cx = Context::from_waker(&waker);
    let mut work = pin!(work);
    loop {
        match work.as_mut().poll(&mut cx) {
            Poll::Ready(done) => return done,
            Poll::Pending => sleeper.sleep(),
        }
    }
}

/// The same, but no longer than `limit`; no timer is needed, so it works while everything ends.
pub fn wait_at_most<T>(work: impl Future<Output = T>, limit: Duration, host: &Arc<dyn Host>) -> Option<T> {
    let sleeper = Sleeper::new();
    let waker = Waker::from(Arc::clone(&sleeper));
    let mut cx = Context::from_waker(&waker);
    let mut work = pin!(work);
    let until = host.now() + limit;
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut cx) {
            return Some(done);
        }
        let left = until.saturating_sub(host.now());
        if left.is_zero() {
            return None;
        }
        std::thread::park_timeout(left);
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests wake threads from other threads")]
mod tests {
    use std::sync::Condvar;
    use std::sync::atomic::AtomicUsize;

    use futures::channel::oneshot;
    use futures::stream::{FuturesUnordered, StreamExt as _};

    use super::*;

    /// A bed with a letter box: what is put into it is handed on by whoever sleeps there.
    #[derive(Default)]
    struct LetterBox {
        letters: Mutex<Vec<oneshot::Sender<u32>>>,
        bell: Condvar,
        rung: Mutex<bool>,
        sleeps: AtomicUsize,
        closed: AtomicBool,
    }

    impl LetterBox {
        fn put(&self, letter: oneshot::Sender<u32>) {
            self.letters.lock().unwrap().push(letter);
            self.wake();
        }
    }

    impl Bed for LetterBox {
        fn sleep(&self, woken: &AtomicBool) -> bool {
            if self.closed.load(Ordering::SeqCst) {
                return false;
            }
            self.sleeps.fetch_add(1, Ordering::SeqCst);
            let mut rung = self.rung.lock().unwrap();
            while !*rung && !woken.load(Ordering::SeqCst) {
                rung = self.bell.wait(rung).unwrap();
            }
            *rung = false;
            drop(rung);
            let letters = std::mem::take(&mut *self.letters.lock().unwrap());
            letters.into_iter().for_each(|letter| letter.send(7).unwrap());
            true
        }

        fn wake(&self) {
            *self.rung.lock().unwrap() = true;
            self.bell.notify_all();
        }
    }

    /// Waits for a letter, and offers the box to sleep at.
    async fn letter(mut answer: oneshot::Receiver<u32>, bed: Arc<dyn Bed>) -> u32 {
        let heard = std::future::poll_fn(move |cx| {
            let heard = std::pin::Pin::new(&mut answer).poll(cx);
            if heard.is_pending() {
                offer(&bed);
            }
            heard
        });
        heard.await.unwrap()
    }

    #[test]
    fn a_thread_sleeps_where_its_work_says_and_takes_what_comes_there() {
        let letters = Arc::new(LetterBox::default());
        let bed: Arc<dyn Bed> = letters.clone();
        let (tell, answer) = oneshot::channel();
        let box_of_others = Arc::clone(&letters);
        let other = std::thread::spawn(move || box_of_others.put(tell));

        let heard = wait(letter(answer, Arc::clone(&bed)));

        assert_eq!(heard, 7);
        other.join().unwrap();
        assert!(letters.sleeps.load(Ordering::SeqCst) >= 1);
        assert_eq!(Arc::strong_count(&letters), 2, "the offer ends with the wait");
    }

    #[test]
    fn work_within_work_is_heard_and_whatever_else_wakes_it_too() {
        let letters = Arc::new(LetterBox::default());
        let bed: Arc<dyn Bed> = letters.clone();
        let (tell, answer) = oneshot::channel();
        let (tell_late, late) = oneshot::channel();
        let box_of_others = Arc::clone(&letters);
        let other = std::thread::spawn(move || {
            // Not through the box: the thread is woken out of the bed it sleeps in.
            tell_late.send(1).unwrap();
            box_of_others.put(tell);
        });

        let work: FuturesUnordered<futures::future::BoxFuture<'static, u32>> = FuturesUnordered::new();
        work.push(Box::pin(letter(answer, bed)));
        work.push(Box::pin(async { late.await.unwrap() }));
        let mut heard = wait(work.collect::<Vec<u32>>());

        heard.sort_unstable();
        assert_eq!(heard, [1, 7]);
        other.join().unwrap();
    }

    #[test]
    fn where_there_is_no_sleeping_the_thread_is_woken_as_usual() {
        let letters = Arc::new(LetterBox::default());
        letters.closed.store(true, Ordering::SeqCst);
        let bed: Arc<dyn Bed> = letters.clone();
        let (tell, answer) = oneshot::channel();
        let other = std::thread::spawn(move || tell.send(3).unwrap());

        assert_eq!(wait(letter(answer, bed)), 3);
        other.join().unwrap();
        assert_eq!(letters.sleeps.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn an_offer_on_a_thread_that_does_not_wait_is_passed_over() {
        let letters = Arc::new(LetterBox::default());
        let bed: Arc<dyn Bed> = letters.clone();

        assert!(!offer(&bed));

        assert_eq!(Arc::strong_count(&letters), 2);
    }
}
