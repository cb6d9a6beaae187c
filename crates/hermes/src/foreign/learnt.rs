//! What files and plugins offer, kept from one start to the next under the digest of their content, so
//! that a start that finds nothing new runs none of them.

use hermes_extend::plugins::offer::Offer;
use hermes_store::{Home, foreign};
use serde_json::{Map, Value, json};

/// Most offers that are kept; the oldest go first.
const MAX_KEPT: usize = 1_000;

/// The version of what is kept; another one is not read.
const VERSION: u64 = 1;

/// Offers by digest.
#[derive(Default)]
pub(crate) struct Learnt {
    offers: Map<String, Value>,
    changed: bool,
}

impl Learnt {
    /// What was kept under this name.
    pub(crate) fn read(home: &Home, name: &str) -> Self {
        let kept = foreign::learnt(home, name).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let kept = kept.filter(|kept| kept.get("version").and_then(Value::as_u64) == Some(VERSION));
        let offers = kept.and_then(|mut kept| kept.get_mut("offers").map(Value::take));
        match offers {
            Some(Value::Object(offers)) => Self { offers, changed: false },
            _ => Self::default(),
        }
    }

    pub(crate) fn offer(&self, digest: &str) -> Option<Offer> {
        serde_json::from_value(self.offers.get(digest)?.clone()).ok()
    }

    pub(crate) fn add(&mut self, digest: &str, offer: &Offer) {
        let Ok(offer) = serde_json::to_value(offer) else { return };
        self.offers.shift_remove(digest);
        self.offers.insert(digest.to_owned(), offer);
        while self.offers.len() > MAX_KEPT {
            let Some(oldest) = self.offers.keys().next().cloned() else { break };
            self.offers.shift_remove(&oldest);
        }
        self.changed = true;
    }

    /// Writes down what is new. What cannot be written is learnt again.
    pub(crate) fn keep(&mut self, home: &Home, name: &str) {
        if std::mem::take(&mut self.changed) {
            let text = json!({ "version": VERSION, "offers": self.offers }).to_string();
            let _ = foreign::learn(home, name, &text);
        }
    }
}
