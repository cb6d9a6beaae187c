//! Breaks styled text into lines of a given width: at blanks, between letters of scripts that are
//! written without them, and inside a word only when it is wider than a line.

use unicode_width::UnicodeWidthStr;

use crate::chat::text::{Line, Span, Style, split_at_width};

/// A piece of running text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Inline {
    /// Words.
    Text(String, Style),
    /// A line ends here, whatever its width.
    Break,
}

/// The lines; none for no text.
pub(crate) fn wrap(text: &[Inline], width: usize) -> Vec<Line> {
    let mut wrapper = Wrapper { width: width.max(2), ..Wrapper::default() };
    for piece in text {
        match piece {
            Inline::Text(text, style) => wrapper.text(&Span::new(text, *style)),
            Inline::Break => wrapper.end_line(),
        }
    }
    if wrapper.has_text() {
        wrapper.end_line();
    }
    wrapper.lines
}

/// The text broken at `width` and nowhere else, for code.
pub(crate) fn hard_wrap(text: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut rest = text;
    while rest.width() > width {
        let (head, tail) = split_at_width(rest, width);
        let (head, tail) = if head.is_empty() { first_letter(rest) } else { (head, tail) };
        rows.push(head.to_owned());
        rest = tail;
    }
    if !rest.is_empty() || rows.is_empty() {
        rows.push(rest.to_owned());
    }
    rows
}

#[derive(Default)]
struct Wrapper {
    width: usize,
    lines: Vec<Line>,
    line: Line,
    /// The word that is being gathered, which may change its style within.
    word: Line,
    /// The blank before it.
    blank: Option<Style>,
}

impl Wrapper {
    fn text(&mut self, span: &Span) {
        let mut part = String::new();
        for letter in span.text().chars() {
            if letter == ' ' {
                self.grow(&mut part, span.style());
                self.end_word();
                self.blank = Some(span.style());
            } else if is_ideograph(letter) {
                self.grow(&mut part, span.style());
                self.end_word();
                part.push(letter);
                self.grow(&mut part, span.style());
            } else {
                part.push(letter);
            }
        }
        self.grow(&mut part, span.style());
    }

    fn grow(&mut self, part: &mut String, style: Style) {
        self.word.push(Span::new(part, style));
        part.clear();
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if word == Line::default() {
            return;
        }
        let blank = self.blank.take().filter(|_| self.line != Line::default());
        let needed = self.line.width() + usize::from(blank.is_some()) + word.width();
        if needed <= self.width {
            if let Some(style) = blank {
                self.line.push(Span::new(" ", style));
            }
            self.line.extend(word);
            return;
        }
        if self.line != Line::default() {
            self.lines.push(std::mem::take(&mut self.line));
        }
        self.line = word;
        while self.line.width() > self.width {
            let (head, rest) = std::mem::take(&mut self.line).split(self.width);
            self.lines.push(head);
            self.line = rest;
        }
    }

    fn end_line(&mut self) {
        self.end_word();
        self.blank = None;
        self.lines.push(std::mem::take(&mut self.line));
    }

    fn has_text(&self) -> bool {
        self.word != Line::default() || self.line != Line::default()
    }
}

impl Line {
    /// The part that fits, at least one letter of it, and the rest.
    fn split(self, room: usize) -> (Self, Self) {
        let (mut head, mut rest, mut left) = (Self::default(), Self::default(), room);
        let mut full = false;
        for span in self.spans() {
            if full {
                rest.push(span.clone());
                continue;
            }
            let (fits, over) = split_at_width(span.text(), left);
            let stuck = fits.is_empty() && head == Self::default();
            let (fits, over) = if stuck { first_letter(span.text()) } else { (fits, over) };
            left = left.saturating_sub(fits.width());
            full = !over.is_empty();
            head.push(Span::new(fits, span.style()));
            rest.push(Span::new(over, span.style()));
        }
        (head, rest)
    }
}

fn first_letter(text: &str) -> (&str, &str) {
    let end = text.chars().next().map_or(0, char::len_utf8);
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Whether a line may end before this letter although there is no blank.
fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Inline {
        Inline::Text(text.to_owned(), Style::PLAIN)
    }

    fn wrapped(pieces: &[Inline], width: usize) -> Vec<String> {
        wrap(pieces, width).iter().map(Line::text).collect()
    }

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrapped(&[text("the quick  brown fox")], 10), ["the quick", "brown fox"]);
    }

    #[test]
    fn a_word_may_change_its_style_without_being_torn() {
        let pieces = [text("see "), Inline::Text("read".to_owned(), Style::BOLD), text("_file now")];

        assert_eq!(wrapped(&pieces, 9), ["see", "read_file", "now"]);
    }

    #[test]
    fn only_a_word_wider_than_the_line_is_broken_inside() {
        assert_eq!(wrapped(&[text("a abcdefghij b")], 4), ["a", "abcd", "efgh", "ij b"]);
    }

    #[test]
    fn scripts_without_blanks_break_between_letters() {
        assert_eq!(wrapped(&[text("日本語の文章です")], 6), ["日本語", "の文章", "です"]);
    }

    #[test]
    fn a_demanded_break_is_made() {
        assert_eq!(wrapped(&[text("a"), Inline::Break, text("b")], 10), ["a", "b"]);
        assert!(wrapped(&[text("  ")], 10).is_empty());
    }

    #[test]
    fn code_is_broken_at_the_width_only() {
        assert_eq!(hard_wrap("let x = 1;", 6), ["let x ", "= 1;"]);
        assert_eq!(hard_wrap("", 6), [""]);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_asked(words in "[a-z 日本📖é]{0,80}", width in 2_usize..30) {
            for line in wrap(&[text(&words)], width) {
                prop_assert!(line.width() <= width, "{:?}", line.text());
            }
        }

        #[test]
        fn no_letter_is_lost(words in "\\PC{0,80}", width in 2_usize..30) {
            let shown: String = wrap(&[text(&words)], width).iter().map(Line::text).collect();
            let solid = |text: &str| text.replace(' ', "");

            prop_assert_eq!(solid(&shown), solid(&crate::chat::text::clean(&words)));
        }
    }
}
