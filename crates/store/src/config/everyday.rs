//! The YAML that people write in a configuration, read in one pass: keys and values, lists, texts with and
//! without quotes. A start reads the file before it does anything, and a full YAML parser costs a file with
//! some servers in it more than all the rest of a small command.
//!
//! Whatever goes beyond that is declined, and so is everything that is wrong: the full parser (`tree.rs`)
//! then says what it is. What is not declined is read exactly as the full parser reads it.

use std::collections::HashSet;

use serde_json::Number;

use super::tree::{At, Entry, Kind, Node};

/// Deeper or larger files are left to the parser that has limits of its own.
const MAX_DEPTH: usize = 16;
const MAX_LINES: usize = 20_000;

/// From this many keys on, repeated ones are looked for in a set.
const MANY_KEYS: usize = 32;

/// Words that are no texts, or are not for every reader.
const WORDS: [&str; 12] =
    ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan", "infinity"];

/// The tree of a file that uses nothing else.
pub(super) fn parse(text: &str) -> Option<Node> {
    // Other letters that may end a line, or stand before the first one.
    let odd = ['\u{85}', '\u{2028}', '\u{2029}', '\u{feff}'];
    let is_odd = !text.is_ascii() && text.contains(odd);
    // All of them are counted: without an early end many are looked at at a time.
    let controls = text.bytes().filter(|byte| byte.is_ascii_control() && *byte != b'\n').count();
    if is_odd || controls > 0 {
        return None;
    }
    let mut lines = Vec::with_capacity(text.bytes().filter(|byte| *byte == b'\n').count() + 1);
    lines.extend(text.split('\n').zip(1..).filter_map(|(line, number)| Line::of(line, number)));
    let first = lines.first().filter(|_| lines.len() <= MAX_LINES)?.indent;
    let mut file = File { lines, next: 0 };
    let root = file.map(first, 0)?;
    (file.next == file.lines.len()).then_some(root)
}

/// A line that says something.
#[derive(Clone, Copy)]
struct Line<'t> {
    number: u64,
    /// How many spaces stand before it.
    indent: usize,
    text: &'t str,
}

impl<'t> Line<'t> {
    fn of(line: &'t str, number: u64) -> Option<Self> {
        let text = line.trim_start_matches(' ');
        if text.is_empty() || text.starts_with('#') {
            return None;
        }
        Some(Self { number, indent: line.len() - text.len(), text: text.trim_end_matches(' ') })
    }

    fn is_item(&self) -> bool {
        self.text == "-" || self.text.starts_with("- ")
    }

    /// Where `part`, which is a part of it, begins.
    fn at(&self, part: &str) -> At {
        let before = self.text.len() - part.len();
        let before = self.text.get(..before).filter(|_| before > 0).map_or(before, |it| it.chars().count());
        At::new(self.number, (self.indent + before + 1) as u64)
    }

    /// The same line from `part` on.
    fn from(&self, part: &'t str) -> Self {
        Self { indent: self.indent + self.text.len() - part.len(), text: part, ..*self }
    }

    /// The key that it begins with, and what follows.
    fn key(&self) -> Option<(&'t str, &'t str)> {
        let (key, rest) = self.text.split_once(':')?;
        let mut letters = key.bytes();
        let begins = letters.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_');
        let plain = letters.all(|it| it.is_ascii_alphanumeric() || b"_-./".contains(&it));
        let ends = rest.is_empty() || rest.starts_with(' ');
        (begins && plain && ends && !is_word(key)).then(|| (key, rest.trim_start_matches(' ')))
    }
}

struct File<'t> {
    lines: Vec<Line<'t>>,
    next: usize,
}

impl<'t> File<'t> {
    fn line(&self) -> Option<Line<'t>> {
        self.lines.get(self.next).copied()
    }

    fn map(&mut self, indent: usize, depth: usize) -> Option<Node> {
        let at = self.line().map(|line| line.at(line.text)).filter(|_| depth < MAX_DEPTH)?;
        let mut entries: Vec<Entry> = Vec::new();
        while let Some(line) = self.line().filter(|line| line.indent == indent && !line.is_item()) {
            let (key, rest) = line.key()?;
            self.next += 1;
            let value = if is_rest(rest) {
                self.below(indent, depth)?
            } else {
                let value = scalar(line, rest)?;
                self.ends(indent)?;
                value
            };
            entries.push(Entry { key: key.to_owned(), at: line.at(line.text), value });
        }
        has_no_repeats(&entries).then_some(Node { at, kind: Kind::Map(entries) })
    }

    /// What stands below a key.
    fn below(&mut self, indent: usize, depth: usize) -> Option<Node> {
        let line = self.line()?;
        match line.is_item() {
            true if line.indent > indent => self.list(line.indent, depth + 1),
            true if line.indent == indent => self.list_below_key(indent, depth + 1),
            false if line.indent > indent => self.map(line.indent, depth + 1),
            // A key without a value.
            _ => None,
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Option<Node> {
        let at = self.line().map(|line| line.at(line.text)).filter(|_| depth < MAX_DEPTH)?;
        let mut items = Vec::new();
        while let Some(line) = self.line().filter(|line| line.indent == indent && line.is_item()) {
            let item = line.text.strip_prefix("- ")?.trim_start_matches(' ');
            let inner = line.from(item);
            if inner.key().is_some() {
                // The first key of a map stands on the line of its dash.
                *self.lines.get_mut(self.next)? = inner;
                items.push(self.map(inner.indent, depth + 1)?);
                continue;
            }
            self.next += 1;
            items.push(scalar(line, item)?);
            self.ends(indent)?;
        }
        Some(Node { at, kind: Kind::List(items) })
    }

    /// A list that is not further in than its key. The full parser has it begin with its first item.
    fn list_below_key(&mut self, indent: usize, depth: usize) -> Option<Node> {
        let mut list = self.list(indent, depth)?;
        if let Kind::List(items) = &list.kind {
            list.at = items.first()?.at;
        }
        Some(list)
    }

    /// Whether the line that was read ends what stands on it: one that follows further in goes on with it.
    fn ends(&self, indent: usize) -> Option<()> {
        self.line().is_none_or(|next| next.indent <= indent).then_some(())
    }
}

/// Whether nothing but a remark is left of a line.
fn is_rest(text: &str) -> bool {
    text.is_empty() || text.starts_with('#')
}

/// A value that stands on one line, with nothing but a remark behind it.
fn scalar(line: Line<'_>, text: &str) -> Option<Node> {
    let (kind, rest) = match text.as_bytes().first()? {
        b'"' | b'\'' => quoted(text)?,
        b'[' => list_in_brackets(line, text)?,
        b'{' => (Kind::Map(Vec::new()), text.strip_prefix("{}")?),
        _ => {
            let plain = text.split_once(" #").map_or(text, |(plain, _)| plain).trim_end_matches(' ');
            (plain_kind(plain)?, text.get(plain.len()..)?)
        }
    };
    let apart = rest.trim_start_matches(' ');
    let remark = apart.is_empty() || (apart.starts_with('#') && apart.len() < rest.len());
    remark.then(|| Node { at: line.at(text), kind })
}

/// A text in quotes in which nothing has to be replaced, and what follows.
fn quoted(text: &str) -> Option<(Kind, &str)> {
    let (quote, after) = text.as_bytes().split_first()?;
    // Most are short: going byte by byte finds the end sooner than getting ready for long ones.
    let end = after.iter().position(|byte| byte == quote)? + 1;
    let (inside, rest) = (text.get(1..end)?, text.get(end + 1..)?);
    // In double quotes a backslash has a meaning, in single ones a second quote.
    let plain = if *quote == b'"' { !inside.bytes().any(|it| it == b'\\') } else { !rest.starts_with('\'') };
    plain.then(|| (Kind::Text(inside.to_owned()), rest))
}

/// `[a, "b"]`, and what follows.
fn list_in_brackets<'t>(line: Line<'_>, text: &'t str) -> Option<(Kind, &'t str)> {
    let mut items = Vec::new();
    let mut rest = text.get(1..)?.trim_start_matches(' ');
    if let Some(rest) = rest.strip_prefix(']') {
        return Some((Kind::List(items), rest));
    }
    // Each is counted from the one before: a list may be long.
    let (mut at, mut seen) = (line.at(rest), rest);
    loop {
        let further = seen.get(..seen.len() - rest.len())?.chars().count() as u64;
        (at, seen) = (At::new(at.line(), at.column() + further), rest);
        let (kind, after) = match rest.as_bytes().first()? {
            b'"' | b'\'' => quoted(rest)?,
            _ => {
                let end = rest.find([',', ']'])?;
                let (plain, after) = rest.split_at_checked(end)?;
                let plain = plain.trim_end_matches(' ');
                if plain.contains(['[', '{', '}', ':', '#', '"', '\'']) {
                    return None;
                }
                (plain_kind(plain)?, after)
            }
        };
        items.push(Node { at, kind });
        let after = after.trim_start_matches(' ');
        match after.as_bytes().first()? {
            b',' => rest = after.get(1..)?.trim_start_matches(' '),
            b']' => return Some((Kind::List(items), after.get(1..)?)),
            _ => return None,
        }
    }
}

/// What a text without quotes stands for, where all readers agree.
fn plain_kind(text: &str) -> Option<Kind> {
    let is_key = text.contains(": ") || text.ends_with(':');
    let mut bytes = text.bytes();
    let (first, second) = (bytes.next()?, bytes.next());
    if is_key || text.contains('\t') {
        return None;
    }
    let is_text = match first {
        b'0'..=b'9' => return number(text),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => match text {
            "true" => return Some(Kind::Bool(true)),
            "false" => return Some(Kind::Bool(false)),
            word => !is_word(word),
        },
        b'/' | b'$' => true,
        b'~' => second == Some(b'/'),
        b'.' => second.is_some_and(|it| matches!(it, b'/')) || text.starts_with("../"),
        b'-' => second.is_some_and(|it| it == b'-' || it.is_ascii_alphabetic()) && !text.ends_with("inf"),
        _ => false,
    };
    is_text.then(|| Kind::Text(text.to_owned()))
}

/// A number as everybody writes it.
fn number(text: &str) -> Option<Kind> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    if !digits(whole) || text.len() > 15 || (whole.starts_with('0') && whole != "0") {
        return None;
    }
    if whole == text {
        return text.parse::<u64>().ok().map(|it| Kind::Number(it.into()));
    }
    let fraction = text.split_once('.').is_some_and(|(_, fraction)| digits(fraction));
    let value = text.parse().ok().filter(|_| fraction).and_then(Number::from_f64)?;
    Some(Kind::Number(value))
}

fn is_word(text: &str) -> bool {
    text.len() <= 8 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn has_no_repeats(entries: &[Entry]) -> bool {
    if entries.len() > MANY_KEYS {
        let mut seen = HashSet::with_capacity(entries.len());
        return entries.iter().all(|entry| seen.insert(entry.key.as_str()));
    }
    let before = |at: usize| entries.get(..at).unwrap_or_default();
    !entries.iter().enumerate().any(|(at, entry)| before(at).iter().any(|it| it.key == entry.key))
}

#[cfg(test)]
#[path = "everyday_tests.rs"]
mod tests;
