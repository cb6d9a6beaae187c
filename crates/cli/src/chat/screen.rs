//! The one writer of the terminal: lines that stay, and below them an area that is drawn anew.
//!
//! Every change is one write: back to the top of the area, the lines that stay, the area again.
//! Nobody else writes while the chat is on the screen, so nothing can come between.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::chat::text::Line;

/// Rows and columns of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// What is below the lines that stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) rows: Vec<Line>,
    /// Row and column of the cursor; hidden where there is none.
    pub(crate) cursor: Option<(usize, usize)>,
}

/// A terminal being written to.
pub(crate) struct Screen<W> {
    out: W,
    size: Size,
    colour: bool,
    /// How wide each row of the area is.
    drawn: Vec<usize>,
    /// Where the cursor was left, in the area.
    cursor: (usize, usize),
}

impl<W: Write> Screen<W> {
    pub(crate) fn new(out: W, size: Size, colour: bool) -> Self {
        Self { out, size, colour, drawn: Vec::new(), cursor: (0, 0) }
    }

    /// Columns that are used: the last is left free, as terminals differ in what happens there.
    pub(crate) fn width(&self) -> usize {
        self.size.columns.saturating_sub(1).max(10)
    }

    pub(crate) fn rows(&self) -> usize {
        self.size.rows
    }

    #[cfg(test)]
    pub(crate) fn out(&self) -> &W {
        &self.out
    }

    pub(crate) fn colour(&self) -> bool {
        self.colour
    }

    /// The terminal has another size now.
    pub(crate) fn resize(&mut self, size: Size) {
        self.size = size;
    }

    /// Adds lines that stay, and draws the area below them.
    pub(crate) fn draw(&mut self, staying: &[Line], area: Area) -> io::Result<()> {
        let mut text = String::from("\u{1b}[?2026h\u{1b}[?25l");
        text.push_str(&self.back_to_top());
        for line in staying {
            text.push_str(&line.paint(self.colour));
            text.push_str("\r\n");
        }
        self.area(&mut text, area);
        text.push_str("\u{1b}[?2026l");
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Everything off the screen; lines above stay where they can be scrolled to.
    pub(crate) fn wipe(&mut self) -> io::Result<()> {
        self.drawn.clear();
        self.cursor = (0, 0);
        self.out.write_all(b"\x1b[2J\x1b[H")?;
        self.out.flush()
    }

    /// Takes the area away and gives the cursor back.
    pub(crate) fn leave(&mut self, staying: &[Line]) -> io::Result<()> {
        self.draw(staying, Area::default())?;
        self.out.write_all(b"\x1b[?25h")?;
        self.out.flush()
    }

    fn back_to_top(&self) -> String {
        // A terminal that became narrower has broken our rows into several.
        let columns = self.size.columns.max(1);
        let above: usize =
            self.drawn.iter().take(self.cursor.0).map(|wide| wide.div_ceil(columns).max(1)).sum();
        let up = above + self.cursor.1 / columns;
        if up > 0 { format!("\u{1b}[{up}A\r\u{1b}[J") } else { "\r\u{1b}[J".to_owned() }
    }

    fn area(&mut self, text: &mut String, area: Area) {
        let surplus = area.rows.len().saturating_sub(self.size.rows.saturating_sub(1).max(1));
        let width = self.width();
        let rows: Vec<Line> = area.rows.into_iter().skip(surplus).map(|row| row.cut(width)).collect();
        let painted: Vec<String> = rows.iter().map(|row| row.paint(self.colour)).collect();
        text.push_str(&painted.join("\r\n"));
        self.drawn = rows.iter().map(Line::width).collect();
        let last = rows.len().saturating_sub(1);
        self.cursor = (last, self.drawn.last().copied().unwrap_or_default());
        if let Some((row, column)) = area.cursor {
            let row = row.saturating_sub(surplus).min(last);
            if last > row {
                let _ = write!(text, "\u{1b}[{}A", last - row);
            }
            text.push('\r');
            if column > 0 {
                let _ = write!(text, "\u{1b}[{column}C");
            }
            text.push_str("\u{1b}[?25h");
            self.cursor = (row, column);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A terminal that understands what the screen writes, and nothing else.
    #[derive(Debug)]
    pub(crate) struct Paper {
        columns: usize,
        rows: Vec<Vec<char>>,
        pub(crate) at: (usize, usize),
    }

    impl Paper {
        pub(crate) fn new(columns: usize) -> Self {
            Self { columns, rows: vec![Vec::new()], at: (0, 0) }
        }

        pub(crate) fn text(&self) -> Vec<String> {
            self.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned()).collect()
        }

        fn put(&mut self, letter: char) {
            if self.at.1 >= self.columns {
                self.at = (self.at.0 + 1, 0);
            }
            while self.rows.len() <= self.at.0 {
                self.rows.push(Vec::new());
            }
            let row = &mut self.rows[self.at.0];
            row.resize(row.len().max(self.at.1 + 1), ' ');
            row[self.at.1] = letter;
            self.at.1 += 1;
        }

        fn obey(&mut self, sequence: &str) {
            let number = sequence.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(1);
            match sequence.chars().last() {
                Some('A') => self.at.0 = self.at.0.checked_sub(number).expect("within the screen"),
                Some('C') => self.at.1 += number,
                Some('J') if sequence.starts_with('2') => self.rows = vec![Vec::new()],
                Some('J') => {
                    self.rows.truncate(self.at.0 + 1);
                    self.rows[self.at.0].truncate(self.at.1);
                }
                Some('H') => self.at = (0, 0),
                Some('h' | 'l' | 'm') => {}
                _ => panic!("the screen wrote {sequence:?}"),
            }
        }
    }

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = String::from_utf8(bytes.to_vec()).expect("text");
            let mut letters = text.chars();
            while let Some(letter) = letters.next() {
                match letter {
                    '\r' => self.at.1 = 0,
                    '\n' => {
                        self.at.0 += 1;
                        while self.rows.len() <= self.at.0 {
                            self.rows.push(Vec::new());
                        }
                    }
                    '\u{1b}' => {
                        assert_eq!(letters.next(), Some('['));
                        let mut sequence = String::new();
                        for part in letters.by_ref() {
                            sequence.push(part);
                            if part.is_ascii_alphabetic() {
                                break;
                            }
                        }
                        self.obey(&sequence);
                    }
                    letter => self.put(letter),
                }
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn lines(texts: &[&str]) -> Vec<Line> {
        texts.iter().map(|text| Line::plain(text)).collect()
    }

    #[test]
    fn lines_stay_and_the_area_is_drawn_anew_below_them() {
        let mut screen = Screen::new(Paper::new(20), Size { columns: 20, rows: 10 }, false);

        screen.draw(&[], Area { rows: lines(&["running 1s", "> "]), cursor: Some((1, 2)) }).unwrap();
        screen
            .draw(
                &lines(&["said"]),
                Area { rows: lines(&["running 2s", "> hi", "status"]), cursor: Some((1, 4)) },
            )
            .unwrap();
        assert_eq!(screen.out().text(), ["said", "running 2s", "> hi", "status"]);
        assert_eq!(screen.out().at, (2, 4));

        screen.leave(&lines(&["done"])).unwrap();
        assert_eq!(screen.out().text(), ["said", "done", ""]);
    }

    #[test]
    fn an_area_higher_than_the_terminal_shows_its_end() {
        let mut screen = Screen::new(Paper::new(20), Size { columns: 20, rows: 4 }, false);

        screen.draw(&[], Area { rows: lines(&["1", "2", "3", "4", "> "]), cursor: Some((4, 2)) }).unwrap();

        assert_eq!(screen.out().text(), ["3", "4", ">"]);
    }

    #[test]
    fn rows_are_cut_to_the_terminal() {
        let mut screen = Screen::new(Paper::new(12), Size { columns: 12, rows: 4 }, false);

        screen.draw(&[], Area { rows: lines(&["a line that is too long"]), cursor: None }).unwrap();

        assert_eq!(screen.out().text(), ["a line tha…"]);
    }
}
