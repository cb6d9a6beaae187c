//! Where answers go: tables and colours for people, plain text when piped, JSON when asked.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use serde_json::Value;

use crate::command::Failure;
use crate::table::{Cell, Look, Tone, harmless, on_one_line};

/// Columns assumed where a terminal does not tell.
const DEFAULT_COLUMNS: usize = 100;

/// Standard output, and how to write on it.
pub(crate) struct Output {
    stdout: io::Stdout,
    json: bool,
    look: Look,
}

impl Output {
    /// `plain` means: no colours, even on a terminal.
    pub(crate) fn new(json: bool, plain: bool) -> Self {
        let stdout = io::stdout();
        let columns = stdout.is_terminal().then(|| {
            terminal_size::terminal_size().map_or(DEFAULT_COLUMNS, |(columns, _)| usize::from(columns.0))
        });
        Self { stdout, json, look: Look { colour: columns.is_some() && !plain, columns } }
    }

    /// Whether the caller wants JSON.
    pub(crate) fn wants_json(&self) -> bool {
        self.json
    }

    /// One JSON document: on one line when piped, indented for a person.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        if !self.for_a_person() {
            return self.line(&serde_json::to_string(value).map_err(Failure::failed)?);
        }
        let text = serde_json::to_string_pretty(value).map_err(Failure::failed)?;
        // JSON leaves these as they are; a terminal may obey them.
        let text: String =
            text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect();
        self.line(&text)
    }

    /// Text that is already JSON.
    pub(crate) fn json_text(&self, text: &str) -> Result<(), Failure> {
        match serde_json::from_str::<Value>(text) {
            Ok(value) if self.for_a_person() => self.json(&value),
            _ => self.line(text),
        }
    }

    /// One line of text, as it is.
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        let mut out = self.stdout.lock();
        out.write_all(text.as_bytes())?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    /// Text for a person, which may come from a stranger.
    pub(crate) fn text(&self, text: &str) -> Result<(), Failure> {
        self.line(&harmless(text))
    }

    /// A table; nothing when there are no rows.
    pub(crate) fn table(&self, head: &[&str], rows: &[Vec<Cell>]) -> Result<(), Failure> {
        let text = self.look.table(head, rows);
        if text.is_empty() { Ok(()) } else { self.line(text.trim_end_matches('\n')) }
    }

    /// A table of which nothing may be missing: the last column goes on below itself.
    pub(crate) fn whole_table(&self, head: &[&str], rows: &[Vec<Cell>]) -> Result<(), Failure> {
        let text = self.look.whole_table(head, rows);
        if text.is_empty() { Ok(()) } else { self.line(text.trim_end_matches('\n')) }
    }

    /// A remark below an answer, for people only.
    pub(crate) fn remark(&self, text: &str) -> Result<(), Failure> {
        if self.for_a_person() { self.line(&self.paint(text, Tone::Faint)) } else { Ok(()) }
    }

    /// Something beside the answer that is nice to know, on standard error.
    pub(crate) fn aside(&self, text: &str) {
        let mut err = io::stderr();
        let text = if err.is_terminal() { self.paint(text, Tone::Faint) } else { on_one_line(text) };
        // Standard error may be closed; then nobody is there to read it.
        let _ = writeln!(err, "{text}");
    }

    /// In place of a list that is empty: what to do next, beside the answer, which is nothing.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "it stands in for a table")]
    pub(crate) fn nothing(&self, next: &str) -> Result<(), Failure> {
        say(next);
        Ok(())
    }

    /// The text in its tone, where colours are wanted.
    pub(crate) fn paint(&self, text: &str, tone: Tone) -> String {
        self.look.paint(&on_one_line(text), tone)
    }

    fn for_a_person(&self) -> bool {
        self.look.columns.is_some()
    }
}

/// Something worth knowing that is not the answer.
pub(crate) fn warn(text: &str) {
    // Standard error may be closed; a warning is not worth failing for.
    let _ = writeln!(io::stderr(), "warning: {}", harmless(text));
}

/// Something for the person at the terminal that is not the answer.
pub(crate) fn say(text: &str) {
    // Standard error may be closed; then nobody is there to read it.
    let _ = writeln!(io::stderr(), "{}", harmless(text));
}

/// Says on standard error why a command failed.
pub(crate) fn complain(why: &str) {
    // Standard error may be closed; the exit code says it too.
    let _ = writeln!(io::stderr(), "error: {}", harmless(why));
}
