//! Finds known values in every spelling, also when blanks or line breaks run through them.
//!
//! First the text without white space is sampled ([`super::samples`]), which tells almost always that there is
//! nothing to find. Only otherwise is it gone through byte by byte. A text with written line breaks (`\n`) or
//! zero-width characters is read a second time without those.

use std::ops::Range;

use super::encode;
use super::samples::Samples;

/// How many first bytes of a spelling are looked up.
const GRAM: usize = 4;

/// Shortest spelling that is also looked for with blanks in it.
const SPLIT_FROM: usize = 8;

/// The spellings of all known values, ready to be looked for.
#[derive(Debug)]
pub(super) struct Known {
    /// Tells whether any spelling stands in a squeezed text.
    samples: Samples,
    /// Squeezed spellings by their first bytes, sorted.
    spellings: Vec<(u32, Vec<u8>)>,
}

impl Known {
    pub(super) fn new(values: &[String]) -> Self {
        let squeezed = |spelling: String| READINGS.map(|reading| squeeze(reading, spelling.as_bytes()));
        let mut spellings: Vec<(u32, Vec<u8>)> = values
            .iter()
            .flat_map(|value| encode::spellings(value))
            .flat_map(squeezed)
            .filter(|spelling| spelling.len() >= super::SHORTEST)
            .map(|spelling| (spelling.iter().take(GRAM).fold(0, |gram, byte| shift(gram, *byte)), spelling))
            .collect();
        spellings.sort_unstable();
        spellings.dedup();
        let samples = Samples::new(spellings.iter().map(|(_, spelling)| spelling.as_slice()));
        Self { samples, spellings }
    }

    /// Adds the places where a value stands.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        let text = text.as_bytes();
        if self.spellings.is_empty() {
            return;
        }
        if self.samples.stand_in(&squeeze(Reading::Plain, text)) {
            self.hits(text, found);
        }
        if has_escapes(text) {
            let squeezed = squeeze(Reading::Escaped, text);
            if self.samples.stand_in(&squeezed) {
                let mut hits = Vec::new();
                self.hits(&squeezed, &mut hits);
                place(&hits, text, found);
            }
        }
    }

    /// Where a spelling stands, white space aside.
    fn hits(&self, text: &[u8], found: &mut Vec<Range<usize>>) {
        let mut gram = 0;
        for (at, byte) in text.iter().enumerate().filter(|(_, byte)| !is_white(**byte)) {
            gram = shift(gram, *byte);
            if self.samples.knows(gram) {
                found.extend(self.around(gram, text, at));
            }
        }
    }

    /// What follows the first four bytes of the spellings that begin with `gram`.
    fn candidates(&self, gram: u32) -> impl Iterator<Item = &[u8]> {
        let from = self.spellings.partition_point(|(first, _)| *first < gram);
        let same = self
            .spellings
            .get(from..)
            .unwrap_or_default()
            .iter()
            .take_while(move |(first, _)| *first == gram);
        same.filter_map(|(_, spelling)| spelling.get(GRAM..))
    }

    /// The longest spelling whose first four bytes end at `at`.
    fn around(&self, gram: u32, text: &[u8], at: usize) -> Option<Range<usize>> {
        let (length, end) = self
            .candidates(gram)
            .filter_map(|rest| Some((rest.len() + GRAM, end(rest, text, at + 1)?)))
            .max_by_key(|(_, end)| *end)?;
        let (start, _) =
            text.get(..=at)?.iter().enumerate().rev().filter(|(_, byte)| !is_white(**byte)).nth(GRAM - 1)?;
        (length >= SPLIT_FROM || end - start == length).then_some(start..end)
    }
}

/// Where the rest of a spelling ends that begins at `at`, blanks aside.
fn end(rest: &[u8], text: &[u8], mut at: usize) -> Option<usize> {
    for want in rest {
        while text.get(at).is_some_and(|byte| is_white(*byte)) {
            at += 1;
        }
        if text.get(at) != Some(want) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// The last four bytes, after one more.
fn shift(gram: u32, byte: u8) -> u32 {
    (gram << 8) | u32::from(byte)
}

/// What counts as a blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// White space.
    Plain,
    /// Line breaks and tabs written with a backslash, and zero-width characters, too.
    Escaped,
}

const READINGS: [Reading; 2] = [Reading::Plain, Reading::Escaped];

/// The bytes that count.
fn squeeze(reading: Reading, text: &[u8]) -> Vec<u8> {
    let mut out = vec![0; text.len()];
    let mut length = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let plain = match reading {
            Reading::Plain => rest.len(),
            Reading::Escaped => memchr::memchr3(b'\\', 0xe2, 0xef, rest).unwrap_or(rest.len()),
        };
        let (part, tail) = rest.split_at(plain);
        // Every byte is stored; a blank is overwritten by the next one.
        for byte in part {
            if let Some(slot) = out.get_mut(length) {
                *slot = *byte;
            }
            length += usize::from(!is_white(*byte));
        }
        let width = blank(reading, tail);
        if let (0, Some(byte), Some(slot)) = (width, tail.first(), out.get_mut(length)) {
            *slot = *byte;
            length += 1;
        }
        rest = tail.get(width.max(1)..).unwrap_or_default();
    }
    out.truncate(length);
    out
}

fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether the second reading can differ from the first.
fn has_escapes(text: &[u8]) -> bool {
    let written = |letter: u8| memchr::memmem::find(text, &[b'\\', letter]).is_some();
    let zero_width = ["\u{200b}", "\u{200c}", "\u{200d}", "\u{feff}"];
    memchr::memchr(b'\\', text).is_some() && [b'n', b'r', b't', b'\n', b'\r'].into_iter().any(written)
        || zero_width.iter().any(|wide| memchr::memmem::find(text, wide.as_bytes()).is_some())
}

/// How many bytes a blank at the beginning of `text` has.
fn blank(reading: Reading, text: &[u8]) -> usize {
    match text {
        [byte, ..] if is_white(*byte) => 1,
        _ if reading == Reading::Plain => 0,
        [b'\\', b'n' | b'r' | b't' | b'\n' | b'\r', ..] => 2,
        [0xe2, 0x80, 0x8b..=0x8d, ..] | [0xef, 0xbb, 0xbf, ..] => 3,
        _ => 0,
    }
}

/// Finds in the text what was found in its squeezed bytes. Short values count only where nothing was dropped.
fn place(hits: &[Range<usize>], text: &[u8], found: &mut Vec<Range<usize>>) {
    let mut places = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match blank(Reading::Escaped, rest) {
            0 => {
                places.push(at);
                at += 1;
            }
            width => at += width,
        }
    }
    for hit in hits {
        if let (Some(first), Some(last)) = (places.get(hit.start), places.get(hit.end - 1)) {
            let whole = *last + 1 - first == hit.len();
            if hit.len() >= SPLIT_FROM || whole {
                found.push(*first..*last + 1);
            }
        }
    }
}
