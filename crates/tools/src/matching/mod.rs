//! Replacing a piece of text in a file by another: found exactly where that is possible, else by
//! a few readings that only pass over blanks and typography, and at last by nearly all its lines.
//!
//! - [`lines`]: lines and how they end
//! - [`fold`], [`indent`]: typography and indentation, there and back
//! - [`find`]: the readings, strictest first
//! - [`alike`]: the last resort, for a block that is there but for small differences
//! - [`rewrite`]: an edit written into the file's own lines
//! - [`near`]: what to show when nothing was found
//!
//! Pure. A piece must be found in exactly one place, unless all are wanted; a block that merely has
//! the same shape is never touched.

pub mod alike;
pub mod find;
pub mod fold;
pub mod indent;
pub mod lines;
pub mod near;
pub mod rewrite;

use std::borrow::Cow;
use std::ops::Range;

use find::{READINGS, Reading};
use fold::{Fold, Folded};
use lines::{Ends, Flat, Line, unix};
use near::Section;
use rewrite::{Found, keeping, steps};

/// An edit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The whole text after it.
    pub text: String,
    /// How many places were changed.
    pub places: usize,
    /// What had to be ignored to find them, in words.
    pub ignoring: Option<&'static str>,
}

/// Why no edit was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// There is nothing to look for.
    Empty,
    /// Old and new are the same.
    Same,
    /// The file would not be changed: it says the new thing already.
    Unchanged,
    /// It is nowhere.
    Nowhere {
        /// What comes nearest.
        near: Vec<Section>,
    },
    /// It is in several places, with these line numbers.
    Several {
        /// Line numbers, counted from 1.
        lines: Vec<usize>,
    },
}

/// Whether one place is wanted or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Places {
    /// Exactly one.
    One,
    /// As many as there are.
    All,
}

/// Replaces `old` by `new` in a text.
pub fn replace(text: &str, old: &str, new: &str, places: Places) -> Result<Edit, Miss> {
    // A mark that files may begin with is no text; the file's own is not part of `text`.
    let bare = |text| str::strip_prefix(text, '\u{FEFF}').unwrap_or(text);
    let (old, new) = (bare(old), bare(new));
    if old.is_empty() {
        return Err(Miss::Empty);
    }
    if old == new {
        return Err(Miss::Same);
    }
    let ends = Ends::of(text);
    let flat = Flat::of(text, ends);
    // Line ends of the model's own count only where neither the file nor the old text has such.
    let old = unix(old);
    let new =
        if ends == Ends::Unix && matches!(old, Cow::Borrowed(_)) { Cow::Borrowed(new) } else { unix(new) };
    let haystack = Haystack { text, flat, ends };
    let edit = haystack.attempt(&old, &new, places)?;
    let edit = match edit {
        Some(edit) => Some(edit),
        None => haystack.decoded(&old, &new, places)?.or_else(|| haystack.alike(&old, &new)),
    };
    match edit {
        None => Err(haystack.nowhere(&old)),
        Some(edit) if edit.text == text => Err(Miss::Unchanged),
        Some(edit) => Ok(edit),
    }
}

/// What is searched.
struct Haystack<'a> {
    text: &'a str,
    flat: Flat<'a>,
    ends: Ends,
}

impl Haystack<'_> {
    /// Everything that reads the old text as it is.
    fn attempt(&self, old: &str, new: &str, places: Places) -> Result<Option<Edit>, Miss> {
        if let Some(edit) = self.exact(old, new, places)? {
            return Ok(Some(edit));
        }
        // Over several lines, typography is better kept line by line.
        let piece = !old.contains('\n');
        if piece && let Some(edit) = self.typography(old, new, places)? {
            return Ok(Some(edit));
        }
        let file = lines::lines(&self.flat.text);
        let wanted = Wanted::of(old, new);
        if let Some(edit) = self.by_lines(&file, &wanted, places)? {
            return Ok(Some(edit));
        }
        if let Some(inner) = wanted.without_outer_blanks()
            && let Some(edit) = self.by_lines(&file, &inner, places)?
        {
            return Ok(Some(edit));
        }
        if piece { self.runs(old, new, places) } else { self.typography(old, new, places) }
    }

    /// A piece of a line that differs from the file only in how many blanks it has.
    fn runs(&self, old: &str, new: &str, places: Places) -> Result<Option<Edit>, Miss> {
        let blanks = [' ', '\t'];
        let piece = old.trim_matches(blanks);
        if !piece.contains(blanks) {
            return Ok(None);
        }
        // What is around the piece in the old text is around the new one, too.
        let (before, after) = old.split_once(piece).unwrap_or_default();
        let new = new.strip_prefix(before).unwrap_or(new);
        let new = new.strip_suffix(after).unwrap_or(new);
        let flat = self.flat.text.as_ref();
        let folded = Folded::runs(flat);
        let found = occurrences(&folded.text, &Folded::runs(piece).text, places);
        let found: Vec<_> = found.into_iter().filter_map(|range| folded.original(range, flat)).collect();
        let reading = Reading::Runs(Fold::Nothing);
        self.spliced(&found, places, reading.words(), |range| {
            Cow::Owned(keeping(piece, new, flat.get(range).unwrap_or_default(), reading))
        })
    }

    fn exact(&self, old: &str, new: &str, places: Places) -> Result<Option<Edit>, Miss> {
        let found = occurrences(&self.flat.text, old, places);
        self.spliced(&found, places, None, |_| Cow::Borrowed(new))
    }

    /// Pieces of lines that differ from the file only in typography.
    fn typography(&self, old: &str, new: &str, places: Places) -> Result<Option<Edit>, Miss> {
        let flat = self.flat.text.as_ref();
        if old.trim().is_empty() || (old.is_ascii() && flat.is_ascii()) {
            return Ok(None);
        }
        for fold in [Fold::Plain, Fold::DoubleDash, Fold::Unknown] {
            let reading = Reading::Typography(fold);
            if !reading.worth_trying(&[old], flat.is_ascii()) {
                continue;
            }
            let folded = Folded::of(flat, fold);
            let found = occurrences(&folded.text, &fold.text(old), places);
            let found: Vec<_> = found.into_iter().filter_map(|range| folded.original(range, flat)).collect();
            let edit = self.spliced(&found, places, reading.words(), |range| {
                Cow::Owned(keeping(old, new, flat.get(range).unwrap_or_default(), reading))
            })?;
            if edit.is_some() {
                return Ok(edit);
            }
        }
        Ok(None)
    }

    /// Puts new text in place of ranges of the flat text.
    fn spliced<'n>(
        &self,
        found: &[Range<usize>],
        places: Places,
        ignoring: Option<&'static str>,
        new: impl Fn(Range<usize>) -> Cow<'n, str>,
    ) -> Result<Option<Edit>, Miss> {
        if found.is_empty() {
            return Ok(None);
        }
        if found.len() > 1 && places == Places::One {
            let flat = self.flat.text.as_ref();
            return Err(Miss::Several {
                lines: found.iter().map(|range| line_number(flat, range.start)).collect(),
            });
        }
        let mut text = String::with_capacity(self.text.len());
        let mut done = 0;
        for range in found {
            let (range, new) = self.changed_part(range.clone(), new(range.clone()));
            let start = self.flat.original(range.start);
            text.push_str(self.text.get(done..start).unwrap_or_default());
            match self.ends.at(self.text, start) {
                "\r\n" if self.ends != Ends::Unix => text.push_str(&new.replace('\n', "\r\n")),
                _ => text.push_str(&new),
            }
            done = self.flat.original(range.end);
        }
        text.push_str(self.text.get(done..).unwrap_or_default());
        Ok(Some(Edit { text, places: found.len(), ignoring }))
    }

    /// Leaves out what old and new begin and end with, so that its line ends stay as they are.
    fn changed_part<'n>(&self, range: Range<usize>, new: Cow<'n, str>) -> (Range<usize>, Cow<'n, str>) {
        if self.ends != Ends::Mixed {
            return (range, new);
        }
        let old = self.flat.text.get(range.clone()).unwrap_or_default();
        let start: usize =
            old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        let (old_rest, new_rest) =
            (old.get(start..).unwrap_or_default(), new.get(start..).unwrap_or_default());
        let pairs = old_rest.chars().rev().zip(new_rest.chars().rev());
        let end: usize = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        let middle = new_rest.get(..new_rest.len() - end).unwrap_or_default().to_owned();
        (range.start + start..range.end - end, Cow::Owned(middle))
    }

    fn by_lines(&self, file: &[Line<'_>], wanted: &Wanted<'_>, places: Places) -> Result<Option<Edit>, Miss> {
        let ascii = self.flat.text.is_ascii();
        for reading in READINGS.into_iter().filter(|reading| reading.worth_trying(&wanted.old, ascii)) {
            let found = find::find(file, &wanted.old, reading, 0..file.len());
            if found.is_empty() {
                continue;
            }
            if found.len() > 1 && places == Places::One {
                return Err(Miss::Several { lines: found.iter().map(|first| first + 1).collect() });
            }
            return Ok(Some(self.rewritten(wanted, reading, &found)));
        }
        Ok(None)
    }

    fn rewritten(&self, wanted: &Wanted<'_>, reading: Reading, found: &[usize]) -> Edit {
        let raw = lines::lines(self.text);
        let plan = steps(&wanted.old, &wanted.new);
        let mut text = String::with_capacity(self.text.len());
        // The line and the byte up to which everything is written.
        let (mut line, mut done, mut places) = (0, 0, 0);
        for first in found.iter().copied() {
            if first < line {
                // It overlaps the place before it.
                continue;
            }
            let place = done + lines::start(raw.get(line..).unwrap_or_default(), first - line);
            text.push_str(self.text.get(done..place).unwrap_or_default());
            line = first + wanted.old.len();
            let file = raw.get(first..line).unwrap_or_default();
            let own_end = file.iter().map(|line| line.end).find(|end| !end.is_empty());
            let end = own_end.unwrap_or_else(|| self.ends.at(self.text, place));
            let last = file.last().map_or("", |line| line.end);
            let found = Found { block: &wanted.old, file, reading, end, last };
            text.push_str(&found.replaced(&plan, &wanted.new));
            (done, places) = (place + lines::start(file, file.len()), places + 1);
        }
        text.push_str(self.text.get(done..).unwrap_or_default());
        Edit { text, places, ignoring: reading.words() }
    }

    /// The old text with `\n`, `\t` and `\r` that were written as two characters each; what holds
    /// for the old text then holds for the new one.
    fn decoded(&self, old: &str, new: &str, places: Places) -> Result<Option<Edit>, Miss> {
        let Some(old) = decode(old) else { return Ok(None) };
        let new = decode(new).unwrap_or_else(|| new.to_owned());
        let edit = self.attempt(&unix(&old), &unix(&new), places)?;
        Ok(edit.map(|edit| Edit {
            ignoring: Some("that \\n, \\t or \\r were written as two characters"),
            ..edit
        }))
    }

    /// The only place where nearly all of the old text is.
    fn alike(&self, old: &str, new: &str) -> Option<Edit> {
        let file = lines::lines(&self.flat.text);
        let wanted = Wanted::of(old, new);
        let wanted = wanted.without_outer_blanks().unwrap_or(wanted);
        let found = alike::find_alike(&file, &wanted.old)?;
        Some(self.rewritten(&wanted, Reading::Alike, &[found]))
    }

    fn nowhere(&self, old: &str) -> Miss {
        let file = lines::lines(&self.flat.text);
        let block: Vec<_> = old.trim_matches('\n').split('\n').collect();
        Miss::Nowhere { near: near::nearest(&file, &block) }
    }
}

/// Old and new as lines.
struct Wanted<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
}

impl<'a> Wanted<'a> {
    fn of(old: &'a str, new: &'a str) -> Self {
        match old.strip_suffix('\n') {
            None => Self { old: old.split('\n').collect(), new: new.split('\n').collect() },
            Some(old) if new.is_empty() => Self { old: old.split('\n').collect(), new: Vec::new() },
            Some(old) => {
                let new = new.strip_suffix('\n').unwrap_or(new);
                Self { old: old.split('\n').collect(), new: new.split('\n').collect() }
            }
        }
    }

    /// Without blank lines around the old text, and without as many around the new one.
    fn without_outer_blanks(&self) -> Option<Self> {
        let blank = |line: &&&str| line.trim().is_empty();
        let before = self.old.iter().take_while(blank).count();
        let after = self.old.iter().rev().take_while(blank).count();
        if before + after == 0 || before == self.old.len() {
            return None;
        }
        let old = self.old.get(before..self.old.len() - after)?.to_vec();
        let mut new = self.new.as_slice();
        for _ in 0..before {
            new = new.split_first().filter(|(line, _)| line.trim().is_empty()).map_or(new, |(_, rest)| rest);
        }
        for _ in 0..after {
            new = new.split_last().filter(|(line, _)| line.trim().is_empty()).map_or(new, |(_, rest)| rest);
        }
        Some(Self { old, new: new.to_vec() })
    }
}

/// The places of a piece: all that overlap count when one is wanted, none that overlap when all are.
fn occurrences(text: &str, piece: &str, places: Places) -> Vec<Range<usize>> {
    let finder = memchr::memmem::Finder::new(piece);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.as_bytes().get(from..).and_then(|rest| finder.find(rest)) {
        let start = from + at;
        found.push(start..start + piece.len());
        from = start + if places == Places::All { piece.len() } else { 1 };
    }
    found
}

fn line_number(text: &str, place: usize) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes().get(..place).unwrap_or_default()).count() + 1
}

/// The text with `\n`, `\t`, `\r` decoded, if it has any; a backslash before it keeps it as it is.
fn decode(text: &str) -> Option<String> {
    let mut decoded = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut any = false;
    while let Some(c) = chars.next() {
        let real = match (c, chars.peek()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('r')) => '\r',
            ('\\', Some('\\')) => {
                decoded.push(c);
                decoded.extend(chars.next());
                continue;
            }
            _ => {
                decoded.push(c);
                continue;
            }
        };
        any = true;
        chars.next();
        decoded.push(real);
    }
    any.then_some(decoded)
}
