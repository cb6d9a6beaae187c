//! The store as the road's journal.

use std::borrow::Cow;

use futures::future::BoxFuture;
use hermes_core::journal::{Journal, Starting};
use hermes_core::outcome::Outcome;

use super::calls::{CallEnd, CallStart, Word};
use super::shared::SessionStore;

impl Journal for SessionStore {
    fn starting<'a>(&'a self, start: &'a Starting<'a>) -> BoxFuture<'a, Result<(), String>> {
        let written = self.write_down(Word::Starting(self.now(), Cow::Owned(CallStart::from(start))));
        Box::pin(async { written.await.map_err(|wrong| wrong.to_string()) })
    }

    fn finished<'a>(&'a self, session: &'a str, outcome: &'a Outcome) -> BoxFuture<'a, Result<(), String>> {
        let written = self.write_down(Word::Finished(self.now(), CallEnd::new(session, outcome)));
        Box::pin(async { written.await.map_err(|wrong| wrong.to_string()) })
    }
}
