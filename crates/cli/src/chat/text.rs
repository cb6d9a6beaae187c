//! Styled text: spans, lines, and the two things done to them, cutting to a width and painting.
//!
//! Pure, and the one gate through which words reach the terminal: a span can only be made of text
//! that a terminal shows and does not obey.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What a tab is shown as.
const TAB: &str = "    ";

/// How a span looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Style {
    marks: u8,
    colour: u8,
}

impl Style {
    pub(crate) const PLAIN: Self = Self { marks: 0, colour: 0 };
    pub(crate) const BOLD: Self = Self { marks: 1, colour: 0 };
    pub(crate) const FAINT: Self = Self { marks: 2, colour: 0 };
    pub(crate) const ITALIC: Self = Self { marks: 4, colour: 0 };
    pub(crate) const UNDERLINE: Self = Self { marks: 8, colour: 0 };
    pub(crate) const STRIKE: Self = Self { marks: 16, colour: 0 };
    pub(crate) const INVERSE: Self = Self { marks: 32, colour: 0 };
    pub(crate) const RED: Self = Self { marks: 0, colour: 31 };
    pub(crate) const GREEN: Self = Self { marks: 0, colour: 32 };
    pub(crate) const YELLOW: Self = Self { marks: 0, colour: 33 };
    pub(crate) const MAGENTA: Self = Self { marks: 0, colour: 35 };
    pub(crate) const CYAN: Self = Self { marks: 0, colour: 36 };

    /// Both together; the other's colour wins where it has one.
    pub(crate) const fn and(self, other: Self) -> Self {
        let colour = if other.colour == 0 { self.colour } else { other.colour };
        Self { marks: self.marks | other.marks, colour }
    }

    fn codes(self) -> Vec<u8> {
        let marks = [(1, 1), (2, 2), (4, 3), (8, 4), (16, 9), (32, 7)];
        let mut codes: Vec<u8> =
            marks.iter().filter(|(bit, _)| self.marks & bit != 0).map(|(_, code)| *code).collect();
        codes.extend((self.colour != 0).then_some(self.colour));
        codes
    }
}

/// A piece of text in one style, harmless by construction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Span {
    text: String,
    style: Style,
}

impl Span {
    pub(crate) fn new(text: &str, style: Style) -> Self {
        Self { text: clean(text), style }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    pub(crate) fn width(&self) -> usize {
        self.text.width()
    }
}

/// One row of the terminal, if it is not wider than that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Line(Vec<Span>);

impl Line {
    pub(crate) fn new(text: &str, style: Style) -> Self {
        Self::default().with(text, style)
    }

    pub(crate) fn plain(text: &str) -> Self {
        Self::new(text, Style::PLAIN)
    }

    pub(crate) fn faint(text: &str) -> Self {
        Self::new(text, Style::FAINT)
    }

    /// With more text at its end.
    pub(crate) fn with(mut self, text: &str, style: Style) -> Self {
        self.push(Span::new(text, style));
        self
    }

    pub(crate) fn push(&mut self, span: Span) {
        match self.0.last_mut() {
            _ if span.text.is_empty() => {}
            Some(last) if last.style == span.style => last.text.push_str(&span.text),
            _ => self.0.push(span),
        }
    }

    pub(crate) fn extend(&mut self, other: Self) {
        other.0.into_iter().for_each(|span| self.push(span));
    }

    pub(crate) fn spans(&self) -> &[Span] {
        &self.0
    }

    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(Span::width).sum()
    }

    /// The text alone.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(Span::text).collect()
    }

    /// The line, or as much of it as fits with a sign that there is more.
    pub(crate) fn cut(self, room: usize) -> Self {
        if self.width() <= room {
            return self;
        }
        let mut kept = Self::default();
        let mut left = room.saturating_sub(1);
        for span in self.0 {
            let (head, rest) = split_at_width(&span.text, left);
            left = left.saturating_sub(head.width());
            let all = rest.is_empty();
            let style = span.style;
            kept.push(Span { text: head.to_owned(), style });
            if !all {
                kept.push(Span { text: "…".to_owned(), style });
                break;
            }
        }
        kept
    }

    /// The line without the blanks at its end.
    pub(crate) fn trimmed(mut self) -> Self {
        while let Some(last) = self.0.last_mut() {
            last.text.truncate(last.text.trim_end_matches(' ').len());
            if !last.text.is_empty() {
                break;
            }
            self.0.pop();
        }
        self
    }

    /// The line as bytes for a terminal, without its end.
    pub(crate) fn paint(&self, colour: bool) -> String {
        let mut painted = String::new();
        for span in &self.0 {
            let codes = span.style.codes();
            if !colour || codes.is_empty() {
                painted.push_str(&span.text);
                continue;
            }
            let codes: Vec<String> = codes.iter().map(u8::to_string).collect();
            painted.extend(["\u{1b}[", &codes.join(";"), "m", &span.text, "\u{1b}[0m"]);
        }
        painted
    }
}

/// The longest beginning of `text` that is no wider than `room`, and the rest.
pub(crate) fn split_at_width(text: &str, room: usize) -> (&str, &str) {
    let mut fits = 0;
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        // Measured as a whole: letters that join are narrower, or wider, than their sum.
        let wide = text.get(..end).is_some_and(|head| head.width() > room);
        if wide && letter.width() != Some(0) {
            break;
        }
        if !wide {
            fits = end;
        }
    }
    text.split_at_checked(fits).unwrap_or((text, ""))
}

/// The text with nothing in it that a terminal would obey or that would turn it around.
pub(crate) fn clean(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\t' => shown.push_str(TAB),
            '\n' | '\u{2028}' | '\u{2029}' => shown.push(' '),
            '\u{ad}'
            | '\u{feff}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{e0000}'..='\u{e007f}' => {}
            letter if letter.is_control() => shown.push('\u{fffd}'),
            letter => shown.push(letter),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_span_cannot_speak_to_the_terminal() {
        let line = Line::plain("a\u{1b}]0;title\u{7}b\u{9b}2J\u{202e}c\rd\te");

        assert_eq!(line.paint(true), "a\u{fffd}]0;title\u{fffd}b\u{fffd}2Jc\u{fffd}d    e");
    }

    #[test]
    fn styles_are_painted_only_where_colours_are_wanted() {
        let line = Line::plain("a ").with("b", Style::BOLD.and(Style::RED));

        assert_eq!(line.paint(true), "a \u{1b}[1;31mb\u{1b}[0m");
        assert_eq!(line.paint(false), "a b");
    }

    #[test]
    fn a_cut_line_says_so_and_fits() {
        let line = Line::plain("読み込む").with(" now", Style::BOLD);

        assert_eq!(line.clone().cut(20), line);
        assert_eq!(line.clone().cut(8).text(), "読み込…");
        assert_eq!(line.cut(10).text(), "読み込む …");
    }

    proptest! {
        #[test]
        fn a_cut_line_is_never_wider_than_its_room(text in "\\PC{0,40}", room in 1_usize..30) {
            let cut = Line::plain(&text).cut(room);

            prop_assert!(cut.width() <= room, "{:?}", cut.text());
        }

        #[test]
        fn nothing_painted_without_colour_is_a_control_character(text in any::<String>()) {
            prop_assert!(!Line::plain(&text).paint(false).chars().any(char::is_control));
        }
    }
}
