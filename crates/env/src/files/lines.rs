//! Picks one page of lines out of a stream of bytes and counts the rest.
//!
//! Pure: it is fed chunks and holds no more than the page and the start of one line, however long
//! the file or the line is.

use std::borrow::Cow;

use hermes_core::files::{PageEnd, PageRequest, TextPage};
use memchr::{memchr, memchr_iter};

/// Collects the page while chunks go by.
pub(crate) struct Pager {
    request: PageRequest,
    /// Characters a line may show: what a line may have, but never more than a whole page.
    line_chars: usize,
    /// Number of the line that is being read.
    number: u64,
    /// Whether that line has any bytes yet.
    started: bool,
    open: OpenLine,
    taking: bool,
    shown: usize,
    page: TextPage,
}

/// The part of a line that came with earlier chunks.
#[derive(Default)]
struct OpenLine {
    kept: Vec<u8>,
    /// Characters behind what was kept.
    beyond: usize,
    last: Option<u8>,
}

impl Pager {
    pub(crate) fn new(request: PageRequest) -> Self {
        Self {
            request: PageRequest { first: request.first.max(1), ..request },
            line_chars: request.max_line_chars.min(request.max_chars).max(1),
            number: 1,
            started: false,
            open: OpenLine::default(),
            taking: request.count > 0,
            shown: 0,
            page: TextPage::default(),
        }
    }

    /// Reads a page from a line on that is not behind it.
    pub(crate) fn from_line(request: PageRequest, number: u64) -> Self {
        Self { number, ..Self::new(request) }
    }

    /// Number of the line that comes next, or is being read.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether the page could hold more lines.
    pub(crate) fn wants_more(&self) -> bool {
        self.taking
    }

    /// Takes the next bytes of the file.
    pub(crate) fn feed(&mut self, chunk: &[u8]) {
        let mut rest = chunk;
        while !rest.is_empty() {
            rest = if !self.taking {
                self.count(rest)
            } else if self.number < self.request.first {
                self.skip(rest)
            } else {
                self.take(rest)
            };
        }
    }

    /// The page, now that the file has ended.
    pub(crate) fn finish(mut self) -> TextPage {
        if self.started {
            if self.taking && self.number >= self.request.first {
                self.close(&[], false);
            }
            self.number += 1;
        }
        self.page.total_lines = self.number - 1;
        self.page
    }

    fn count<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        self.pass(rest, len(memchr_iter(b'\n', rest).count()))
    }

    /// Leaves bytes behind that hold this many line ends.
    fn pass<'a>(&mut self, rest: &'a [u8], ends: u64) -> &'a [u8] {
        self.number += ends;
        self.started = rest.last() != Some(&b'\n');
        &[]
    }

    /// Passes over lines before the page: whole chunks at a time until the one it starts in.
    fn skip<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        let wanted = self.request.first - self.number;
        let ends = len(memchr_iter(b'\n', rest).count());
        if ends < wanted {
            return self.pass(rest, ends);
        }
        let nth = usize::try_from(wanted - 1).unwrap_or(usize::MAX);
        let end = memchr_iter(b'\n', rest).nth(nth).map_or(rest.len(), |end| end + 1);
        self.number = self.request.first;
        self.started = false;
        rest.get(end..).unwrap_or_default()
    }

    fn take<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        let Some((line, rest)) = memchr(b'\n', rest).and_then(|end| rest.split_at_checked(end)) else {
            self.started = true;
            self.open.add(rest, self.line_chars);
            return &[];
        };
        self.close(line, true);
        self.number += 1;
        self.started = false;
        rest.get(1..).unwrap_or_default()
    }

    /// Ends a line with its last piece and puts it on the page if there is room.
    fn close(&mut self, piece: &[u8], newline: bool) {
        if self.open.last.is_none() {
            self.put(if newline { piece.strip_suffix(b"\r").unwrap_or(piece) } else { piece }, 0);
        } else {
            let (kept, beyond) = std::mem::take(&mut self.open).close(piece, newline, self.line_chars);
            self.put(&kept, beyond);
        }
    }

    /// Puts a line on the page, with this many characters behind what is known of it.
    fn put(&mut self, bytes: &[u8], beyond: usize) {
        let read = std::str::from_utf8(bytes);
        let text = read.map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        let sound = read.map_or_else(|error| error.valid_up_to(), str::len);
        let (shown, hidden) = cut(&text, self.line_chars);
        let between = usize::from(!self.page.lines.is_empty());
        let chars = if shown.is_ascii() { shown.len() } else { shown.chars().count() };
        if between > 0 && self.shown.saturating_add(between + chars) > self.request.max_chars {
            self.page.ended_by = Some(PageEnd::Chars);
            self.taking = false;
            return;
        }
        self.shown += between + chars;
        // What is not text was replaced, if it is shown at all.
        self.page.lossy |= sound < shown.len();
        self.page.lines.push(shown, hidden.saturating_add(beyond));
        self.taking = len(self.page.lines.len()) < self.request.count;
    }
}

impl OpenLine {
    /// Keeps what may be shown and counts the rest.
    fn add(&mut self, piece: &[u8], line_chars: usize) {
        // No character has more than four bytes; four more keep a character that is cut in two
        // by this limit out of what is shown.
        let room = line_chars.saturating_mul(4).saturating_add(4).saturating_sub(self.kept.len());
        let (keep, beyond) = piece.split_at_checked(room).unwrap_or((piece, &[]));
        self.kept.extend_from_slice(keep);
        self.beyond += starts(beyond);
        self.last = piece.last().copied().or(self.last);
    }

    /// What was kept of the line, and how many characters are behind it.
    fn close(mut self, piece: &[u8], newline: bool, line_chars: usize) -> (Vec<u8>, usize) {
        self.add(piece, line_chars);
        if newline && self.last == Some(b'\r') {
            if self.beyond > 0 {
                self.beyond -= 1;
            } else {
                self.kept.pop();
            }
        }
        (self.kept, self.beyond)
    }
}

/// Characters that start in these bytes, if they are UTF-8.
fn starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}

/// As much of a line as is shown, and the number of characters behind that.
fn cut(text: &str, line_chars: usize) -> (&str, usize) {
    let end = if text.len() <= line_chars { None } else { text.char_indices().nth(line_chars) };
    let cut = end.and_then(|(end, _)| text.split_at_checked(end));
    cut.map_or((text, 0), |(shown, hidden)| (shown, hidden.chars().count()))
}

fn len(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WIDE: PageRequest = PageRequest { first: 1, count: 1000, max_line_chars: 1000, max_chars: 100_000 };

    fn page(bytes: &[u8], chunk: usize, request: PageRequest) -> TextPage {
        let mut pager = Pager::new(request);
        bytes.chunks(chunk.max(1)).for_each(|chunk| pager.feed(chunk));
        pager.finish()
    }

    fn texts(page: &TextPage) -> Vec<&str> {
        page.lines.iter().map(|line| line.text).collect()
    }

    #[test]
    fn lines_are_counted_the_way_people_count_them() {
        for (text, lines) in [
            ("", &[][..]),
            ("\n", &[""]),
            ("a", &["a"]),
            ("a\n", &["a"]),
            ("a\n\n", &["a", ""]),
            ("a\nb", &["a", "b"]),
            ("a\r\nb\r\n", &["a", "b"]),
            ("a\r\n\r\nb\r", &["a", "", "b\r"]),
        ] {
            for chunk in 1..4 {
                let page = page(text.as_bytes(), chunk, WIDE);
                assert_eq!(texts(&page), lines, "{text:?} by {chunk}");
                assert_eq!(page.total_lines, len(lines.len()), "{text:?} by {chunk}");
            }
        }
    }

    #[test]
    fn a_page_behind_the_end_is_empty_and_tells_the_true_total() {
        let page = page(b"a\nb\nc", 2, PageRequest { first: 9, ..WIDE });
        assert_eq!((page.lines.len(), page.total_lines, page.ended_by), (0, 3, None));
    }

    #[test]
    fn long_lines_are_cut_at_a_character_and_say_by_how_much() {
        let request = PageRequest { max_line_chars: 3, ..WIDE };
        let text = "äöüß€𝄞x\r\nabc\r\nabcd";
        for chunk in 1..30 {
            let page = page(text.as_bytes(), chunk, request);
            assert_eq!(texts(&page), ["äöü", "abc", "abc"], "by {chunk}");
            let cut: Vec<_> = page.lines.iter().map(|line| line.cut_chars).collect();
            assert_eq!(cut, [4, 0, 1], "by {chunk}");
            assert!(!page.lossy);
        }
    }

    #[test]
    fn a_page_ends_at_a_line_before_the_limit_on_characters() {
        let request = PageRequest { max_chars: 7, ..WIDE };
        let page_7 = page(b"abc\ndef\nghi\n", 5, request);
        assert_eq!((texts(&page_7), page_7.ended_by), (vec!["abc", "def"], Some(PageEnd::Chars)));
        assert_eq!(page_7.total_lines, 3);

        let first = page(b"a long first line\nb\n", 5, PageRequest { max_chars: 4, ..WIDE });
        assert_eq!((texts(&first), first.ended_by), (vec!["a lo"], Some(PageEnd::Chars)));
        assert_eq!(first.lines.iter().next().unwrap().cut_chars, 13);

        let exact = page(b"abc\ndef", 5, request);
        assert_eq!((exact.lines.len(), exact.ended_by), (2, None));
    }

    #[test]
    fn only_what_is_shown_makes_a_page_lossy() {
        let request = PageRequest { first: 2, count: 1, max_line_chars: 3, ..WIDE };
        for (text, shown, lossy) in [
            (&b"\xFF\nabc\n\xFF"[..], "abc", false),
            (b"x\nabc\xFF\n", "abc", false),
            (b"x\nab\xFFc\n", "ab\u{FFFD}", true),
            (b"x\na\xE9", "a\u{FFFD}", true),
            (b"x\na\xEF\xBF\xBD", "a\u{FFFD}", false),
        ] {
            for chunk in 1..12 {
                let page = page(text, chunk, request);
                assert_eq!((texts(&page), page.lossy), (vec![shown], lossy), "{text:?} by {chunk}");
            }
        }
    }

    #[test]
    fn one_endless_line_is_held_in_little_memory() {
        let mut pager = Pager::new(PageRequest { max_line_chars: 10, ..WIDE });
        for _ in 0..1000 {
            pager.feed(&[b'x'; 1000]);
        }
        assert!(pager.open.kept.capacity() < 1000);
        let page = pager.finish();
        assert_eq!((page.lines.iter().next().unwrap().cut_chars, page.total_lines), (999_990, 1));
    }

    proptest! {
        #[test]
        fn pages_put_together_are_the_lines_of_the_file(
            text in "([a-zäß€𝄞 ]{0,9}\r?\n){0,30}[a-zäß€𝄞 ]{0,9}",
            chunk in 1_usize..40,
            count in 1_u64..7,
            max_chars in 10_usize..60,
        ) {
            let wanted: Vec<_> = text.lines().collect();
            let (mut first, mut got) = (1, Vec::new());
            loop {
                let page = page(text.as_bytes(), chunk, PageRequest { first, count, max_chars, ..WIDE });
                prop_assert_eq!(page.total_lines, len(wanted.len()));
                if page.lines.is_empty() {
                    break;
                }
                let shown: usize = page.lines.iter().map(|line| line.text.chars().count() + 1).sum();
                prop_assert!(shown <= max_chars + 1);
                let more = first + len(page.lines.len()) <= page.total_lines;
                prop_assert_eq!(page.ended_by.is_some(), more && len(page.lines.len()) < count);
                first += len(page.lines.len());
                got.extend(page.lines.iter().map(|line| line.text.to_owned()));
            }
            prop_assert_eq!(got, wanted);
        }

        #[test]
        fn any_bytes_read_the_same_in_any_chunks(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'\r')], 0..200),
            chunk in 1_usize..50,
            first in 1_u64..9,
        ) {
            let request = PageRequest { first, count: 5, max_line_chars: 6, max_chars: 20 };
            let (whole, parts) = (page(&bytes, 200, request), page(&bytes, chunk, request));
            prop_assert_eq!(texts(&whole), texts(&parts));
            prop_assert_eq!((whole.total_lines, whole.lossy, whole.ended_by),
                            (parts.total_lines, parts.lossy, parts.ended_by));
        }
    }
}
