//! Text as lines that know how they end, and as one piece where every line ends the same way.

use std::borrow::Cow;

/// One line of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// What it says.
    pub text: &'a str,
    /// How it ends: `\n`, `\r\n`, or nothing at the end of the text.
    pub end: &'a str,
}

impl Line<'_> {
    /// Whether it says nothing.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// The lines of a text; a final end of line does not start another one.
pub fn lines(text: &str) -> Vec<Line<'_>> {
    // Counting is quick; growing a list of thousands step by step is not.
    let mut lines = Vec::with_capacity(memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1);
    lines.extend(text.split_inclusive('\n').map(line));
    lines
}

/// Where in the text the line with this index begins.
pub fn start(lines: &[Line<'_>], index: usize) -> usize {
    lines.iter().take(index).map(|line| line.text.len() + line.end.len()).sum()
}

fn line(whole: &str) -> Line<'_> {
    let text = whole.strip_suffix('\n').map_or(whole, |text| text.strip_suffix('\r').unwrap_or(text));
    Line { text, end: whole.get(text.len()..).unwrap_or_default() }
}

/// How the lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// All with `\n`, or there are none.
    Unix,
    /// All with `\r\n`.
    Windows,
    /// Some so, some so.
    Mixed,
}

impl Ends {
    /// Looks at a text.
    pub fn of(text: &str) -> Self {
        let both = memchr::memmem::find_iter(text.as_bytes(), b"\r\n").count();
        if both == 0 {
            return Self::Unix;
        }
        let all = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        if both == all { Self::Windows } else { Self::Mixed }
    }

    /// How a line that is put at this place of the text should end.
    pub fn at(self, text: &str, place: usize) -> &'static str {
        let rest = text.get(place..).unwrap_or_default();
        match self {
            Self::Unix => "\n",
            Self::Windows => "\r\n",
            Self::Mixed => {
                let next = rest.find('\n').map(|end| place + end);
                let end = next.or_else(|| text.get(..place).unwrap_or_default().rfind('\n'));
                let before = end.and_then(|end| text.get(..end)).unwrap_or_default();
                if before.ends_with('\r') { "\r\n" } else { "\n" }
            }
        }
    }
}

/// The text with every line ending in `\n`.
pub fn unix(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// A text with every line ending in `\n`, and the way back to where things are in the original.
pub struct Flat<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// Where a `\r` was left out in front of a `\n`.
    left_out: Vec<usize>,
}

impl<'a> Flat<'a> {
    /// Flattens a text; costs nothing when there is nothing to do.
    pub fn of(text: &'a str, ends: Ends) -> Self {
        if ends == Ends::Unix {
            return Self { text: Cow::Borrowed(text), left_out: Vec::new() };
        }
        let (mut flat, mut left_out) = (String::with_capacity(text.len()), Vec::new());
        for line in lines(text) {
            flat.push_str(line.text);
            if line.end == "\r\n" {
                left_out.push(flat.len());
            }
            flat.push_str(if line.end.is_empty() { "" } else { "\n" });
        }
        Self { text: Cow::Owned(flat), left_out }
    }

    /// Where in the original a place of the flat text is.
    pub fn original(&self, place: usize) -> usize {
        place + self.left_out.partition_point(|left| *left < place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_how_they_end() {
        let found: Vec<_> = lines("a\r\nb\n\r\nc").iter().map(|line| (line.text, line.end)).collect();

        assert_eq!(found, [("a", "\r\n"), ("b", "\n"), ("", "\r\n"), ("c", "")]);
        assert_eq!(lines(""), []);
        assert_eq!(lines("a\n").len(), 1);
    }

    #[test]
    fn a_place_in_the_flat_text_is_found_in_the_original() {
        let text = "a\r\nbc\r\nd\ne";
        let flat = Flat::of(text, Ends::of(text));

        assert_eq!(flat.text, "a\nbc\nd\ne");
        let places: Vec<_> = (0..=8).map(|place| flat.original(place)).collect();
        assert_eq!(places, [0, 1, 3, 4, 5, 7, 8, 9, 10]);
    }

    #[test]
    fn a_new_line_ends_like_its_neighbours() {
        let text = "a\r\nb\nc";

        assert_eq!(Ends::of(text), Ends::Mixed);
        assert_eq!(Ends::Mixed.at(text, 0), "\r\n");
        assert_eq!(Ends::Mixed.at(text, 3), "\n");
        assert_eq!(Ends::Mixed.at(text, 6), "\n");
        assert_eq!(Ends::of("a\r\n"), Ends::Windows);
        assert_eq!(Ends::of("a"), Ends::Unix);
    }
}
