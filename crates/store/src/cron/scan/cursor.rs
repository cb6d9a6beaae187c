//! A place in a text of JSON: values are passed over from quote to quote, eight bytes at a time, or taken
//! where they are wanted. What is passed over must be JSON all the same.

use std::ops::Range;

use memchr::memchr2;
use serde::de::IgnoredAny;

/// Deeper nesting is not followed.
const MAX_DEPTH: usize = 100;

/// What should stand where something else does.
pub(super) type Wanted = &'static str;

/// A text of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cron) enum Word {
    /// It stands there as it is.
    Here(Range<usize>),
    /// It was written in another way.
    Told(String),
}

impl Word {
    pub(in crate::cron) fn of<'a>(&'a self, text: &'a str) -> &'a str {
        match self {
            Self::Here(range) => text.get(range.clone()).unwrap_or_default(),
            Self::Told(word) => word,
        }
    }
}

/// A place in the text.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

/// A text between quotes, and whether it is written with escapes.
pub(super) struct Quoted<'a> {
    pub(super) inside: &'a str,
    begin: usize,
    escaped: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Calls for each member of an object, whose value has to be taken.
    pub(super) fn members(
        &mut self,
        mut each: impl FnMut(&mut Self, Quoted<'a>) -> Result<(), Wanted>,
    ) -> Result<(), Wanted> {
        self.expect(b'{', "`{`")?;
        if self.took(b'}') {
            return Ok(());
        }
        loop {
            let name = self.quoted()?;
            self.expect(b':', "`:`")?;
            each(self, name)?;
            if !self.took(b',') {
                return self.expect(b'}', "`}`");
            }
        }
    }

    /// Calls for each item of a list, which has to be taken.
    pub(super) fn items(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), Wanted>,
    ) -> Result<(), Wanted> {
        self.expect(b'[', "`[`")?;
        if self.took(b']') {
            return Ok(());
        }
        loop {
            each(self)?;
            if !self.took(b',') {
                return self.expect(b']', "`]`");
            }
        }
    }

    /// Passes over a value.
    pub(super) fn pass(&mut self, depth: usize) -> Result<(), Wanted> {
        match self.next() {
            Some(b'n') => self.literal(b"null"),
            Some(b'"') => self.quoted().map(drop),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'{' | b'[') if depth >= MAX_DEPTH => Err("less depth"),
            Some(b'{') => self.members(|at, _| at.pass(depth + 1)),
            Some(b'[') => self.items(|at| at.pass(depth + 1)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err("a value"),
        }
    }

    fn literal<const N: usize>(&mut self, word: &[u8; N]) -> Result<(), Wanted> {
        if self.rest().first_chunk() != Some(word) {
            return Err("a value");
        }
        self.at += N;
        Ok(())
    }

    fn number(&mut self) -> Result<(), Wanted> {
        let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let end = self.at + self.rest().iter().take_while(is_part).count();
        let number = self.text.get(self.at..end).unwrap_or_default();
        let is_digit = matches!(number.as_bytes(), [b'0'..=b'9']);
        if !is_digit && serde_json::from_str::<IgnoredAny>(number).is_err() {
            return Err("a number");
        }
        self.at = end;
        Ok(())
    }

    /// A text; nothing for `null`.
    pub(super) fn maybe_word(&mut self) -> Result<Option<Word>, Wanted> {
        if self.next() == Some(b'n') {
            return self.literal(b"null").map(|()| None);
        }
        word(&self.quoted()?).map(Some)
    }

    /// `true` or `false`; nothing for `null`.
    pub(super) fn maybe_yes(&mut self) -> Result<Option<bool>, Wanted> {
        match self.next() {
            Some(b't') => self.literal(b"true").map(|()| Some(true)),
            Some(b'f') => self.literal(b"false").map(|()| Some(false)),
            Some(b'n') => self.literal(b"null").map(|()| None),
            _ => Err("`true` or `false`"),
        }
    }

    /// The text between quotes that stands here.
    fn quoted(&mut self) -> Result<Quoted<'a>, Wanted> {
        self.expect(b'"', "a text")?;
        let (begin, mut escaped) = (self.at, false);
        loop {
            self.at += stop(self.rest()).ok_or("a closing quote")?;
            let rest = self.rest();
            if rest.first() == Some(&b'"') {
                let inside = self.text.get(begin..self.at).unwrap_or_default();
                self.at += 1;
                return Ok(Quoted { inside, begin, escaped });
            }
            escaped = true;
            let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
            self.at += match rest.get(1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                Some(b'u') if rest.get(2..6).is_some_and(is_hex) => 6,
                _ => return Err("an escape"),
            };
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// The next byte that is no space.
    pub(super) fn next(&mut self) -> Option<u8> {
        loop {
            let rest = self.rest();
            match rest.first() {
                Some(b'\n' | b' ') => self.at += 1 + spaces(rest),
                Some(b'\r' | b'\t') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    fn took(&mut self, byte: u8) -> bool {
        let there = self.next() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8, wanted: Wanted) -> Result<(), Wanted> {
        if self.took(byte) { Ok(()) } else { Err(wanted) }
    }

    pub(super) fn line(&self) -> usize {
        self.text.bytes().take(self.at).filter(|byte| *byte == b'\n').count() + 1
    }
}

/// A text between quotes as it is meant.
pub(super) fn word(quoted: &Quoted<'_>) -> Result<Word, Wanted> {
    if !quoted.escaped {
        return Ok(Word::Here(quoted.begin..quoted.begin + quoted.inside.len()));
    }
    serde_json::from_str(&format!("\"{}\"", quoted.inside)).map(Word::Told).map_err(|_| "a text")
}

/// How many bytes follow the first one that are spaces, eight at a time at most.
fn spaces(rest: &[u8]) -> usize {
    let Some(eight) = rest.get(1..).and_then(<[u8]>::first_chunk) else { return 0 };
    (u64::from_le_bytes(*eight) ^ every(b' ')).trailing_zeros() as usize / 8
}

/// Where the next quote or backslash is. Most are near: the first bytes are looked at eight at a time, and
/// only a long text is worth to begin in earnest.
fn stop(rest: &[u8]) -> Option<usize> {
    let (eights, _) = rest.get(..NEAR).unwrap_or_default().as_chunks::<8>();
    for (at, eight) in eights.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        let found = holds(eight, b'"') | holds(eight, b'\\');
        if found != 0 {
            return Some(at * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let far = eights.len() * 8;
    memchr2(b'"', b'\\', rest.get(far..)?).map(|at| far + at)
}

/// What is near.
const NEAR: usize = 32;

/// Eight times the same byte.
const fn every(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Whether a byte is among eight: the lowest bit that is set stands in the first of them.
const fn holds(eight: u64, byte: u8) -> u64 {
    let differs = eight ^ every(byte);
    differs.wrapping_sub(every(1)) & !differs & every(0x80)
}
