//! Work that needs the async runtime around it, wherever it is polled.
//!
//! Sockets belong to the runtime they were made in. Code that just waits polls on its own thread, so
//! the runtime is entered for each look.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tokio::runtime::Handle;

/// Work, and the runtime it is done in.
pub(crate) struct Inside<'a, T> {
    pub(crate) runtime: Handle,
    pub(crate) work: BoxFuture<'a, T>,
}

impl<T> Future for Inside<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let runtime = self.runtime.clone();
        let _entered = runtime.enter();
        self.work.as_mut().poll(cx)
    }
}
