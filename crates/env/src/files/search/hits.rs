//! What is taken from one file: how many lines match, or the matching lines themselves.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use grep_matcher::{LineTerminator, Matcher as _};
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use hermes_core::files::FoundLine;

use super::excerpt::excerpt;

/// Lines longer than this end the search of their file; without a limit one line could fill memory.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// A searcher for text; a byte 0 ends the search of a file.
pub(super) fn searcher(numbers: bool, context: usize) -> Searcher {
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .line_number(numbers)
        .before_context(context)
        .after_context(context)
        .heap_limit(Some(LONGEST_LINE))
        .binary_detection(BinaryDetection::quit(0))
        .build()
}

/// Counts matching lines.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) lines: u64,
    /// Whether one matching line is enough.
    pub(super) first_only: bool,
    pub(super) binary: bool,
}

impl Sink for Tally {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.lines += 1;
        Ok(!self.first_only)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        if end.binary_byte_offset().is_some() {
            self.binary = true;
            self.lines = 0;
        }
        Ok(())
    }
}

/// Collects some of a file's matching lines with the lines around them.
pub(super) struct Lines<'a> {
    pub(super) matcher: &'a RegexMatcher,
    pub(super) path: &'a Path,
    pub(super) context: u64,
    /// Matching lines still to be passed over.
    pub(super) skip: u64,
    /// Matching lines still to be taken.
    pub(super) take: u64,
    /// Lines that may turn out to stand in front of a wanted one.
    before: VecDeque<FoundLine>,
    last: u64,
    pub(super) found: Vec<FoundLine>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(matcher: &'a RegexMatcher, path: &'a Path, context: u64, skip: u64, take: u64) -> Self {
        Self { matcher, path, context, skip, take, before: VecDeque::new(), last: 0, found: Vec::new() }
    }

    /// Takes a line that is around a wanted one; false when no more is wanted.
    ///
    /// A match that belongs to another page is shown like any other line around.
    fn around(&mut self, bytes: &[u8], number: u64) -> bool {
        let behind = !self.found.is_empty() && number <= self.last.saturating_add(self.context);
        if behind || self.take > 0 {
            let line = self.line(excerpt(bytes, 0), number, false);
            if behind {
                self.found.push(line);
            } else if self.context > 0 {
                self.before.push_back(line);
                if u64::try_from(self.before.len()).is_ok_and(|kept| kept > self.context) {
                    self.before.pop_front();
                }
            }
        }
        behind || self.take > 0
    }

    fn line(&self, text: String, number: u64, matched: bool) -> FoundLine {
        FoundLine { path: self.path.to_path_buf(), number, text, matched }
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let number = found.line_number().unwrap_or_default();
        if self.skip > 0 {
            self.skip -= 1;
            self.around(found.bytes(), number);
            return Ok(true);
        }
        if self.take == 0 {
            return Ok(self.around(found.bytes(), number));
        }
        self.take -= 1;
        let from = number.saturating_sub(self.context);
        self.found.extend(self.before.drain(..).filter(|line| line.number >= from));
        let at = self.matcher.find(found.bytes()).ok().flatten().map_or(0, |place| place.start());
        let line = self.line(excerpt(found.bytes(), at), number, true);
        self.found.push(line);
        self.last = number;
        Ok(self.take > 0 || self.context > 0)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.around(context.bytes(), context.line_number().unwrap_or_default()))
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        if end.binary_byte_offset().is_some() {
            self.found.clear();
        }
        Ok(())
    }
}
