//! Finding a block of lines in a file, from the strictest reading to the loosest.
//!
//! Every reading compares whole lines one to one: no line of the block is passed over, and none
//! is taken for another. What differs is only which blanks and typography count.

use std::borrow::Cow;
use std::ops::Range;

use super::fold::Fold;
use super::indent::Indents;
use super::lines::Line;

/// How loosely lines are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Character by character.
    Exact,
    /// Blanks at the end of lines do not count.
    LineEnds,
    /// The block as a whole stands further left or right.
    Shifted,
    /// Blanks at both ends of lines do not count.
    Trimmed,
    /// Nor does typography.
    Typography(Fold),
    /// Nor how many blanks there are between words.
    Runs(Fold),
    /// Some lines are spelled in another way; see [`super::alike`].
    Alike,
}

/// Every reading that compares line by line, the strictest first. The one for characters that cannot be shown is used only
/// where somebody wrote such a sign.
pub const READINGS: [Reading; 10] = [
    Reading::Exact,
    Reading::LineEnds,
    Reading::Shifted,
    Reading::Trimmed,
    Reading::Typography(Fold::Plain),
    Reading::Typography(Fold::DoubleDash),
    Reading::Typography(Fold::Unknown),
    Reading::Runs(Fold::Plain),
    Reading::Runs(Fold::DoubleDash),
    Reading::Runs(Fold::Unknown),
];

impl Reading {
    /// What is ignored, in words; nothing for the exact one.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::Exact => None,
            Self::LineEnds => Some("blanks at line ends"),
            Self::Shifted | Self::Trimmed => Some("indentation"),
            Self::Typography(_) => Some("typography (quotes, dashes, special spaces)"),
            Self::Runs(_) => Some("how many blanks there are"),
            Self::Alike => Some("small differences; check in the diff that nothing else was lost"),
        }
    }

    /// Whether it could find anything that stricter ones did not.
    pub fn worth_trying(self, block: &[&str], ascii_file: bool) -> bool {
        let ascii = ascii_file && block.iter().all(|line| line.is_ascii());
        match self {
            Self::Typography(Fold::Unknown) | Self::Runs(Fold::Unknown) => {
                block.iter().any(|line| line.contains('\u{FFFD}'))
            }
            Self::Typography(_) | Self::Runs(Fold::DoubleDash) => !ascii,
            _ => true,
        }
    }

    /// What typography counts as the same.
    pub fn fold(self) -> Fold {
        match self {
            Self::Typography(fold) | Self::Runs(fold) => fold,
            Self::Alike => Fold::Plain,
            _ => Fold::Nothing,
        }
    }

    /// Whether blanks between words are one.
    pub fn runs(self) -> bool {
        matches!(self, Self::Runs(_) | Self::Alike)
    }

    /// What counts of a line.
    pub(super) fn key(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::Exact => Cow::Borrowed(line),
            Self::LineEnds => Cow::Borrowed(line.trim_end()),
            Self::Shifted | Self::Trimmed => Cow::Borrowed(line.trim()),
            Self::Typography(fold) if line.is_ascii() || fold == Fold::Nothing => Cow::Borrowed(line.trim()),
            Self::Typography(fold) => Cow::Owned(fold.text(line).trim().to_owned()),
            Self::Runs(fold) => Cow::Owned(folded_runs(&fold.text(line))),
            Self::Alike => Cow::Owned(folded_runs(&Fold::Plain.text(line))),
        }
    }
}

impl Reading {
    /// Whether a line of the file has this key; quick where it has not.
    fn same(self, line: &str, key: &str) -> bool {
        match self {
            Self::Exact => line == key,
            _ if line.len() < key.len() && line.is_ascii() => false,
            Self::Runs(_) if line.is_ascii() => {
                let begins = |line: &str| line.as_bytes().first() == key.as_bytes().first();
                begins(line.trim_start()) && line.split_ascii_whitespace().eq(key.split(' '))
            }
            _ => self.key(line) == key,
        }
    }
}

fn folded_runs(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// Where in the file a block of lines is, by the first line of each place.
///
/// Only lines of `within` are looked at. A block without a single word on it is found nowhere.
pub fn find(file: &[Line<'_>], block: &[&str], reading: Reading, within: Range<usize>) -> Vec<usize> {
    let keys: Vec<_> = block.iter().map(|line| reading.key(line)).collect();
    // The longest line is the one that rules out most places at once.
    let Some((at, anchor)) = keys.iter().enumerate().max_by_key(|(_, key)| key.len()) else {
        return Vec::new();
    };
    if anchor.trim().is_empty() {
        return Vec::new();
    }
    let Some(last) = within.end.min(file.len()).checked_sub(block.len()) else { return Vec::new() };
    let same = |line: Option<&Line<'_>>, key: &str| line.is_some_and(|line| reading.same(line.text, key));
    let matches = |first: &usize| {
        same(file.get(first + at), anchor)
            && keys.iter().enumerate().all(|(n, key)| same(file.get(first + n), key))
            && (reading != Reading::Shifted || shifted(file, block, *first))
    };
    (within.start..=last).filter(matches).collect()
}

fn shifted(file: &[Line<'_>], block: &[&str], first: usize) -> bool {
    let there: Vec<_> = file.iter().skip(first).take(block.len()).map(|line| line.text).collect();
    Indents::learn(block, &there).consistent()
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines;
    use super::*;

    fn found(file: &str, block: &[&str]) -> Option<(Reading, Vec<usize>)> {
        let file = lines(file);
        READINGS.into_iter().find_map(|reading| {
            let places = find(&file, block, reading, 0..file.len());
            (!places.is_empty()).then_some((reading, places))
        })
    }

    #[test]
    fn the_strictest_reading_that_finds_anything_decides() {
        assert_eq!(found("a\nb\na \nb\n", &["a", "b"]), Some((Reading::Exact, vec![0])));
        assert_eq!(found("a \nb\n", &["a", "b"]), Some((Reading::LineEnds, vec![0])));
        assert_eq!(found("  a\n    b\n", &["a", "  b"]), Some((Reading::Shifted, vec![0])));
        assert_eq!(found("  a\n    b\n", &["a", "b"]), Some((Reading::Trimmed, vec![0])));
        assert_eq!(found("“a”\n", &["\"a\""]), Some((Reading::Typography(Fold::Plain), vec![0])));
        assert_eq!(found("a   b\n", &["a b"]), Some((Reading::Runs(Fold::Plain), vec![0])));
    }

    #[test]
    fn similar_is_not_the_same() {
        assert_eq!(found("one\ntwo\nthree\n", &["one", "two!", "three"]), None);
        assert_eq!(found("one\nthree\n", &["one", "two", "three"]), None);
        assert_eq!(found("\n\n", &["", ""]), None);
    }

    #[test]
    fn every_place_is_found_and_only_within_the_range() {
        let file = lines("x\ny\nx\ny\nx\n");

        assert_eq!(find(&file, &["x"], Reading::Exact, 0..5), [0, 2, 4]);
        assert_eq!(find(&file, &["x", "y"], Reading::Exact, 1..5), [2]);
        assert_eq!(find(&file, &["x", "y"], Reading::Exact, 0..3), [0]);
    }
}
