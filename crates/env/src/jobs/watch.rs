//! Looks for texts in a job's output, and says so no more often than is useful.
//!
//! Lines are put together first, so that a text split over two reads is seen. At most one notice
//! in a while; after several such whiles with more to tell than was told, nobody is listening and
//! watching ends.

use std::collections::VecDeque;
use std::time::Duration;

use hermes_core::jobs::Happening;

/// At most one notice in this time.
const INTERVAL: Duration = Duration::from_secs(15);

/// After so many intervals in a row with suppressed lines watching ends.
const STRIKES: u32 = 3;

/// Most lines and characters of a notice.
const MAX_LINES: usize = 20;
const MAX_CHARS: usize = 2000;

/// Longest line that is looked at whole.
const MAX_LINE: usize = 64 * 1024;

/// Watches one job.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    patterns: Vec<String>,
    line: Vec<u8>,
    matched: VecDeque<String>,
    suppressed: u64,
    last: Option<Duration>,
    strikes: u32,
    struck: bool,
    ended: bool,
    pub(crate) hit: bool,
}

impl Watch {
    pub(crate) fn new(patterns: &[String]) -> Self {
        let patterns: Vec<String> = patterns.iter().filter(|it| !it.is_empty()).cloned().collect();
        Self { ended: patterns.is_empty(), patterns, ..Self::default() }
    }

    /// Takes the next bytes, at this time; says what is to be told, if anything.
    pub(crate) fn take(&mut self, bytes: &[u8], now: Duration) -> Option<Happening> {
        if self.ended {
            return None;
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_LINE.saturating_sub(self.line.len());
            self.line.extend(piece.iter().take(room));
            if piece.ends_with(b"\n") {
                self.look();
            }
        }
        self.due(now)
    }

    /// What is left to tell when the job ends.
    pub(crate) fn finish(&mut self) -> Option<Happening> {
        if !self.ended {
            self.look();
        }
        self.ended = true;
        (!self.matched.is_empty()).then(|| self.notice())
    }

    fn look(&mut self) {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).trim_end().to_owned();
        if !self.patterns.iter().any(|pattern| line.contains(pattern)) {
            return;
        }
        self.hit = true;
        if self.matched.len() < MAX_LINES {
            self.matched.push_back(line.chars().take(MAX_CHARS).collect());
        } else {
            self.suppressed += 1;
        }
    }

    fn due(&mut self, now: Duration) -> Option<Happening> {
        if self.matched.is_empty() {
            return None;
        }
        if let Some(last) = self.last
            && now < last + INTERVAL
        {
            self.struck = true;
            return None;
        }
        self.strikes = if std::mem::take(&mut self.struck) { self.strikes + 1 } else { 0 };
        if self.strikes >= STRIKES {
            self.ended = true;
            self.matched.clear();
            return Some(Happening::WatchEnded);
        }
        self.last = Some(now);
        Some(self.notice())
    }

    fn notice(&mut self) -> Happening {
        let mut lines = String::new();
        for line in self.matched.drain(..) {
            if lines.chars().count() + line.chars().count() > MAX_CHARS && !lines.is_empty() {
                self.suppressed += 1;
                continue;
            }
            if !lines.is_empty() {
                lines.push('\n');
            }
            lines.push_str(&line);
        }
        Happening::Seen { lines, suppressed: std::mem::take(&mut self.suppressed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> Watch {
        Watch::new(&["ready".to_owned(), "error".to_owned()])
    }

    fn seen(lines: &str) -> Happening {
        Happening::Seen { lines: lines.to_owned(), suppressed: 0 }
    }

    const START: Duration = Duration::from_secs(100);

    #[test]
    fn a_text_split_over_two_reads_is_seen() {
        let mut watch = watch();

        assert_eq!(watch.take(b"server rea", START), None);
        assert_eq!(watch.take(b"dy now\nmore\n", START), Some(seen("server ready now")));
        assert!(watch.hit);
    }

    #[test]
    fn notices_are_rare_and_tell_what_happened_meanwhile() {
        let mut watch = watch();
        watch.take(b"error 1\n", START);

        assert_eq!(watch.take(b"error 2\n", START + Duration::from_secs(1)), None);
        assert_eq!(watch.take(b"error 3\n", START + INTERVAL), Some(seen("error 2\nerror 3")));
    }

    #[test]
    fn after_three_busy_intervals_watching_ends() {
        let mut watch = watch();
        let mut told = Vec::new();
        for second in 0..100 {
            told.extend(watch.take(b"error\n", START + Duration::from_secs(second)));
        }

        assert_eq!(told.last(), Some(&Happening::WatchEnded));
        assert_eq!(told.len(), 4);
    }

    #[test]
    fn what_was_not_told_yet_is_told_at_the_end() {
        let mut watch = watch();
        watch.take(b"error 1\n", START);
        watch.take(b"error 2\nerror 3", START);

        assert_eq!(watch.finish(), Some(seen("error 2\nerror 3")));
        assert_eq!(watch.finish(), None);
    }

    #[test]
    fn nothing_to_watch_for_costs_nothing() {
        assert_eq!(Watch::new(&[String::new()]).take(b"x\n", START), None);
    }
}
