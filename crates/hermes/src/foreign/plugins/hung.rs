//! Checks of foreign tools that did not answer, remembered for a while, from one start to the next as well:
//! otherwise every command would wait for them anew.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use hermes_extend::plugins::entry::Checks;
use hermes_store::{Home, foreign};

use crate::host::Machine;

/// How long nobody waits again.
const WHILE: Duration = Duration::from_mins(5);

/// Checks that did not answer, by what their tool is known by, and when that was.
pub(crate) struct HungChecks {
    home: Home,
    name: &'static str,
    known: Mutex<Option<BTreeMap<String, u64>>>,
}

impl HungChecks {
    /// Those kept under this name. Nothing is read yet.
    pub(crate) fn new(home: Home, name: &'static str) -> Self {
        Self { home, name, known: Mutex::default() }
    }

    fn with<R>(&self, work: impl FnOnce(&mut BTreeMap<String, u64>) -> R) -> R {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        work(known.get_or_insert_with(|| {
            let kept = foreign::learnt(&self.home, self.name);
            kept.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
        }))
    }
}

impl Checks for HungChecks {
    fn hung_lately(&self, check: &str) -> bool {
        self.with(|known| known.get(check).is_some_and(|when| is_lately(*when, now())))
    }

    fn hung(&self, check: &str) {
        let text = self.with(|known| {
            known.retain(|_, when| is_lately(*when, now()));
            known.insert(check.to_owned(), now());
            serde_json::to_string(known).unwrap_or_default()
        });
        // Whoever cannot keep it waits again.
        let _ = foreign::learn(&self.home, self.name, &text);
    }
}

fn now() -> u64 {
    Machine::wall().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// A clock that was set back makes nothing last for ever.
fn is_lately(when: u64, now: u64) -> bool {
    when <= now && now - when < WHILE.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_answer_is_known_to_the_next_start_for_a_while() {
        let dir = tempfile::tempdir().unwrap();
        let checks = || HungChecks::new(Home::at(dir.path()), "hung.json");
        assert!(!checks().hung_lately("a"));

        checks().hung("a");

        assert!(checks().hung_lately("a") && !checks().hung_lately("b"));
        assert!(is_lately(100, 100 + WHILE.as_secs() - 1));
        assert!(!is_lately(100, 100 + WHILE.as_secs()) && !is_lately(100, 99));
    }
}
