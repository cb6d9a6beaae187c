//! Reads typed values out of the tree and remembers everything that is wrong with them.
//!
//! A wrong value is an error with its line, and reading goes on, so that one run reports all of
//! them. A number out of range is moved into range with a warning. An unknown key is a warning
//! with the nearest known one.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::known::{self, nearest};
use super::tree::{At, Entry, Kind, Node};
use crate::error::Problem;

/// Most seconds any setting may ask to wait: a week.
const MAX_SECONDS: u64 = 7 * 24 * 3600;
/// Nobody reads more warnings than this, and looking for the nearest key takes time.
const MAX_WARNINGS: usize = 100;

/// Collects what is wrong while settings are read.
pub(super) struct Reader<'t> {
    text: &'t str,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

/// A map in the file, or the absence of one: then every key is absent.
#[derive(Clone, Copy)]
pub(super) struct Section<'t> {
    name: &'t str,
    node: Option<&'t Node>,
}

/// Whether a flag is set in an item of the list that stands here.
fn sets_below(entry: &Entry, flag: &str) -> bool {
    let Kind::List(items) = &entry.value.kind else { return false };
    let is_set = |item: &Node| {
        item.get(flag).is_some_and(|entry| match &entry.value.kind {
            Kind::Bool(value) => *value,
            Kind::Expanded(text, _) => spoken_bool(text).unwrap_or(true),
            _ => false,
        })
    };
    items.iter().any(is_set)
}

/// How sure we are to know all keys of a section.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// All are known: any other is reported.
    All,
    /// There are more than we use: only what looks like a misspelling of ours is reported.
    Some,
}

impl<'t> Section<'t> {
    pub(super) fn root(node: &'t Node) -> Section<'t> {
        Section { name: "", node: Some(node) }
    }

    fn entry(self, key: &str) -> Option<&'t Entry> {
        self.node.and_then(|node| node.get(key)).filter(|entry| !matches!(entry.value.kind, Kind::Null))
    }

    fn entries(self) -> &'t [Entry] {
        match self.node.map(|node| &node.kind) {
            Some(Kind::Map(entries)) => entries,
            _ => &[],
        }
    }

    fn path(self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Reader<'t> {
        Reader { text, problems: Vec::new(), warnings: Vec::new() }
    }

    /// The map under a key; `name` is its dotted path. A value that is no map is a problem.
    pub(super) fn section(&mut self, parent: Section<'t>, key: &str, name: &'t str) -> Section<'t> {
        let entry = parent.entry(key);
        if let Some(entry) = entry.filter(|e| !matches!(e.value.kind, Kind::Map(_))) {
            self.wrong(entry.value.at, name, &entry.value, "a map", None);
            return Section { name, node: None };
        }
        Section { name, node: entry.map(|e| &e.value) }
    }

    /// Reports keys that are not among `known`.
    pub(super) fn check_keys(&mut self, section: Section<'t>, known: &[&str], keys: Keys) {
        for entry in section.entries().iter().filter(|e| !known.contains(&e.key.as_str())) {
            if self.warnings.len() >= MAX_WARNINGS {
                return;
            }
            let near = nearest(&entry.key, known.iter().copied());
            if near.is_none() && keys == Keys::Some {
                continue;
            }
            let hint = near.map(|near| format!("did you mean `{}`?", section.path(near)));
            self.warn(entry.at, section.path(&entry.key), "is not a known key", hint);
        }
    }

    /// Reports keys with a list below them in which `flag` is set, as a problem, where it would have no effect: keys
    /// that are not among `known`, and those that stand again further down, since of these only the last counts.
    pub(super) fn check_flag(&mut self, section: Section<'t>, known: &[&str], flag: &str) {
        let entries = section.entries();
        for (number, entry) in entries.iter().enumerate().filter(|(_, entry)| sets_below(entry, flag)) {
            let stands_again = entries.iter().skip(number + 1).any(|later| later.key == entry.key);
            let (what, hint) = if stands_again {
                ("stands again further down", Some("write both under one".to_owned()))
            } else if known.contains(&entry.key.as_str()) {
                continue;
            } else {
                let near = nearest(&entry.key, known.iter().copied());
                ("is not a known key", near.map(|near| format!("did you mean `{}`?", section.path(near))))
            };
            let (line, column, key) = (entry.at.line(), entry.at.column(), section.path(&entry.key));
            let what = format!("{what}, and `{flag}` below it would have no effect");
            self.problems.push(Problem { line, column, key, what, hint });
        }
    }

    /// The same for a section that stands again further down: nothing in it has an effect.
    pub(super) fn check_flag_where_repeated(&mut self, parent: Section<'t>, key: &'t str, flag: &str) {
        let mut standing: Vec<&Entry> = parent.entries().iter().filter(|entry| entry.key == key).collect();
        standing.pop();
        for entry in standing {
            let section = Section { name: key, node: Some(&entry.value) };
            if section.entries().iter().any(|inner| sets_below(inner, flag)) {
                let (line, column, key) = (entry.at.line(), entry.at.column(), parent.path(key));
                let what = format!("stands again further down, and `{flag}` below it would have no effect");
                let hint = Some("write both under one".to_owned());
                self.problems.push(Problem { line, column, key, what, hint });
            }
        }
    }

    /// What stands in a section under keys that are not among `known`, and that may be meant to be this one.
    pub(super) fn unknown_like(section: Section<'t>, known: &[&str], key: &str) -> Vec<Section<'t>> {
        let is_like =
            |entry: &&Entry| !known.contains(&entry.key.as_str()) && nearest(&entry.key, [key]).is_some();
        let inside = |entry: &'t Entry| Section { name: &entry.key, node: Some(&entry.value) };
        section.entries().iter().filter(is_like).map(inside).collect()
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, section: Section<'t>, key: &str, default: bool) -> bool {
        let Some(entry) = section.entry(key) else { return default };
        let read = match &entry.value.kind {
            Kind::Bool(value) => Some(*value),
            Kind::Expanded(text, _) => spoken_bool(text),
            _ => None,
        };
        read.unwrap_or_else(|| {
            self.wrong(entry.value.at, &section.path(key), &entry.value, "true or false", None);
            default
        })
    }

    /// A whole number, moved into `range` with a warning if it lies outside.
    pub(super) fn count(
        &mut self,
        section: Section<'t>,
        key: &str,
        default: u64,
        range: RangeInclusive<u64>,
    ) -> u64 {
        let Some(entry) = section.entry(key) else { return default };
        let read = match &entry.value.kind {
            Kind::Number(n) => n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from)),
            Kind::Expanded(text, _) => text.trim().parse().ok(),
            _ => None,
        };
        let Some(asked) = read else {
            self.wrong(entry.value.at, &section.path(key), &entry.value, "a whole number", None);
            return default;
        };
        let (low, high) = (*range.start(), *range.end());
        let used = u64::try_from(asked.max(i128::from(low))).unwrap_or(high).min(high);
        if i128::from(used) != asked {
            let what = format!("is {asked}, outside {low} to {high}; {used} is used");
            self.warn(entry.value.at, section.path(key), &what, None);
        }
        used
    }

    /// Seconds, whole or not.
    pub(super) fn seconds(&mut self, section: Section<'t>, key: &str, default: Duration) -> Duration {
        let Some(entry) = section.entry(key) else { return default };
        let read = match &entry.value.kind {
            Kind::Number(n) => n.as_f64(),
            Kind::Expanded(text, _) => text.trim().parse().ok(),
            _ => None,
        };
        let Some(asked) = read.filter(|s: &f64| s.is_finite()) else {
            self.wrong(entry.value.at, &section.path(key), &entry.value, "a number of seconds", None);
            return default;
        };
        let most = Duration::from_secs(MAX_SECONDS);
        let used = Duration::try_from_secs_f64(asked.max(0.0)).unwrap_or(most).min(most);
        if asked < 0.0 || used < Duration::try_from_secs_f64(asked).unwrap_or(Duration::MAX) {
            let what = format!("is {asked} seconds; {} is used", used.as_secs());
            self.warn(entry.value.at, section.path(key), &what, None);
        }
        used
    }

    /// A text that says something; an empty one counts as absent.
    pub(super) fn text(&mut self, section: Section<'t>, key: &str) -> Option<String> {
        let entry = section.entry(key)?;
        match &entry.value.kind {
            Kind::Text(text) | Kind::Expanded(text, _) => {
                Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
            }
            _ => {
                let hint = Some("put it in quotes if it is a name".to_owned());
                self.wrong(entry.value.at, &section.path(key), &entry.value, "a text", hint);
                None
            }
        }
    }

    /// A list of texts, `None` if absent. A single text is an error, not a list of one and not absence.
    pub(super) fn texts(&mut self, section: Section<'t>, key: &str) -> Option<Vec<String>> {
        let entry = section.entry(key)?;
        self.text_list(&section.path(key), &entry.value)
    }

    /// A list of names, of which there may be only one that is written without a list.
    pub(super) fn names_or_one(&mut self, section: Section<'t>, key: &str) -> Option<Vec<String>> {
        let entry = section.entry(key)?;
        self.name_list(&section.path(key), &entry.value)
    }

    /// A map from platforms to lists of texts.
    pub(super) fn text_lists(&mut self, parent: Section<'t>, key: &'t str) -> BTreeMap<String, Vec<String>> {
        self.lists(parent, key, Self::text_list)
    }

    /// The same for lists of names of which there may be only one.
    pub(super) fn name_lists(&mut self, parent: Section<'t>, key: &'t str) -> BTreeMap<String, Vec<String>> {
        self.lists(parent, key, Self::name_list)
    }

    fn lists(
        &mut self,
        parent: Section<'t>,
        key: &'t str,
        read: fn(&mut Self, &str, &Node) -> Option<Vec<String>>,
    ) -> BTreeMap<String, Vec<String>> {
        let section = self.section(parent, key, key);
        let platforms: Vec<&str> = known::PLATFORMS.iter().chain(known::OWN_DOORS).copied().collect();
        self.check_keys(section, &platforms, Keys::Some);
        let mut lists = BTreeMap::new();
        for entry in section.entries().iter().filter(|e| !matches!(e.value.kind, Kind::Null)) {
            if let Some(list) = read(self, &section.path(&entry.key), &entry.value) {
                lists.insert(entry.key.clone(), list);
            }
        }
        lists
    }

    fn name_list(&mut self, path: &str, node: &Node) -> Option<Vec<String>> {
        match &node.kind {
            // With a comma several are meant, and nothing would have that name.
            Kind::Text(text) | Kind::Expanded(text, _) if !text.trim().is_empty() && !text.contains(',') => {
                Some(vec![text.trim().to_owned()])
            }
            _ => self.text_list(path, node),
        }
    }

    fn text_list(&mut self, path: &str, node: &Node) -> Option<Vec<String>> {
        let items = match &node.kind {
            Kind::List(items) => items,
            Kind::Text(text) | Kind::Expanded(text, _) => {
                let items: Vec<&str> = text.split(',').map(str::trim).collect();
                let hint = format!("write `[{}]`", items.join(", "));
                self.wrong(node.at, path, node, "a list", Some(hint));
                return None;
            }
            _ => {
                self.wrong(node.at, path, node, "a list", None);
                return None;
            }
        };
        let mut texts = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            match &item.kind {
                Kind::Text(text) | Kind::Expanded(text, _) => texts.push(text.clone()),
                Kind::Bool(_) | Kind::Number(_) => {
                    let hint = Some("put it in quotes if it is a name".to_owned());
                    self.wrong(item.at, &format!("{path}.{i}"), item, "a text", hint);
                }
                _ => self.wrong(item.at, &format!("{path}.{i}"), item, "a text", None),
            }
        }
        Some(texts)
    }

    /// One of several words. `on` and `off` without quotes count as words, not as booleans.
    pub(super) fn word<T: Copy>(
        &mut self,
        section: Section<'t>,
        key: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let entry = section.entry(key)?;
        let said = self.said(&entry.value);
        let found = said.and_then(|said| words.iter().find(|(word, _)| *word == said));
        if let Some((_, value)) = found {
            return Some(*value);
        }
        let mut shown: Vec<&str> = Vec::new();
        for (word, _) in words.iter().filter(|(word, _)| spoken_bool(word).is_none() || *word == "off") {
            shown.push(word);
        }
        let expected = format!("one of {}", shown.join(", "));
        self.wrong(entry.value.at, &section.path(key), &entry.value, &expected, None);
        None
    }

    /// A whole number, `None` if absent.
    pub(super) fn number(
        &mut self,
        section: Section<'t>,
        key: &str,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        section.entry(key)?;
        let low = *range.start();
        Some(self.count(section, key, low, range))
    }

    /// A share as whole percent: written as a number from 0 to 1, or as percent.
    pub(super) fn percent(&mut self, section: Section<'t>, key: &str, default: u64) -> u64 {
        let Some(entry) = section.entry(key) else { return default };
        let read = match &entry.value.kind {
            Kind::Number(number) => number.as_f64(),
            Kind::Expanded(text, _) => text.trim().parse().ok(),
            _ => None,
        };
        let share = read.filter(|share: &f64| (0.0..=100.0).contains(share));
        let Some(share) = share else {
            self.wrong(entry.value.at, &section.path(key), &entry.value, "a share from 0 to 1", None);
            return default;
        };
        let percent = if share <= 1.0 { share * 100.0 } else { share };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 100")]
        let whole = percent.round() as u64;
        whole
    }

    /// The maps in a map, by their keys. What is no map is a problem.
    pub(super) fn sections(&mut self, parent: Section<'t>, name: &'t str) -> Vec<(&'t str, Section<'t>)> {
        let mut found = Vec::new();
        for entry in parent.entries() {
            match &entry.value.kind {
                Kind::Map(_) => found.push((entry.key.as_str(), Section { name, node: Some(&entry.value) })),
                Kind::Null => {}
                _ => self.wrong(entry.value.at, &parent.path(&entry.key), &entry.value, "a map", None),
            }
        }
        found
    }

    /// The maps in a list under a key. What is no list of maps is a problem.
    pub(super) fn items(&mut self, parent: Section<'t>, key: &'t str) -> Vec<Section<'t>> {
        let Some(entry) = parent.entry(key) else { return Vec::new() };
        let Kind::List(items) = &entry.value.kind else {
            self.wrong(entry.value.at, &parent.path(key), &entry.value, "a list", None);
            return Vec::new();
        };
        let mut found = Vec::new();
        for (i, item) in items.iter().enumerate() {
            match &item.kind {
                Kind::Map(_) => found.push(Section { name: key, node: Some(item) }),
                _ => self.wrong(item.at, &format!("{key}.{i}"), item, "a map", None),
            }
        }
        found
    }

    /// The keys of a map.
    pub(super) fn names(section: Section<'t>) -> Vec<String> {
        section.entries().iter().map(|entry| entry.key.clone()).collect()
    }

    /// Reports a key that has to be there.
    pub(super) fn missing(&mut self, section: Section<'t>, key: &str) {
        let at = section.node.map_or(At::new(1, 1), |node| node.at);
        let what = "is missing".to_owned();
        let key = section.path(key);
        self.problems.push(Problem { line: at.line(), column: at.column(), key, what, hint: None });
    }

    /// The value under a key as it is.
    pub(super) fn raw(section: Section<'t>, key: &str) -> Option<&'t Node> {
        section.entry(key).map(|entry| &entry.value)
    }

    fn said(&self, node: &Node) -> Option<String> {
        match &node.kind {
            Kind::Text(text) | Kind::Expanded(text, _) => Some(text.trim().to_lowercase()),
            Kind::Number(n) => Some(n.to_string()),
            Kind::Bool(value) => Some(match self.source_word(node.at).as_str() {
                "on" => "on".to_owned(),
                "off" => "off".to_owned(),
                _ => value.to_string(),
            }),
            Kind::Null | Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// The letters that stand at a place in the file, in lower case.
    fn source_word(&self, at: At) -> String {
        let line = usize::try_from(at.line().saturating_sub(1)).unwrap_or(usize::MAX);
        let column = usize::try_from(at.column().saturating_sub(1)).unwrap_or(usize::MAX);
        let rest = self.text.lines().nth(line).unwrap_or_default().chars().skip(column);
        rest.take_while(char::is_ascii_alphabetic).collect::<String>().to_lowercase()
    }

    fn wrong(&mut self, at: At, key: &str, node: &Node, expected: &str, hint: Option<String>) {
        let what = match &node.kind {
            Kind::Text(text) => format!("must be {expected}, not the text `{}`", short(text)),
            Kind::Bool(value) => format!("must be {expected}, not `{value}`"),
            Kind::Number(n) => format!("must be {expected}, not `{n}`"),
            // An expanded value may be a secret.
            other => format!("must be {expected}, not {}", other.name()),
        };
        self.problems.push(Problem { line: at.line(), column: at.column(), key: key.to_owned(), what, hint });
    }

    fn warn(&mut self, at: At, key: String, what: &str, hint: Option<String>) {
        self.warnings.push(Problem {
            line: at.line(),
            column: at.column(),
            key,
            what: what.to_owned(),
            hint,
        });
    }
}

fn spoken_bool(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn short(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST).chain(['…']).collect()
}
