//! `config.yaml` as a tree in which every key and value knows its line.
//!
//! Parsing is bounded in bytes, nodes, depth and alias expansion, so that no file can make it hang
//! or exhaust the stack. Spellings such as `yes` and `off` are booleans, as they are for the YAML
//! readers this file format grew up with.

use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{DuplicateKeyPolicy, NonFiniteFloatPolicy, Options, Spanned};

use super::everyday;
use crate::error::{Problem, StoreError};

/// Most bytes of a `config.yaml`.
pub(super) const MAX_BYTES: u64 = 2 * 1024 * 1024;
const MAX_NODES: usize = 50_000;
/// Real configs have under ten levels; this many fit a small stack even without optimisation.
const MAX_DEPTH: usize = 24;

/// How a variable in a text begins.
pub(super) const VARIABLE: &str = "${";

/// Where something starts, counted from 1. Every value has one, and a start pays for each byte: a file that is read
/// has fewer lines and columns than fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct At {
    line: u32,
    column: u32,
}

impl At {
    pub(super) fn new(line: u64, column: u64) -> Self {
        let small = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Self { line: small(line), column: small(column) }
    }

    pub(super) fn line(self) -> u64 {
        self.line.into()
    }

    pub(super) fn column(self) -> u64 {
        self.column.into()
    }
}

/// A value and where it starts.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: At,
    pub(super) kind: Kind,
}

/// The value itself.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    /// A text in which a `${VAR}` was replaced, and how it is written: it may stand for a number or a
    /// boolean.
    Expanded(String, Box<str>),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One `key: value` of a map.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) at: At,
    pub(super) value: Node,
}

/// What to do with a key that stands twice in one map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duplicates {
    /// The last one counts, as other YAML readers have it, and the first repeat is reported.
    LastWins,
    /// The file is refused.
    Refuse,
}

/// Parses the text of a config file. The root is always a map; an empty file is an empty map.
pub(super) fn parse(
    path: &Path,
    text: &str,
    duplicates: Duplicates,
) -> Result<(Node, Option<Problem>), StoreError> {
    if text.len() as u64 > MAX_BYTES {
        return Err(StoreError::TooLarge { path: path.to_owned(), limit: MAX_BYTES });
    }
    match everyday::parse(text) {
        Some(root) => Ok((root, None)),
        None => parse_fully(path, text, duplicates),
    }
}

/// The same by a parser that knows all of YAML.
pub(super) fn parse_fully(
    path: &Path,
    text: &str,
    duplicates: Duplicates,
) -> Result<(Node, Option<Problem>), StoreError> {
    let (root, repeated) = match read(text, DuplicateKeyPolicy::Error) {
        Err(e) if duplicates == Duplicates::LastWins => match repeated_key(&e) {
            Some(problem) => (read(text, DuplicateKeyPolicy::LastWins), Some(problem)),
            None => (Err(e), None),
        },
        read => (read, None),
    };
    let root = root.map_err(|e| syntax(path, &e))?;
    match root.kind {
        Kind::Map(_) => Ok((root, repeated)),
        Kind::Null => Ok((Node { at: root.at, kind: Kind::Map(Vec::new()) }, repeated)),
        other => Err(StoreError::Syntax {
            path: path.to_owned(),
            line: root.at.line(),
            column: root.at.column(),
            why: format!("the file must be a map of `key: value`, not {}", other.name()),
        }),
    }
}

impl Node {
    /// The same tree of this text with `y` and `n` as the letters that they are: the readers that the original
    /// uses take only whole words for booleans.
    pub(super) fn with_letters(self, text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        self.spelt(&lines)
    }

    fn spelt(mut self, lines: &[&str]) -> Self {
        self.kind = match self.kind {
            Kind::Bool(value) => {
                letter(lines, self.at).map_or(Kind::Bool(value), |letter| Kind::Text(letter.to_string()))
            }
            Kind::List(items) => Kind::List(items.into_iter().map(|item| item.spelt(lines)).collect()),
            Kind::Map(entries) => {
                let spelt = |entry: Entry| Entry { value: entry.value.spelt(lines), ..entry };
                Kind::Map(entries.into_iter().map(spelt).collect())
            }
            other => other,
        };
        self
    }
}

/// The letter that stands here by itself, if it is one that some take for a boolean.
fn letter(lines: &[&str], at: At) -> Option<char> {
    let line = lines.get(usize::try_from(at.line()).ok()?.checked_sub(1)?)?;
    let mut here = line.chars().skip(usize::try_from(at.column()).ok()?.checked_sub(1)?);
    let letter = here.next().filter(|letter| "yYnN".contains(*letter))?;
    here.next().is_none_or(|next| next.is_whitespace() || ",]}".contains(next)).then_some(letter)
}

fn read(text: &str, duplicate_keys: DuplicateKeyPolicy) -> Result<Node, serde_saphyr::Error> {
    serde_saphyr::from_str_with_options::<Raw>(text, options(duplicate_keys)).map(|raw| Node::from(raw.0))
}

fn options(duplicate_keys: DuplicateKeyPolicy) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_nodes: MAX_NODES, max_depth: MAX_DEPTH, max_documents: 2 },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_NODES },
        duplicate_keys: duplicate_keys,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
        emit_comments: false,
    }
}

fn repeated_key(error: &serde_saphyr::Error) -> Option<Problem> {
    let serde_saphyr::Error::DuplicateMappingKey { key, location } = error.without_snippet() else {
        return None;
    };
    Some(Problem {
        line: location.line(),
        column: location.column(),
        key: key.clone().unwrap_or_default(),
        what: "stands twice in the same map".to_owned(),
        hint: Some("the last one counts; remove the others".to_owned()),
    })
}

fn syntax(path: &Path, error: &serde_saphyr::Error) -> StoreError {
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    let why = match error.without_snippet() {
        serde_saphyr::Error::MultipleDocuments { .. } => {
            "a second YAML document starts here; a config file is one document".to_owned()
        }
        serde_saphyr::Error::DuplicateMappingKey { key, .. } => {
            format!("the key `{}` stands twice in the same map", key.as_deref().unwrap_or("?"))
        }
        other => {
            let text = other.to_string();
            text.split_once(" at line ").map_or(text.as_str(), |(why, _)| why).to_owned()
        }
    };
    StoreError::Syntax { path: path.to_owned(), line, column, why }
}

impl Kind {
    /// What it is, for a sentence.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Kind::Null => "nothing",
            Kind::Bool(_) => "true or false",
            Kind::Number(_) => "a number",
            Kind::Text(_) | Kind::Expanded(..) => "a text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }
}

impl Node {
    /// The same tree without positions.
    pub(super) fn value(&self) -> Value {
        self.plain(false)
    }

    /// The same tree without positions, with every `${NAME}` as it is written.
    pub(super) fn written(&self) -> Value {
        self.plain(true)
    }

    fn plain(&self, as_written: bool) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(b) => Value::Bool(*b),
            Kind::Number(n) => Value::Number(n.clone()),
            Kind::Expanded(_, written) if as_written => Value::String(written.to_string()),
            Kind::Text(text) | Kind::Expanded(text, _) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(|item| item.plain(as_written)).collect(),
            Kind::Map(entries) => {
                let pairs = entries.iter().map(|e| (e.key.clone(), e.value.plain(as_written)));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    /// The value under a key, if this is a map that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        match &self.kind {
            // Of a repeated key the last counts.
            Kind::Map(entries) => entries.iter().rfind(|e| e.key == key),
            _ => None,
        }
    }

    /// Replaces `${NAME}` in every text by what `lookup` knows; an unknown name stays as written.
    pub(super) fn expand(&mut self, lookup: &dyn Fn(&str) -> Option<String>) {
        match &mut self.kind {
            Kind::Text(text) => {
                if let Some(new) = expanded(text, lookup) {
                    self.kind = Kind::Expanded(new, std::mem::take(text).into());
                }
            }
            Kind::List(items) => items.iter_mut().for_each(|item| item.expand(lookup)),
            Kind::Map(entries) => entries.iter_mut().for_each(|e| e.value.expand(lookup)),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Expanded(..) => {}
        }
    }
}

/// The text with its known `${NAME}` replaced, `None` if nothing was. What is put in is not looked
/// at again, so a value cannot smuggle in another name.
fn expanded(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    let mut changed = false;
    while let Some((before, after)) = rest.split_once(VARIABLE) {
        out.push_str(before);
        match after.split_once('}') {
            Some((name, tail)) if crate::secrets::is_variable_name(name) => {
                if let Some(value) = lookup(name) {
                    out.push_str(&value);
                    changed = true;
                } else {
                    out.push_str(VARIABLE);
                    out.push_str(name);
                    out.push('}');
                }
                rest = tail;
            }
            _ => {
                out.push_str(VARIABLE);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    changed.then_some(out)
}

/// A node as the parser hands it over.
struct Raw(Spanned<RawKind>);

enum RawKind {
    Leaf(Kind),
    List(Vec<Raw>),
    Map(Vec<(Spanned<Key>, Raw)>),
}

/// A map key: any scalar, kept as text.
struct Key(String);

impl From<Spanned<RawKind>> for Node {
    fn from(raw: Spanned<RawKind>) -> Node {
        let at = At::new(raw.referenced.line(), raw.referenced.column());
        let kind = match raw.value {
            RawKind::Leaf(kind) => kind,
            RawKind::List(items) => Kind::List(items.into_iter().map(|item| Node::from(item.0)).collect()),
            RawKind::Map(pairs) => Kind::Map(pairs.into_iter().map(Entry::from).collect()),
        };
        Node { at, kind }
    }
}

impl From<(Spanned<Key>, Raw)> for Entry {
    fn from((key, value): (Spanned<Key>, Raw)) -> Entry {
        let at = At::new(key.referenced.line(), key.referenced.column());
        Entry { key: key.value.0, at, value: Node::from(value.0) }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        Spanned::deserialize(deserializer).map(Raw)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        String::deserialize(deserializer).map(Key)
    }
}

impl<'de> Deserialize<'de> for RawKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawKind, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = RawKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<RawKind, E> {
        Ok(RawKind::Leaf(Kind::Null))
    }

    fn visit_none<E>(self) -> Result<RawKind, E> {
        Ok(RawKind::Leaf(Kind::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<RawKind, D::Error> {
        RawKind::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawKind, E> {
        Ok(RawKind::Leaf(Kind::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<RawKind, E> {
        Ok(RawKind::Leaf(Kind::Number(value.into())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<RawKind, E> {
        Ok(RawKind::Leaf(Kind::Number(value.into())))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<RawKind, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("not a finite number"))?;
        Ok(RawKind::Leaf(Kind::Number(number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<RawKind, E> {
        Ok(RawKind::Leaf(Kind::Text(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<RawKind, E> {
        Ok(RawKind::Leaf(Kind::Text(value)))
    }

    fn visit_bytes<E: serde::de::Error>(self, _: &[u8]) -> Result<RawKind, E> {
        Err(E::custom("binary values are not used in this file"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RawKind, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(RawKind::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<RawKind, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = pairs.next_key()? {
            map.push((key, pairs.next_value()?));
            if map.len() > MAX_NODES {
                return Err(A::Error::custom("too many keys"));
            }
        }
        Ok(RawKind::Map(map))
    }
}
