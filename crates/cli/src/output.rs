//! Where answers go: tables and colours for people, plain text when piped, JSON when asked.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use serde_json::Value;

use crate::command::Failure;

/// Width assumed where the terminal does not tell.
const DEFAULT_WIDTH: usize = 100;

/// Standard output, and how to write on it.
pub(crate) struct Output {
    json: bool,
    colour: bool,
    terminal: bool,
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

/// One cell of a table.
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: Tone::Plain }
    }

    pub(crate) fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

impl Output {
    pub(crate) fn new(json: bool, plain: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        Self { json, colour: terminal && !plain, terminal }
    }

    /// Whether the caller wants JSON.
    pub(crate) fn wants_json(&self) -> bool {
        self.json
    }

    /// One JSON document: on one line when piped or asked for, indented for a person.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        let pretty = self.terminal;
        let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
        self.line(&text.map_err(Failure::failed)?)
    }

    /// Text that is already JSON.
    pub(crate) fn json_text(&self, text: &str) -> Result<(), Failure> {
        if !self.terminal {
            return self.line(text);
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) => self.json(&value),
            Err(_) => self.line(text),
        }
    }

    /// One line of text.
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    /// A table: columns as wide as their widest cell; the last one is cut to the terminal.
    pub(crate) fn table(&self, head: &[&str], rows: &[Vec<Cell>]) -> Result<(), Failure> {
        let mut widths: Vec<usize> = head.iter().map(|cell| width(cell)).collect();
        for row in rows {
            for (known, cell) in widths.iter_mut().zip(row) {
                *known = (*known).max(width(&cell.text));
            }
        }
        let mut text = String::new();
        if self.terminal {
            let head: Vec<Cell> = head.iter().map(|cell| Cell::new(*cell).tone(Tone::Faint)).collect();
            self.row(&mut text, &widths, &head);
        }
        for row in rows {
            self.row(&mut text, &widths, row);
        }
        self.line(text.trim_end_matches('\n'))
    }

    fn row(&self, text: &mut String, widths: &[usize], row: &[Cell]) {
        let mut used = 0;
        let last = row.len().saturating_sub(1);
        for (at, (cell, wide)) in row.iter().zip(widths).enumerate() {
            if at == last {
                let room = self.room().map_or(usize::MAX, |all| all.saturating_sub(used));
                text.push_str(&self.paint(&cut(&cell.text, room), cell.tone));
            } else {
                text.push_str(&self.paint(&cell.text, cell.tone));
                text.extend(std::iter::repeat_n(' ', wide - width(&cell.text) + 2));
                used += wide + 2;
            }
        }
        while text.ends_with(' ') {
            text.pop();
        }
        text.push('\n');
    }

    fn room(&self) -> Option<usize> {
        let known =
            || terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(columns, _)| usize::from(columns.0));
        self.terminal.then(known)
    }

    /// The text in its tone, where colours are wanted.
    pub(crate) fn paint(&self, text: &str, tone: Tone) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Strong => "1",
            Tone::Good => "32",
            Tone::Bad => "33",
            Tone::Faint => "2",
        };
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Something worth knowing that is not the answer.
    pub(crate) fn warn(&self, text: &str) {
        // Standard error may be closed; a warning is not worth failing for.
        let _ = writeln!(io::stderr(), "warning: {text}");
    }
}

/// Says on standard error why a command failed.
pub(crate) fn complain(failure: &Failure) {
    if let Failure::Usage(why) | Failure::Failed(why) = failure {
        // Standard error may be closed; the exit code says it too.
        let _ = writeln!(io::stderr(), "hermes: {why}");
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{kept}…")
}
