//! A latch: code waits at it until the test opens it, and the test can wait for code to arrive.

use std::sync::Mutex;
use std::task::{Poll, Waker};

use crate::lock;

/// Holds up whoever comes by until it is opened.
#[derive(Default)]
pub struct Latch(Mutex<State>);

#[derive(Default)]
struct State {
    open: bool,
    arrived: usize,
    wakers: Vec<Waker>,
}

impl Latch {
    /// Arrives, and waits until the latch is open.
    pub async fn wait(&self) {
        self.change(|state| state.arrived += 1);
        self.until(|state| state.open).await;
    }

    /// Lets everybody through, now and later.
    pub fn open(&self) {
        self.change(|state| state.open = true);
    }

    /// How many have arrived so far.
    pub fn arrived(&self) -> usize {
        lock(&self.0).arrived
    }

    /// Waits until this many have arrived.
    pub async fn until_arrived(&self, count: usize) {
        self.until(move |state| state.arrived >= count).await;
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.0);
        change(&mut state);
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    async fn until(&self, reached: impl Fn(&State) -> bool) {
        std::future::poll_fn(|cx| {
            let mut state = lock(&self.0);
            if reached(&state) {
                return Poll::Ready(());
            }
            state.wakers.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
