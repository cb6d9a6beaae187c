//! Tables for people: columns as wide as their widest cell, the last one cut to the terminal, or going
//! on below itself where nothing may be missing.
//!
//! Pure: cells and a look in, text out. Widths are those of a terminal, where a letter of some
//! scripts and most pictures take two columns. Nothing in a cell can move the cursor.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Between two columns.
const GAP: usize = 2;

/// Least columns that a text which goes on below itself is given; with fewer it goes on further left.
const NARROWEST: usize = 24;

/// What becomes of a last column that is too wide for the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overlong {
    Cut,
    Below,
}

/// How a piece of text stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Good,
    Bad,
    Faint,
}

/// What the output can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Tones are shown.
    pub(crate) colour: bool,
    /// The columns of the terminal; nothing is cut, and no heading shown, where there is none.
    pub(crate) columns: Option<usize>,
}

/// One cell.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
    right: bool,
}

impl Cell {
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self { text: on_one_line(text.as_ref()), tone: Tone::Plain, right: false }
    }

    pub(crate) fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// A number: its last digit stands under those of the others.
    pub(crate) fn right(mut self) -> Self {
        self.right = true;
        self
    }

    fn width(&self) -> usize {
        self.text.width()
    }
}

impl Look {
    /// The text in its tone, where tones are shown.
    pub(crate) fn paint(self, text: &str, tone: Tone) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Strong => "1",
            Tone::Good => "32",
            Tone::Bad => "33",
            Tone::Faint => "2",
        };
        if self.colour && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// The table as lines, each ended; nothing for no rows.
    pub(crate) fn table(self, head: &[&str], rows: &[Vec<Cell>]) -> String {
        self.lines(head, rows, Overlong::Cut)
    }

    /// The same, with every word of the last column.
    pub(crate) fn whole_table(self, head: &[&str], rows: &[Vec<Cell>]) -> String {
        self.lines(head, rows, Overlong::Below)
    }

    fn lines(self, head: &[&str], rows: &[Vec<Cell>], overlong: Overlong) -> String {
        let titled = self.columns.is_some() && head.iter().any(|cell| !cell.is_empty());
        let mut widths: Vec<usize> = head.iter().map(|cell| if titled { cell.width() } else { 0 }).collect();
        for row in rows {
            for (known, cell) in widths.iter_mut().zip(row) {
                *known = (*known).max(cell.width());
            }
        }
        let mut text = String::new();
        if titled && !rows.is_empty() {
            let head: Vec<Cell> = head.iter().map(|cell| Cell::new(cell).tone(Tone::Faint)).collect();
            text.push_str(&self.row(&widths, &head, Overlong::Cut));
        }
        for row in rows {
            text.push_str(&self.row(&widths, row, overlong));
        }
        text
    }

    fn row(self, widths: &[usize], row: &[Cell], overlong: Overlong) -> String {
        let (mut line, mut used) = (String::new(), 0);
        let last = row.len().saturating_sub(1);
        for (at, (cell, &wide)) in row.iter().zip(widths).enumerate() {
            let pad = " ".repeat(wide.saturating_sub(cell.width()));
            let text = match self.columns {
                Some(all) if at == last && overlong == Overlong::Cut => {
                    cut(&cell.text, all.saturating_sub(used))
                }
                Some(all) if at == last => folded(&cell.text, used, all),
                _ => cell.text.clone(),
            };
            let painted = self.paint(&text, cell.tone);
            match (cell.right, at == last) {
                (true, _) => line.extend([pad, painted]),
                (false, true) => line.push_str(&painted),
                (false, false) => line.extend([painted, pad]),
            }
            if at < last {
                line.push_str(&" ".repeat(GAP));
                used += wide + GAP;
            }
        }
        line.push('\n');
        // Where the last cell is empty, or begins on the next line, nothing is left hanging.
        line.split_inclusive('\n').flat_map(|line| [line.trim_end_matches([' ', '\n']), "\n"]).collect()
    }
}

/// The text with nothing in it that a terminal would obey: a tool's description may come from
/// anywhere. Line breaks stay.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(|c| if is_obeyed(c) && c != '\n' { ' ' } else { c }).collect()
}

/// Whether a terminal would do something at this letter, or show what follows in another order.
fn is_obeyed(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text as one harmless line.
pub(crate) fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if is_obeyed(c) { ' ' } else { c }).collect()
}

/// The text in lines that end before column `all`: the first begins at column `used`, the others below
/// it, or further left where that would leave them too little room.
fn folded(text: &str, used: usize, all: usize) -> String {
    let indent = used.min(all.saturating_sub(NARROWEST));
    let (mut lines, mut line, mut wide) = (Vec::new(), String::new(), used);
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let gap = usize::from(!line.is_empty());
        if wide + gap + word.width() > all && (gap == 1 || wide > indent) {
            lines.push(std::mem::take(&mut line));
            wide = indent;
        }
        if !line.is_empty() {
            line.push(' ');
            wide += 1;
        }
        // A word without an end, such as a path, is broken where the line is.
        for c in word.chars() {
            let room = c.width().unwrap_or(0);
            if wide + room > all && wide > indent {
                lines.push(std::mem::take(&mut line));
                wide = indent;
            }
            line.push(c);
            wide += room;
        }
    }
    lines.push(line);
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

/// The text, or as much of it as fits with a sign that there is more.
fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        kept.push(c);
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PIPED: Look = Look { colour: false, columns: None };

    fn terminal(columns: usize) -> Look {
        Look { colour: false, columns: Some(columns) }
    }

    fn row(cells: &[&str]) -> Vec<Cell> {
        cells.iter().map(Cell::new).collect()
    }

    #[test]
    fn piped_there_is_no_heading_and_nothing_is_cut() {
        let long = "x".repeat(500);

        let text = PIPED.table(&["A", "B"], &[row(&["read_file", &long]), row(&["todo", ""])]);

        assert_eq!(text, format!("read_file  {long}\ntodo\n"));
    }

    #[test]
    fn on_a_terminal_there_is_a_heading_and_the_last_column_is_cut() {
        let text = terminal(16).table(&["TOOL", "WHAT"], &[row(&["todo", "keeps a list of tasks"])]);

        assert_eq!(text, "TOOL  WHAT\ntodo  keeps a l…\n");
    }

    #[test]
    fn where_nothing_may_be_missing_the_last_column_goes_on_below_itself() {
        let rows = [row(&["tools", "needs a key; run hermes setup"]), row(&["home", "fine"])];

        let text = terminal(31).whole_table(&["CHECK", "WHAT"], &rows);

        assert_eq!(text, "CHECK  WHAT\ntools  needs a key; run hermes\n       setup\nhome   fine\n");
        assert_eq!(
            PIPED.whole_table(&["", ""], &rows),
            "tools  needs a key; run hermes setup\nhome   fine\n"
        );
    }

    #[test]
    fn a_long_first_column_leaves_the_lines_below_room_further_left() {
        let rows = [row(&["a-very-long-name-of-a-command", "what it is for"])];

        let text = terminal(32).whole_table(&["", ""], &rows);

        assert_eq!(text, "a-very-long-name-of-a-command\n        what it is for\n");
    }

    #[test]
    fn wide_letters_and_pictures_take_two_columns() {
        let rows = [row(&["読む", "a"]), row(&["📖", "b"]), row(&["x", "c"])];

        assert_eq!(PIPED.table(&["", ""], &rows), "読む  a\n📖    b\nx     c\n");
        assert_eq!(cut("読み込む", 5), "読み…");
        assert_eq!(cut("読み込む", 8), "読み込む");
    }

    #[test]
    fn numbers_end_under_each_other() {
        let rows =
            [vec![Cell::new("a"), Cell::new("7").right()], vec![Cell::new("b"), Cell::new("12").right()]];

        assert_eq!(PIPED.table(&["", ""], &rows), "a   7\nb  12\n");
    }

    #[test]
    fn tones_are_shown_only_where_wanted() {
        let coloured = Look { colour: true, columns: None };

        assert_eq!(PIPED.paint("on", Tone::Good), "on");
        assert_eq!(coloured.paint("on", Tone::Good), "\u{1b}[32mon\u{1b}[0m");
        assert_eq!(coloured.paint("", Tone::Good), "");
    }

    #[test]
    fn a_cell_cannot_speak_to_the_terminal() {
        let text = PIPED.table(&["A"], &[row(&["a\u{1b}]0;title\u{7}\nb\u{9b}2J"])]);

        assert_eq!(text, "a ]0;title  b 2J\n");
        assert_eq!(harmless("a\nb\u{1b}c\u{202e}d"), "a\nb c d");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(texts in prop::collection::vec("\\PC{0,40}", 1..6), columns in 12_usize..60) {
            let rows: Vec<_> = texts.iter().map(|text| row(&["tool", text])).collect();

            for line in terminal(columns).table(&["A", "B"], &rows).lines() {
                prop_assert!(line.width() <= columns, "{line:?}");
            }
        }

        #[test]
        fn no_letter_is_missing_from_a_whole_table(text in "\\PC{0,80}", columns in 12_usize..60) {
            let whole = terminal(columns).whole_table(&["", ""], &[row(&["tool", &text])]);

            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&whole), letters(&format!("tool{text}")));
            for line in whole.lines() {
                prop_assert!(line.width() <= columns, "{line:?}");
            }
        }
    }
}
