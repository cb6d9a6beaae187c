//! The store as the road's journal.

use futures::future::BoxFuture;
use hermes_core::journal::{Journal, Starting};
use hermes_core::outcome::Outcome;

use super::calls::CallStart;
use super::shared::SessionStore;

impl Journal for SessionStore {
    fn starting<'a>(&'a self, start: &'a Starting<'a>) -> BoxFuture<'a, Result<(), String>> {
        let start = CallStart::from(start);
        Box::pin(async move {
            self.change(move |store| store.call_starting(&start)).await.map_err(|wrong| wrong.to_string())
        })
    }

    fn finished<'a>(&'a self, session: &'a str, outcome: &'a Outcome) -> BoxFuture<'a, Result<(), String>> {
        let (session, outcome) = (session.to_owned(), outcome.clone());
        Box::pin(async move {
            let written = self.change(move |store| store.call_finished(&session, &outcome)).await;
            written.map_err(|wrong| wrong.to_string())
        })
    }
}
