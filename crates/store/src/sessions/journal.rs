//! The store as the road's journal.

use std::future::ready;

use futures::future::BoxFuture;
use hermes_core::journal::{Journal, Starting};
use hermes_core::outcome::Outcome;

use super::calls::{CallEnd, Word};
use super::error::SessionError;
use super::shared::SessionStore;

impl Journal for SessionStore {
    fn starting<'a>(&'a self, start: &'a Starting<'a>) -> BoxFuture<'a, Result<(), String>> {
        written(self, Word::Starting(self.now(), start.into()))
    }

    fn finished<'a>(&'a self, session: &'a str, outcome: &'a Outcome) -> BoxFuture<'a, Result<(), String>> {
        written(self, Word::Finished(self.now(), CallEnd::new(session, outcome)))
    }
}

/// Nearly every word is written before anybody can wait for it.
fn written<'a>(store: &'a SessionStore, word: Word<'a>) -> BoxFuture<'a, Result<(), String>> {
    let words = |wrong: SessionError| wrong.to_string();
    match store.write_at_once(&word) {
        Ok(false) => Box::pin(async move { store.write_in_turn(word).await.map_err(words) }),
        done => Box::pin(ready(done.map(drop).map_err(words))),
    }
}
