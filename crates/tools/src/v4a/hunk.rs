//! One hunk put into one text.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::parse::{Hint, Hunk, HunkLine, Sign};
use crate::matching::alike::find_alike;
use crate::matching::find::{READINGS, Reading, find};
use crate::matching::lines::{Ends, Line, lines, start};
use crate::matching::near::nearest;
use crate::matching::rewrite::{Found, Step};
use crate::tell;

/// A text with hunks in it, and where the last of them ended.
pub(super) struct Patched<'t> {
    pub(super) text: Cow<'t, str>,
    /// The line behind the last hunk.
    after: usize,
}

impl<'t> Patched<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text: Cow::Borrowed(text), after: 0 }
    }

    /// Puts a hunk in, or says why it does not fit.
    pub(super) fn put(&mut self, hunk: &Hunk) -> Result<(), String> {
        if self.put_exactly(hunk) { Ok(()) } else { self.put_by_lines(hunk) }
    }

    fn put_by_lines(&mut self, hunk: &Hunk) -> Result<(), String> {
        let file = lines(&self.text);
        if hunk.lines.iter().all(|line| line.sign == Sign::Add) {
            let at = insertion(hunk, &file)?;
            let (text, after) = self.inserted(hunk, &file, at);
            *self = Self { text: Cow::Owned(text), after };
            return Ok(());
        }
        let (first, block, reading) = self.place(hunk, &file)?;
        let texts = block.texts();
        let there = file.get(first..first + texts.len()).unwrap_or_default();
        let spot = Spot { first, place: start(&file, first), there, reading };
        let (text, after) = self.rewritten(hunk, &block, &spot);
        *self = Self { text: Cow::Owned(text), after };
        Ok(())
    }

    /// Puts a hunk in whose lines are in the text exactly once, as they are written: the usual case, for which
    /// the text need not be taken apart. `false` when it is not so simple.
    fn put_exactly(&mut self, hunk: &Hunk) -> bool {
        let block = Block::as_written(hunk);
        let lines_there = block.texts().join("\n");
        let text = self.text.as_bytes();
        if lines_there.trim().is_empty() || memchr::memchr(b'\r', text).is_some() {
            return false;
        }
        let length = lines_there.len();
        let ends = |at: usize| matches!(text.get(at + length), None | Some(b'\n'));
        let begins = |at: usize| at.checked_sub(1).is_none_or(|before| text.get(before) == Some(&b'\n'));
        let finder = memchr::memmem::Finder::new(&lines_there);
        let mut from = 0;
        let mut places = std::iter::from_fn(|| {
            let at = from + finder.find(text.get(from..)?)?;
            from = at + 1;
            Some(at)
        })
        .filter(|at| begins(*at) && ends(*at));
        let (Some(place), None) = (places.next(), places.next()) else { return false };
        let end = text.len().min(place + length + 1);
        let there = lines(self.text.get(place..end).unwrap_or_default());
        if there.len() != block.texts().len() {
            // An empty line behind the last one is none.
            return false;
        }
        let first = memchr::memchr_iter(b'\n', text.get(..place).unwrap_or_default()).count();
        let spot = Spot { first, place, there: &there, reading: Reading::Exact };
        let (text, after) = self.rewritten(hunk, &block, &spot);
        *self = Self { text: Cow::Owned(text), after };
        true
    }

    /// The text with a hunk put in where it fits, and the line behind it.
    fn rewritten(&self, hunk: &Hunk, block: &Block<'_>, spot: &Spot<'_>) -> (String, usize) {
        let Spot { first, place, there, reading } = *spot;
        let gone = start(there, there.len());
        let own_end = there.iter().map(|line| line.end).find(|end| !end.is_empty());
        let end = own_end.unwrap_or_else(|| Ends::of(&self.text).at(&self.text, self.text.len()));
        let last = there.last().map_or("", |line| line.end);
        let last = match hunk.ends_line.filter(|_| place + gone == self.text.len()) {
            None => last,
            Some(true) => end,
            Some(false) => "",
        };
        let new = Found { block: &block.texts(), file: there, reading, end, last }.rewritten(&block.steps());
        let mut text = String::with_capacity(self.text.len() + new.len());
        text.push_str(self.text.get(..place).unwrap_or_default());
        text.push_str(&new);
        text.push_str(self.text.get(place + gone..).unwrap_or_default());
        (text, first + lines(&new).len())
    }

    /// Where a hunk fits, by the strictest reading that finds anything.
    fn place<'h>(&self, hunk: &'h Hunk, file: &[Line<'_>]) -> Result<(usize, Block<'h>, Reading), String> {
        let ascii = self.text.is_ascii();
        let blocks = Block::variants(hunk);
        for reading in READINGS {
            for block in &blocks {
                let texts = block.texts();
                if texts.is_empty() || !reading.worth_trying(&texts, ascii) {
                    continue;
                }
                let places = find(file, &texts, reading, 0..file.len());
                if !places.is_empty() {
                    let first = self.choose(hunk, file, &places, texts.len())?;
                    return Ok((first, block.clone(), reading));
                }
            }
        }
        for block in &blocks {
            if let Some(first) = find_alike(file, &block.texts()) {
                return Ok((first, block.clone(), Reading::Alike));
            }
        }
        let texts = blocks.first().map(Block::texts).unwrap_or_default();
        Err(tell::nowhere("these lines are not in the file", &nearest(file, &texts)))
    }

    /// The place that is meant, when a block is found more than once.
    fn choose(&self, hunk: &Hunk, file: &[Line<'_>], places: &[usize], len: usize) -> Result<usize, String> {
        if let [only] = places {
            return Ok(*only);
        }
        if let Some(last) = places.iter().find(|first| hunk.at_end && **first + len == file.len()) {
            return Ok(*last);
        }
        let behind: BTreeSet<usize> = hinted(hunk, file)
            .into_iter()
            .filter_map(|hint| places.iter().copied().find(|first| first + len > hint))
            .collect();
        if let (Some(only), 1) = (behind.first(), behind.len()) {
            return Ok(*only);
        }
        let number = hunk.hints.iter().find_map(|hint| match hint {
            Hint::Line(number) => Some(number.saturating_sub(1)),
            Hint::Text(_) => None,
        });
        if let Some(number) = number.filter(|_| behind.is_empty()) {
            let nearest = places.iter().map(|first| first.abs_diff(number)).min();
            let near: Vec<_> =
                places.iter().filter(|first| Some(first.abs_diff(number)) == nearest).collect();
            if let [only] = near.as_slice() {
                return Ok(**only);
            }
        }
        let later: Vec<_> = places.iter().filter(|first| **first >= self.after && self.after > 0).collect();
        if let ([only], true) = (later.as_slice(), behind.is_empty()) {
            return Ok(**only);
        }
        let numbers: Vec<_> = places.iter().map(|first| first + 1).collect();
        Err(format!(
            "these lines are in the file {} times, {}; add lines around them, or `@@ ` and a line that stands \
             before the place that is meant",
            places.len(),
            tell::line_numbers(&numbers)
        ))
    }

    /// The text with the hunk's lines put in before a line.
    fn inserted(&self, hunk: &Hunk, file: &[Line<'_>], at: usize) -> (String, usize) {
        let place = start(file, at);
        let end = Ends::of(&self.text).at(&self.text, place);
        let mut text = String::with_capacity(self.text.len());
        text.push_str(self.text.get(..place).unwrap_or_default());
        let ended = file.last().is_none_or(|line| !line.end.is_empty());
        let at_end = at == file.len();
        if at_end && !ended {
            text.push_str(end);
        }
        for line in &hunk.lines {
            text.push_str(&line.text);
            text.push_str(end);
        }
        if at_end && !hunk.ends_line.unwrap_or(ended) {
            text.truncate(text.len() - end.len());
        }
        text.push_str(self.text.get(place..).unwrap_or_default());
        (text, at + hunk.lines.len())
    }
}

/// Where a hunk goes.
struct Spot<'a> {
    /// The first line.
    first: usize,
    /// The byte that line begins at.
    place: usize,
    /// The lines that are there.
    there: &'a [Line<'a>],
    reading: Reading,
}

/// The lines of a hunk that are in the file already, as they may have been meant.
#[derive(Clone)]
struct Block<'h> {
    lines: Vec<(&'h HunkLine, &'h str)>,
}

impl<'h> Block<'h> {
    fn as_written(hunk: &'h Hunk) -> Self {
        Self { lines: hunk.lines.iter().map(|line| (line, line.text.as_str())).collect() }
    }

    /// As written; with context lines that only look as if they had a sign; without empty lines;
    /// without blank context around it.
    fn variants(hunk: &'h Hunk) -> Vec<Self> {
        let block = |text: fn(&'h HunkLine) -> Option<&'h str>| Self {
            lines: hunk.lines.iter().filter_map(|line| Some((line, text(line)?))).collect(),
        };
        let as_written = Self::as_written(hunk);
        let unsigned = block(|line| Some(line.unsigned.as_ref().unwrap_or(&line.text)));
        let not_empty = block(|line| (line.unsigned.as_deref() != Some("")).then_some(&line.text));
        let blank = |line: &&(&HunkLine, &str)| line.0.sign == Sign::Context && line.1.trim().is_empty();
        let before = as_written.lines.iter().take_while(blank).count();
        let after = as_written.lines.iter().rev().take_while(blank).count();
        let inner = as_written.lines.len().saturating_sub(before + after);
        let inner = Self { lines: as_written.lines.iter().skip(before).take(inner).copied().collect() };
        vec![as_written, unsigned, not_empty, inner]
    }

    fn texts(&self) -> Vec<&'h str> {
        self.lines.iter().filter(|(line, _)| line.sign != Sign::Add).map(|(_, text)| *text).collect()
    }

    /// What happens to the block; a line that comes where one goes takes its place.
    fn steps(&self) -> Vec<Step<'h>> {
        let (mut steps, mut at) = (Vec::new(), 0);
        let mut going: std::collections::VecDeque<usize> = std::collections::VecDeque::new();
        for (line, text) in &self.lines {
            match line.sign {
                Sign::Context => {
                    steps.push(Step::Keep);
                    going.clear();
                }
                Sign::Remove => {
                    steps.push(Step::Drop);
                    going.push_back(at);
                }
                Sign::Add => steps.push(Step::Add(text, going.pop_front())),
            }
            at += usize::from(line.sign != Sign::Add);
        }
        steps
    }
}

/// The lines behind the hints of a hunk: each further hint is looked for behind the one before.
fn hinted(hunk: &Hunk, file: &[Line<'_>]) -> Vec<usize> {
    let mut from: Option<Vec<usize>> = None;
    for hint in &hunk.hints {
        let Hint::Text(words) = hint else { continue };
        let exact = |line: &Line<'_>| line.text.trim() == words.trim();
        let within = |line: &Line<'_>| line.text.contains(words.trim());
        let at = |says: &dyn Fn(&Line<'_>) -> bool| -> Vec<usize> {
            let lines = file.iter().enumerate().filter(|(_, line)| says(line));
            lines.map(|(at, _)| at).collect()
        };
        let mut places = at(&exact);
        if places.is_empty() {
            places = at(&within);
        }
        if let Some(from) = &from {
            let next = |before: &usize| places.iter().copied().find(|at| at > before);
            places = from.iter().filter_map(next).collect::<BTreeSet<_>>().into_iter().collect();
        }
        from = Some(places);
    }
    from.unwrap_or_default()
}

/// Before which line lines are put that nothing in the file goes with.
fn insertion(hunk: &Hunk, file: &[Line<'_>]) -> Result<usize, String> {
    if hunk.at_end || hunk.hints.is_empty() {
        return Ok(file.len());
    }
    if let Some(words) = hunk.hints.iter().find_map(|hint| match hint {
        Hint::Text(words) => Some(words),
        Hint::Line(_) => None,
    }) {
        return match hinted(hunk, file).as_slice() {
            [only] => Ok(only + 1),
            [] => Err(tell::nowhere(&format!("no line says `{words}`"), &nearest(file, &[words]))),
            several => {
                let numbers: Vec<_> = several.iter().map(|at| at + 1).collect();
                Err(format!("several lines say `{words}`: {}", tell::line_numbers(&numbers)))
            }
        };
    }
    let number = hunk.hints.iter().find_map(|hint| match hint {
        Hint::Line(number) => Some(*number),
        Hint::Text(_) => None,
    });
    Ok(number.unwrap_or(file.len()).min(file.len()))
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy as _;

    use super::*;
    use crate::v4a::{Op, parse};

    proptest::proptest! {
        #[test]
        fn what_fits_exactly_is_put_where_a_search_by_lines_puts_it(
            file in proptest::collection::vec("[ab]{0,2}", 0..7).prop_map(|lines| lines.join("\n")),
            hunk in proptest::collection::vec("[ +-][ab]{0,2}", 1..5),
        ) {
            let patch = format!("*** Begin Patch\n*** Update File: f\n@@\n{}\n*** End Patch", hunk.join("\n"));
            let Ok(ops) = parse(&patch) else { return Ok(()) };
            let Some(Op::Update { hunks, .. }) = ops.first() else { return Ok(()) };
            for hunk in hunks {
                let (mut exactly, mut by_lines) = (Patched::new(&file), Patched::new(&file));

                if exactly.put_exactly(hunk) {
                    proptest::prop_assert_eq!(by_lines.put_by_lines(hunk), Ok(()));
                    proptest::prop_assert_eq!((exactly.text, exactly.after), (by_lines.text, by_lines.after));
                }
            }
        }
    }
}
