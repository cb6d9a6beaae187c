//! Rings: a hermes whose MCP servers lead back to itself, at once or by way of others. Each list of tools would
//! then make the next one longer, without end.
//!
//! A hermes tells with its list of tools who it is, for as long as it runs, and whom it has asked itself. Whoever
//! finds itself there at the first place asks itself, and has all of it already. Whoever finds itself further on
//! leaves out what the other one has from MCP servers, since some of that is its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use rmcp::model::MetaObject;
use serde_json::{Value, json};

/// Where it is told.
const KEY: &str = "hermes/runs";

/// Most that are told of, and heard of one server.
const MOST: usize = 100;

/// Who a hermes is among those that it asks and that ask it.
#[derive(Default)]
pub struct Ring {
    own: OnceLock<Option<String>>,
    /// By server, who it is and whom it asked.
    behind: Mutex<BTreeMap<String, Vec<String>>>,
    listener: OnceLock<Listener>,
}

/// Hears that a server is this hermes itself.
type Listener = Box<dyn Fn(&str) + Send + Sync>;

/// Who answers when a server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Met {
    /// Somebody who does not ask us.
    Other,
    /// Somebody who asks us, perhaps by way of others.
    Asker,
    /// We do.
    Ourselves,
}

impl Ring {
    /// Who hears that a server is this hermes itself; the first one counts.
    pub fn listen(&self, tell: impl Fn(&str) + Send + Sync + 'static) {
        // Somebody else serves already, and tells.
        let _ = self.listener.set(Box::new(tell));
    }

    /// Tells that a server is this hermes itself.
    pub(super) fn tell(&self, what: &str) {
        if let Some(listener) = self.listener.get() {
            listener(what);
        }
    }

    /// What a list of tools is marked with.
    pub(super) fn mark(&self) -> Option<MetaObject> {
        let own = self.own()?;
        let behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        let others: BTreeSet<&str> = behind.values().flatten().map(String::as_str).collect();
        let others = others.into_iter().filter(|other| *other != own);
        let runs: Vec<&str> = std::iter::once(own).chain(others).take(MOST).collect();
        let mut meta = MetaObject::default();
        meta.0.insert(KEY.to_owned(), json!(runs));
        Some(meta)
    }

    /// Who it is that marked its list so, as the server of this name.
    pub(super) fn met(&self, server: &str, meta: Option<&MetaObject>) -> Met {
        let runs = meta.and_then(|meta| meta.0.get(KEY)).and_then(Value::as_array);
        let runs = runs.into_iter().flatten().take(MOST).filter_map(Value::as_str);
        let runs: Vec<String> = runs.map(str::to_owned).collect();
        let at = self.own().and_then(|own| runs.iter().position(|run| run == own));
        let mut behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.is_empty() {
            behind.remove(server);
        } else {
            behind.insert(server.to_owned(), runs);
        }
        match at {
            None => Met::Other,
            Some(0) => Met::Ourselves,
            Some(_) => Met::Asker,
        }
    }

    /// Forgets the servers that are not asked any more.
    pub fn keep(&self, is_asked: impl Fn(&str) -> bool) {
        let mut behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        behind.retain(|server, _| is_asked(server));
    }

    /// Made when somebody first wants to know; nothing on a machine without random numbers, where nobody is
    /// recognised.
    fn own(&self) -> Option<&str> {
        self.own.get_or_init(|| hermes_net::random_hex().ok()).as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asks_in_a_ring_finds_itself() {
        let (one, two, three) = (Ring::default(), Ring::default(), Ring::default());
        let mark = |ring: &Ring| ring.mark();

        assert_eq!(one.met("me", mark(&one).as_ref()), Met::Ourselves);
        assert_eq!(one.met("plain", None), Met::Other);
        assert_eq!(one.met("two", mark(&two).as_ref()), Met::Other);
        assert_eq!(two.met("three", mark(&three).as_ref()), Met::Other);
        assert_eq!(three.met("one", mark(&one).as_ref()), Met::Other, "nobody has told it yet");
        assert_eq!(two.met("three", mark(&three).as_ref()), Met::Asker);
        assert_eq!(one.met("two", mark(&two).as_ref()), Met::Asker);
        assert_eq!(three.met("one", mark(&one).as_ref()), Met::Asker);

        one.keep(|server| server == "plain");
        assert_eq!(three.met("one", mark(&one).as_ref()), Met::Other, "the ring is open");
    }
}
