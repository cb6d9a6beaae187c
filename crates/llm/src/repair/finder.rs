//! Finds calls in text as it streams, whatever dialect they are written in.

use hermes_core::model::ModelCall;

use super::Piece;
use super::dialects::{DIALECTS, Dialect, Place};
use super::lines::Lines;
use super::spans::{Parsed, Span};
use crate::tools_json::Offered;

/// Most bytes held back; a call that is longer is shown as the text it was written as.
const MAX_HELD: usize = 4 * 1024 * 1024;

/// Up to here every piece is looked at; beyond, only when the text has grown by a quarter.
const EAGER: usize = 512;

/// The state of the search.
pub(super) struct CallFinder {
    offered: Offered,
    held: String,
    lines: Lines,
    /// The held text is not looked at before it is so long.
    next_look: usize,
    /// A call was just found: the space behind it is not words.
    after_call: bool,
}

/// What stands at a place where a call may begin.
enum Look {
    Calls(Vec<ModelCall>, usize),
    Wait,
    Nothing,
}

impl CallFinder {
    pub(super) fn new(offered: Offered) -> Self {
        Self { offered, held: String::new(), lines: Lines::default(), next_look: 0, after_call: false }
    }

    pub(super) fn push(&mut self, text: &str, out: &mut Vec<Piece>) {
        self.held.push_str(text);
        if self.held.len() >= self.next_look {
            self.search(false, out);
        }
        if self.held.len() > MAX_HELD {
            self.release(out);
        }
    }

    /// The text is over.
    pub(super) fn end(&mut self, out: &mut Vec<Piece>) {
        self.search(true, out);
        if self.held.is_empty() {
            return;
        }
        // A call that was begun and not ended is passed on as it is, and said to be cut off.
        match self.cut() {
            Some(call) => {
                self.held.clear();
                out.push(Piece::Call { call, cut_off: true });
            }
            None => self.release(out),
        }
    }

    /// Shows what is held as text.
    pub(super) fn release(&mut self, out: &mut Vec<Piece>) {
        let text = std::mem::take(&mut self.held);
        self.show(&text, out);
        self.next_look = 0;
    }

    fn search(&mut self, ended: bool, out: &mut Vec<Piece>) {
        let held = std::mem::take(&mut self.held);
        let mut shown = 0;
        let mut from = 0;
        let mut lines = self.lines.clone();
        self.next_look = 0;
        let opening = |c: char| matches!(c, '<' | '[' | '`' | '{');
        while let Some(found) = held.get(from..).and_then(|rest| rest.find(opening)) {
            let at = from + found;
            lines.pass(held.get(from..at).unwrap_or_default());
            let rest = held.get(at..).unwrap_or_default();
            match self.look(rest, &lines, ended) {
                Look::Calls(calls, used) => {
                    self.show(held.get(shown..at).unwrap_or_default(), out);
                    out.extend(calls.into_iter().map(|call| Piece::Call { call, cut_off: false }));
                    from = at + used.max(1);
                    shown = from;
                    self.after_call = true;
                    self.lines.begin_line();
                    lines = self.lines.clone();
                }
                Look::Wait => {
                    self.show(held.get(shown..at).unwrap_or_default(), out);
                    rest.clone_into(&mut self.held);
                    self.next_look = if rest.len() < EAGER { 0 } else { rest.len() + rest.len() / 4 };
                    return;
                }
                Look::Nothing => {
                    let length = rest.chars().next().map_or(1, char::len_utf8);
                    lines.pass(rest.get(..length).unwrap_or_default());
                    from = at + length;
                }
            }
        }
        self.show(held.get(shown..).unwrap_or_default(), out);
    }

    fn look(&self, rest: &str, lines: &Lines, ended: bool) -> Look {
        let span = Span { text: rest, offered: &self.offered, trusted: !lines.in_fence(), ended };
        let mut wait = false;
        for dialect in DIALECTS.iter().filter(|dialect| dialect.fits(lines)) {
            if dialect.opens.iter().any(|opens| rest.starts_with(opens)) {
                match (dialect.parse)(&span) {
                    Parsed::Calls { calls, used } if !calls.is_empty() => return Look::Calls(calls, used),
                    Parsed::More => wait = true,
                    Parsed::Calls { .. } | Parsed::No => {}
                }
            } else if dialect.opens.iter().any(|opens| opens.starts_with(rest)) {
                wait = true;
            }
        }
        if wait { Look::Wait } else { Look::Nothing }
    }

    /// The call that the held text begins and does not end.
    fn cut(&self) -> Option<ModelCall> {
        let trusted = !self.lines.in_fence();
        let span = Span { text: &self.held, offered: &self.offered, trusted, ended: true };
        let opened = |dialect: &&&Dialect| {
            dialect.opens.iter().any(|opens| self.held.starts_with(opens)) && dialect.fits(&self.lines)
        };
        DIALECTS.iter().filter(opened).find_map(|dialect| (dialect.cut)(&span))
    }

    fn show(&mut self, text: &str, out: &mut Vec<Piece>) {
        self.lines.pass(text);
        let text = if self.after_call { text.trim_start() } else { text };
        if !text.is_empty() {
            self.after_call = false;
            out.push(Piece::Text(text.to_owned()));
        }
    }
}

impl Dialect {
    fn fits(&self, lines: &Lines) -> bool {
        self.place == Place::Anywhere || lines.at_line_start()
    }
}
