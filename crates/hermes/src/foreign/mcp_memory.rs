//! What an MCP server says before anybody wants to keep it: a vault that ends with the program.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hermes_extend::mcp::client::{Kept, Mark, Vault};

use crate::redact::WorldRedact;

/// Keeps in memory what is learnt of servers.
#[derive(Default)]
pub struct Memory {
    texts: Mutex<Texts>,
    /// What must not be shown; known once a server is made that is kept here.
    secrets: OnceLock<Arc<WorldRedact>>,
}

/// By server and kind: how often it was written, and what it is.
type Texts = BTreeMap<(String, &'static str), (u64, String)>;

impl Memory {
    /// Takes these secrets out of the words of servers.
    pub(super) fn hides(&self, secrets: Arc<WorldRedact>) {
        // Those of one runtime are always the same.
        let _ = self.secrets.set(secrets);
    }

    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(server: &str, what: Kept) -> (String, &'static str) {
    let what = match what {
        Kept::Known => "known",
        Kept::Tokens => "tokens",
    };
    (server.to_owned(), what)
}

fn mark(count: u64) -> Mark {
    [count, 0, 0, 0, 0, 0]
}

impl Vault for Memory {
    fn read(&self, server: &str, what: Kept) -> Option<String> {
        self.texts().get(&key(server, what)).map(|(_, text)| text.clone())
    }

    fn write(&self, server: &str, what: Kept, text: &str) -> Result<(), String> {
        self.update(server, what, &mut |_| Some(text.to_owned())).map(drop)
    }

    fn update(
        &self,
        server: &str,
        what: Kept,
        with: &mut dyn FnMut(Option<String>) -> Option<String>,
    ) -> Result<Option<Mark>, String> {
        let mut texts = self.texts();
        let before = texts.get(&key(server, what)).cloned();
        let count = before.as_ref().map_or(0, |(count, _)| *count);
        match with(before.map(|(_, text)| text)) {
            Some(text) => {
                texts.insert(key(server, what), (count + 1, text));
                Ok(Some(mark(count + 1)))
            }
            None => Ok((count > 0).then(|| mark(count))),
        }
    }

    fn mark(&self, server: &str, what: Kept) -> Option<Mark> {
        self.texts().get(&key(server, what)).map(|(count, _)| mark(*count))
    }

    fn remove(&self, server: &str, what: Kept) {
        self.texts().remove(&key(server, what));
    }

    fn keep_media(&self, _session: &str, _name: &str, _ending: &str, _bytes: &[u8]) -> Option<PathBuf> {
        None
    }

    fn log(&self, _server: &str, _line: &str) {}

    fn cleared(&self, words: &str) -> String {
        self.secrets.get().map_or_else(|| words.to_owned(), |secrets| secrets.at_once(words).into_owned())
    }
}
