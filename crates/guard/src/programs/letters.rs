//! `tr`: letters that become others, or go.

use std::collections::BTreeMap;

use super::encode::decoded;
use super::opts::{Spec, parse};
use crate::walk::{Call, Flow, Walk};

/// `tr set1 set2`, `tr -d set`.
pub(crate) fn translate(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec::default());
    let Some(text) = call.stdin.exact() else {
        let sets: Vec<&str> = parsed.rest().map(|arg| &*arg.text).collect();
        let rotates =
            matches!(sets.as_slice(), [from, to] if from.contains('-') && to.len() > 3 && !to.contains("[:"));
        let origin = if rotates { decoded(call.stdin.origin) } else { call.stdin.origin };
        return Flow { text: call.stdin.text.clone(), origin };
    };
    let from = Set::new(parsed.text(0));
    let to = Set::new(parsed.text(1)).letters;
    if !walk.spend(2 * text.len() + from.letters.len() + to.len()) {
        return Flow::none();
    }
    let places = from.places();
    let invert = parsed.has("c", "complement") || parsed.has("C", "");
    let (deletes, squeezes) = (parsed.has("d", "delete"), parsed.has("s", "squeeze-repeats"));
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        let at = places.get(&letter).copied();
        let listed = at.is_some() || from.holds_bytes_of(letter);
        if deletes {
            if listed == invert {
                out.push(letter);
            }
        } else if squeezes && to.is_empty() {
            if listed == invert || !out.ends_with(letter) {
                out.push(letter);
            }
        } else {
            out.push(match at {
                Some(at) if !invert => to.get(at).or(to.last()).copied().unwrap_or(letter),
                None if invert && !listed => to.last().copied().unwrap_or(letter),
                _ => letter,
            });
        }
    }
    let hides = !parsed.has("d", "")
        && parsed.text(0).contains('-')
        && !parsed.text(0).contains("[:")
        && to.len() > 3;
    let lowers = matches!((parsed.text(0), parsed.text(1)), ("A-Z", "a-z") | ("a-z", "A-Z"));
    let origin = if hides && !lowers { decoded(call.stdin.origin) } else { call.stdin.origin };
    Flow { text: Some(out.into()), origin }
}

/// A text with the letters of one set become those of another.
pub(crate) fn turned(text: &str, from: &str, to: &str) -> String {
    let mut places = BTreeMap::new();
    for (at, letter) in Set::new(from).letters.into_iter().enumerate() {
        places.entry(letter).or_insert(at);
    }
    let to = Set::new(to).letters;
    let letter = |letter: char| {
        let at = places.get(&letter).copied();
        at.and_then(|at| to.get(at).or(to.last()).copied()).unwrap_or(letter)
    };
    text.chars().map(letter).collect()
}

/// The characters of a set as `tr` reads it, in their order, and the bytes beyond ASCII that are given by
/// their numbers: a letter of several bytes is in the set when all of them are.
struct Set {
    letters: Vec<char>,
    bytes: Option<(u8, u8)>,
}

/// A letter of a set as it is written.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Letter(char),
    /// `\200` and up: a byte, not a letter.
    Byte(u8),
}

const CLASSES: [(&str, &str); 12] = [
    ("[:upper:]", "A-Z"),
    ("[:lower:]", "a-z"),
    ("[:digit:]", "0-9"),
    ("[:alpha:]", "A-Za-z"),
    ("[:alnum:]", "A-Za-z0-9"),
    ("[:xdigit:]", "0-9A-Fa-f"),
    ("[:space:]", " \t\n\r"),
    ("[:blank:]", " \t"),
    ("[:punct:]", "!-/:-@[-`{-~"),
    ("[:print:]", " -~"),
    ("[:graph:]", "!-~"),
    ("[:cntrl:]", "\u{1}-\u{1f}\u{7f}"),
];

impl Set {
    fn new(text: &str) -> Self {
        let mut text = text.to_owned();
        if text.contains("[:") {
            for (class, letters) in CLASSES {
                text = text.replace(class, letters);
            }
        }
        let units = units(&text);
        let mut set = Self { letters: Vec::new(), bytes: None };
        let mut at = 0;
        while let Some(unit) = units.get(at) {
            match (units.get(at + 1), units.get(at + 2)) {
                (Some(Unit::Letter('-')), Some(high)) if high.number() >= unit.number() => {
                    set.add(*unit, *high);
                    at += 3;
                }
                _ => {
                    set.add(*unit, *unit);
                    at += 1;
                }
            }
        }
        set
    }

    fn add(&mut self, low: Unit, high: Unit) {
        let last = match high {
            Unit::Letter(letter) => letter,
            Unit::Byte(_) => '\u{7f}',
        };
        if let Unit::Letter(first) = low {
            self.letters.extend((first..=last).take(256));
        }
        if let Unit::Byte(to) = high {
            let from = if let Unit::Byte(from) = low { from } else { 0x80 };
            self.bytes = Some(self.bytes.map_or((from, to), |(low, high)| (low.min(from), high.max(to))));
        }
    }

    /// Where each letter stands, the last time.
    fn places(&self) -> BTreeMap<char, usize> {
        self.letters.iter().enumerate().map(|(at, letter)| (*letter, at)).collect()
    }

    fn holds_bytes_of(&self, letter: char) -> bool {
        self.bytes.is_some_and(|(low, high)| {
            !letter.is_ascii()
                && letter.encode_utf8(&mut [0; 4]).bytes().all(|byte| (low..=high).contains(&byte))
        })
    }
}

impl Unit {
    fn number(self) -> u32 {
        match self {
            Self::Letter(letter) => u32::from(letter),
            Self::Byte(byte) => u32::from(byte),
        }
    }
}

/// The letters of a set, escapes decoded; NUL is one of them.
fn units(text: &str) -> Vec<Unit> {
    let mut out = Vec::new();
    let mut letters = text.chars().take(512).peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(Unit::Letter(letter));
            continue;
        }
        let mut value = None;
        for _ in 0..3 {
            let Some(digit) = letters.peek().and_then(|c| c.to_digit(8)) else { break };
            letters.next();
            value = Some(value.unwrap_or(0) * 8 + digit);
        }
        out.push(match value.map(|value| u8::try_from(value & 0xff).unwrap_or_default()) {
            Some(byte) if byte.is_ascii() => Unit::Letter(char::from(byte)),
            Some(byte) => Unit::Byte(byte),
            None => Unit::Letter(match letters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('a') => '\u{7}',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('v') => '\u{b}',
                Some(other) => other,
                None => '\\',
            }),
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(set: &str, text: &str) -> String {
        let set = Set::new(set);
        let places = set.places();
        text.chars().filter(|c| places.contains_key(c) || set.holds_bytes_of(*c)).collect()
    }

    #[test]
    fn a_set_holds_its_ranges_classes_and_numbers() {
        assert_eq!(kept(r"\0-\177", "r\u{200b}m\n"), "rm\n");
        assert_eq!(kept("[:print:]", "r\u{200b}m\n"), "rm");
        assert_eq!(kept(r"\200-\377", "r\u{200b}\u{e9}m"), "\u{200b}\u{e9}");
        assert_eq!(kept("a-c-", "abcd-"), "abc-");
        assert_eq!(kept("[:punct:]", "a[b]~"), "[]~");
        assert_eq!(kept(r"\\\n", "a\\b\n"), "\\\n");
    }

    #[test]
    fn letters_become_the_ones_at_their_place() {
        assert_eq!(turned("ql -qe", "a-y", "b-z"), "rm -rf");
        assert_eq!(turned("abc", "a-c", "x"), "xxx");
    }
}
