//! What files and plugins offer, or why that is not known, kept from one start to the next under the
//! digest of their content, so that a start that finds nothing new runs none of them.
//!
//! A line for each, the newest last. Only the lines that somebody asks for are read: those of contents that
//! are gone stay for a while, and a start must not pay for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use hermes_extend::plugins::offer::Offer;
use hermes_store::{Home, foreign};
use serde_json::{Value, json};

use super::asking::{Standing, Unheard};

/// Most things that are kept; the oldest go first.
const MAX_KEPT: usize = 1_000;

/// How a line begins; lines of another version begin otherwise and are passed over.
const BEGIN: &str = r#"{"version":3,"digest":"#;

/// What was heard, by digest.
#[derive(Default)]
pub(crate) struct Learnt {
    /// By the digest as it stands in the line: how old the line is, and what follows in it.
    lines: BTreeMap<String, (u64, String)>,
    next: u64,
    changed: bool,
}

impl Learnt {
    /// What was kept under this name.
    pub(crate) fn read(home: &Home, name: &str) -> Self {
        let mut learnt = Self::default();
        for line in foreign::learnt(home, name).unwrap_or_default().lines() {
            if let Some((digest, rest)) = line.strip_prefix(BEGIN).and_then(split) {
                learnt.insert(digest.to_owned(), rest.to_owned());
            }
        }
        learnt
    }

    /// What is known of this content.
    pub(crate) fn standing(&self, digest: &str) -> Option<Standing> {
        let (_, rest) = self.lines.get(&quoted(digest))?;
        let rest: Value = serde_json::from_str(&format!("{{{rest}")).ok()?;
        let unheard = rest.get("unheard").and_then(reason);
        let offer = || rest.get("offer").and_then(Offer::read);
        unheard.map(Err).or_else(|| offer().map(|offer| Ok(Arc::new(offer))))
    }

    /// Whether anything is known of this content.
    pub(crate) fn knows(&self, digest: &str) -> bool {
        self.lines.contains_key(&quoted(digest))
    }

    /// Takes note of what was heard, instead of what was known before.
    pub(crate) fn add(&mut self, digest: &str, standing: &Standing) {
        let said = match standing {
            Ok(offer) => json!({ "offer": **offer }),
            Err(unheard) => json!({ "unheard": written(unheard) }),
        };
        let said = said.to_string();
        self.insert(quoted(digest), said.strip_prefix('{').unwrap_or(&said).to_owned());
        self.changed = true;
    }

    /// Writes down what is new. What cannot be written is learnt again.
    pub(crate) fn keep(&mut self, home: &Home, name: &str) {
        if std::mem::take(&mut self.changed) {
            let mut lines: Vec<_> = self.lines.iter().collect();
            lines.sort_by_key(|(_, (age, _))| *age);
            let line = |(digest, (_, rest)): (&String, &(u64, String))| format!("{BEGIN}{digest},{rest}\n");
            let text: String = lines.into_iter().map(line).collect();
            let _ = foreign::learn(home, name, &text);
        }
    }

    fn insert(&mut self, digest: String, rest: String) {
        self.next += 1;
        self.lines.insert(digest, (self.next, rest));
        while self.lines.len() > MAX_KEPT {
            let oldest = self.lines.iter().min_by_key(|(_, (age, _))| *age);
            let Some(oldest) = oldest.map(|(digest, _)| digest.clone()) else { break };
            self.lines.remove(&oldest);
        }
    }
}

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

/// The digest, in its quotes, and what stands behind the comma that follows it.
fn split(line: &str) -> Option<(&str, &str)> {
    let mut digest = serde_json::Deserializer::from_str(line).into_iter::<Value>();
    digest.next()?.ok()?;
    let (digest, rest) = line.split_at_checked(digest.byte_offset())?;
    Some((digest, rest.strip_prefix(',')?))
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
        let offer = Arc::new(Offer { hooks: vec!["pre_tool_call".to_owned()], ..Offer::default() });
        for standing in
            [Ok(offer), Err(Unheard::Late), Err(Unheard::Failed("no".to_owned())), Err(Unheard::Hung)]
        {
            learnt.add("digest", &standing);
            assert_eq!(learnt.standing("digest"), Some(standing));
        }
        learnt.add("digest", &Ok(Arc::default()));
        assert_eq!(learnt.standing("digest"), Some(Ok(Arc::default())));
        assert_eq!(learnt.standing("other"), None);
    }

    #[test]
    fn what_is_kept_is_read_again_whatever_it_is_known_by() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let digests = ["0a1b", r#"pkg:register Ok(Manifest { name: "a\"b", run: [] })"#, "ü,\n{}"];
        let mut learnt = Learnt::default();
        let offer = Arc::new(Offer { notes: vec!["a line\nand \"another\"".to_owned()], ..Offer::default() });
        for digest in digests {
            learnt.add(digest, &Err(Unheard::Hung));
            learnt.add(digest, &Ok(offer.clone()));
        }
        learnt.keep(&home, "l.jsonl");

        let again = Learnt::read(&home, "l.jsonl");

        for digest in digests {
            assert_eq!(again.standing(digest), Some(Ok(offer.clone())), "{digest}");
        }
        assert_eq!(again.lines.len(), digests.len());
    }

    #[test]
    fn a_line_that_makes_no_sense_says_nothing_and_the_others_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let good = format!(r#"{BEGIN}"c","unheard":"late"}}"#);
        let lines =
            ["{}", "x", r#"{"version":3,"digest":"a","#, r#"{"version":3,"digest":"b","offer":3}"#, &good];
        foreign::learn(&home, "l.jsonl", &lines.join("\n")).unwrap();

        let learnt = Learnt::read(&home, "l.jsonl");

        let standings = ["a", "b", "c"].map(|digest| learnt.standing(digest));
        assert_eq!(standings, [None, None, Some(Err(Unheard::Late))]);
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
