//! What somebody has said yes to, as values.
//!
//! A grant covers no more than was shown: an effect grant names rule and targets, a class grant
//! names the rule. Nothing covers the never list.

use std::collections::{BTreeMap, BTreeSet};

use crate::judge::{Finding, Judgement, Verdict};
use crate::rules::{self, RULES};
use crate::walk::glob_matches;

/// One answer that lets something run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// This exact command, one time.
    Once(String),
    /// This exact command, for the session.
    Exact(String),
    /// These effects on these targets, for the session.
    Effects(Vec<(String, Vec<String>)>),
    /// Whole classes of effects, by rule, for the session.
    Class(Vec<String>),
    /// An entry of `command_allowlist`: a rule's name, a name the original used, an exact
    /// command, or a pattern for commands without operators.
    Always(String),
}

impl Grant {
    /// A grant for exactly the effects a judgement showed.
    pub fn effects_of(judgement: &Judgement) -> Self {
        Self::Effects(judgement.against().map(|finding| (key(finding), targets(finding))).collect())
    }

    /// A grant for the classes a judgement showed.
    pub fn classes_of(judgement: &Judgement) -> Self {
        let keys: BTreeSet<String> = judgement.against().map(key).collect();
        Self::Class(keys.into_iter().collect())
    }

    /// What "always" would write to `command_allowlist`: one entry for each rule that stands in
    /// the way. Empty when something in the way may not be granted for good.
    pub fn always_of(judgement: &Judgement) -> Vec<String> {
        if judgement.verdict != Verdict::Ask {
            return Vec::new();
        }
        let keys: BTreeSet<String> = judgement.against().map(key).collect();
        keys.into_iter().collect()
    }
}

/// Everything granted so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    once: Vec<String>,
    exact: BTreeSet<String>,
    effects: BTreeMap<String, Vec<BTreeSet<String>>>,
    classes: BTreeSet<String>,
    always: Vec<String>,
}

impl Grants {
    /// The grants of a `command_allowlist`.
    pub fn from_allowlist(entries: impl IntoIterator<Item = String>) -> Self {
        let mut grants = Self::default();
        for entry in entries {
            grants.add(Grant::Always(entry));
        }
        grants
    }

    /// Adds one.
    pub fn add(&mut self, grant: Grant) {
        match grant {
            Grant::Once(text) => self.once.push(text),
            Grant::Exact(text) => {
                self.exact.insert(text);
            }
            Grant::Effects(effects) => {
                for (rule, targets) in effects {
                    self.effects.entry(rule).or_default().push(targets.into_iter().collect());
                }
            }
            Grant::Class(rules) => self.classes.extend(rules),
            Grant::Always(entry) => self.always.push(entry),
        }
    }

    /// Whether everything that stands in the way of this command has been granted. `text` is the
    /// command as judged, byte for byte. Does not use up a `once`.
    pub fn covers(&self, text: &str, judgement: &Judgement) -> bool {
        if judgement.never || judgement.verdict == Verdict::Deny {
            return false;
        }
        if judgement.verdict == Verdict::Allow
            || self.once.iter().any(|known| known == text)
            || self.exact.contains(text)
        {
            return true;
        }
        if self.always.iter().any(|entry| command_entry(entry, text)) {
            return true;
        }
        judgement.against().all(|finding| self.covers_finding(finding))
    }

    /// Uses up a `once` for this command; says whether there was one.
    pub fn spend_once(&mut self, text: &str) -> bool {
        match self.once.iter().position(|known| known == text) {
            Some(at) => {
                self.once.remove(at);
                true
            }
            None => false,
        }
    }

    fn covers_finding(&self, finding: &Finding) -> bool {
        let rule = key(finding);
        if self.classes.contains(&rule) || self.always.iter().any(|entry| names_rule(entry, &rule)) {
            return true;
        }
        let wanted = targets(finding);
        // Without a target there is nothing to narrow a grant to: only the class covers it.
        !wanted.is_empty()
            && self.effects.get(&rule).is_some_and(|granted| {
                granted.iter().any(|set| wanted.iter().all(|target| set.contains(target)))
            })
    }
}

/// The name a finding is granted under.
fn key(finding: &Finding) -> String {
    match (finding.rule, finding.user_rule) {
        (Some(rule), _) => rule.to_owned(),
        (None, Some(at)) => format!("user_rule:{}", at + 1),
        (None, None) => finding.effect.kind.name().to_owned(),
    }
}

/// What a finding falls on, an unknown target never equal to another.
fn targets(finding: &Finding) -> Vec<String> {
    finding
        .effect
        .targets
        .iter()
        .filter(|target| !target.text.contains('…'))
        .map(|target| target.text.clone())
        .collect()
}

/// Whether an allow-list entry names a rule, in our words or the original's.
fn names_rule(entry: &str, rule: &str) -> bool {
    entry == rule
        || rules::rule(rule)
            .is_some_and(|rule| rule.keys.iter().any(|known| known.eq_ignore_ascii_case(entry)))
}

/// Whether an allow-list entry is this command, or a pattern for it. Patterns only hold for
/// commands without operators, so that nothing rides along.
fn command_entry(entry: &str, text: &str) -> bool {
    if RULES.iter().any(|rule| names_rule(entry, rule.name)) {
        return false;
    }
    entry == text
        || (entry.contains(['*', '?'])
            && !text.contains([';', '&', '|', '\n', '`', '$', '<', '>', '('])
            && glob_matches(entry, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Context, judge};

    fn look(text: &str) -> Judgement {
        judge(text, &Context::new("/work/project", "/home/me"))
    }

    #[test]
    fn once_is_for_the_exact_bytes_and_used_up() {
        let mut grants = Grants::default();
        grants.add(Grant::Once("rm -r src".into()));

        assert!(grants.covers("rm -r src", &look("rm -r src")));
        assert!(!grants.covers("rm -r src ", &look("rm -r src ")));
        assert!(grants.spend_once("rm -r src"));
        assert!(!grants.spend_once("rm -r src"));
        assert!(!grants.covers("rm -r src", &look("rm -r src")));
    }

    #[test]
    fn an_effect_grant_covers_its_targets_and_no_others() {
        let mut grants = Grants::default();
        grants.add(Grant::effects_of(&look("rm -r src docs")));

        assert!(grants.covers("rm -rf ./src", &look("rm -rf ./src")));
        assert!(!grants.covers("rm -rf src lib", &look("rm -rf src lib")));
        assert!(!grants.covers("git push -f", &look("git push -f")));
    }

    #[test]
    fn a_class_grant_covers_the_class() {
        let mut grants = Grants::default();
        grants.add(Grant::classes_of(&look("git push -f")));

        assert!(grants.covers("git push --force x", &look("git push --force x")));
        assert!(!grants.covers("git reset --hard", &look("git reset --hard")));
    }

    #[test]
    fn nothing_covers_the_never_list() {
        let mut grants = Grants::from_allowlist(["rm-recursive".to_owned(), "rm -rf /".to_owned()]);
        grants.add(Grant::Exact("rm -rf /".into()));
        grants.add(Grant::Class(vec!["delete_root".into()]));

        assert!(!grants.covers("rm -rf /", &look("rm -rf /")));
    }

    #[test]
    fn names_of_the_original_are_honoured() {
        let grants = Grants::from_allowlist(["rm-recursive".to_owned()]);

        assert!(grants.covers("rm -r src", &look("rm -r src")));
    }

    #[test]
    fn patterns_hold_only_without_operators() {
        let grants = Grants::from_allowlist(["git push *".to_owned()]);

        assert!(grants.covers("git push -f", &look("git push -f")));
        assert!(!grants.covers("git push -f; rm -r src", &look("git push -f; rm -r src")));
    }
}
