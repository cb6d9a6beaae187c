//! What files and plugins offer, or why that is not known, kept from one start to the next under the
//! digest of their content, so that a start that finds nothing new runs none of them.

use hermes_extend::plugins::offer::Offer;
use hermes_store::{Home, foreign};
use serde_json::{Map, Value, json};

use super::asking::{Standing, Unheard};

/// Most things that are kept of either sort; the oldest go first.
const MAX_KEPT: usize = 1_000;

/// The version of what is kept; another one is not read.
const VERSION: u64 = 1;

/// What was heard, by digest.
#[derive(Default)]
pub(crate) struct Learnt {
    offers: Map<String, Value>,
    unheard: Map<String, Value>,
    changed: bool,
}

impl Learnt {
    /// What was kept under this name.
    pub(crate) fn read(home: &Home, name: &str) -> Self {
        let kept = foreign::learnt(home, name).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let kept = kept.filter(|kept| kept.get("version").and_then(Value::as_u64) == Some(VERSION));
        let mut kept = kept.unwrap_or_default();
        let mut part = |name: &str| match kept.get_mut(name).map(Value::take) {
            Some(Value::Object(part)) => part,
            _ => Map::new(),
        };
        Self { offers: part("offers"), unheard: part("unheard"), changed: false }
    }

    /// What is known of this content.
    pub(crate) fn standing(&self, digest: &str) -> Option<Standing> {
        let unheard = self.unheard.get(digest).and_then(reason);
        let offer = || Offer::read(self.offers.get(digest)?);
        unheard.map(Err).or_else(|| offer().map(Ok))
    }

    /// Whether anything is known of this content.
    pub(crate) fn knows(&self, digest: &str) -> bool {
        self.unheard.contains_key(digest) || self.offers.contains_key(digest)
    }

    /// Takes note of what was heard, instead of what was known before.
    pub(crate) fn add(&mut self, digest: &str, standing: &Standing) {
        self.offers.shift_remove(digest);
        self.unheard.shift_remove(digest);
        match standing {
            Ok(offer) => insert(&mut self.offers, digest, json!(offer)),
            Err(unheard) => insert(&mut self.unheard, digest, written(unheard)),
        }
        self.changed = true;
    }

    /// Writes down what is new. What cannot be written is learnt again.
    pub(crate) fn keep(&mut self, home: &Home, name: &str) {
        if std::mem::take(&mut self.changed) {
            let kept = json!({ "version": VERSION, "offers": self.offers, "unheard": self.unheard });
            let _ = foreign::learn(home, name, &kept.to_string());
        }
    }
}

fn insert(part: &mut Map<String, Value>, digest: &str, value: Value) {
    part.insert(digest.to_owned(), value);
    while part.len() > MAX_KEPT {
        let Some(oldest) = part.keys().next().cloned() else { break };
        part.shift_remove(&oldest);
    }
}

fn written(unheard: &Unheard) -> Value {
    match unheard {
        Unheard::Late => json!("late"),
        Unheard::Hung => json!("hung"),
        Unheard::Failed(why) => json!({ "failed": why }),
    }
}

fn reason(written: &Value) -> Option<Unheard> {
    match (written.as_str(), written.get("failed").and_then(Value::as_str)) {
        (Some("late"), _) => Some(Unheard::Late),
        (Some("hung"), _) => Some(Unheard::Hung),
        (_, Some(why)) => Some(Unheard::Failed(why.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_standing_is_read_as_it_was_written_and_the_last_one_counts() {
        let mut learnt = Learnt::default();
        let offer = Offer { hooks: vec!["pre_tool_call".to_owned()], ..Offer::default() };
        for standing in
            [Ok(offer), Err(Unheard::Late), Err(Unheard::Failed("no".to_owned())), Err(Unheard::Hung)]
        {
            learnt.add("digest", &standing);
            assert_eq!(learnt.standing("digest"), Some(standing));
        }
        learnt.add("digest", &Ok(Offer::default()));
        assert_eq!(learnt.standing("digest"), Some(Ok(Offer::default())));
        assert_eq!(learnt.standing("other"), None);
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_oldest_go_first() {
        let mut learnt = Learnt::default();
        for n in 0..=MAX_KEPT {
            learnt.add(&n.to_string(), &Err(Unheard::Late));
        }
        assert_eq!((learnt.standing("0"), learnt.standing("1")), (None, Some(Err(Unheard::Late))));
    }
}
