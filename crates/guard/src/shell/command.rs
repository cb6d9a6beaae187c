//! Simple commands: assignments, words and redirections.

use std::borrow::Cow;

use super::heredoc::Pending;
use super::parse::{Parser, empty_word};
use super::{
    Assign, AssignValue, Doc, MAX_WORDS, Node, Part, Parts, Redirect, RedirectOp, RedirectTarget, Simple,
    Word,
};
use crate::effect::Span;

/// Most here-documents announced on one line.
const MOST_PENDING: usize = 64;

impl<'a> Parser<'a> {
    pub(super) fn simple_or_function(&mut self, start: usize) -> Option<Node<'a>> {
        let mut simple = Simple::default();
        let first = self.words.len();
        let mut end = start;
        let mut declares = false;
        loop {
            self.blanks();
            let Some(byte) = self.cursor.peek() else { break };
            if matches!(byte, b'<' | b'>' | b'&' | b'{' | b'0'..=b'9')
                && let Some(redirect) = self.redirect()
            {
                end = self.cursor.at();
                simple.redirects.push(redirect);
                continue;
            }
            if matches!(byte, b';' | b'\n' | b'&' | b'|' | b')') {
                break;
            }
            let count = self.words.len() - first;
            if count + simple.assigns.len() >= MAX_WORDS {
                self.faults.too_long = true;
                self.cursor.jump(usize::MAX);
                break;
            }
            if (count == 0 || (declares && self.array_ahead()))
                && let Some(assign) = self.assignment()
            {
                end = self.cursor.at();
                simple.assigns.push(assign);
                continue;
            }
            // `name ()` begins a function.
            if byte == b'(' {
                if count == 1 && simple.assigns.is_empty() && self.empty_parentheses() {
                    let name = self.words.pop().map_or(Span::new(start, start), |word| word.span);
                    let name = self.cursor.slice(name.start, name.end);
                    return self.nested(|parser| parser.function_body(name));
                }
                if count > 0 {
                    self.stray_parenthesis();
                    continue;
                }
            }
            let Some(word) = self.word() else { break };
            end = self.cursor.at();
            if count == 0 {
                declares = word.bare().is_some_and(|word| {
                    matches!(word, "declare" | "local" | "typeset" | "readonly" | "export")
                });
            }
            self.words.push(word);
        }
        if end == start {
            return None;
        }
        simple.words = if first == 0 && self.words.len() > 64 {
            std::mem::take(&mut self.words)
        } else {
            self.words.drain(first..).collect()
        };
        simple.span = Span::new(start, end);
        Some(Node::Simple(Box::new(simple)))
    }

    /// Whether `name=(` or `name+=(` stands at the position.
    pub(super) fn array_ahead(&self) -> bool {
        let bytes = self.cursor.rest_bytes();
        let name = bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let rest = bytes.get(name..).unwrap_or_default();
        name > 0 && (rest.starts_with(b"=(") || rest.starts_with(b"+=("))
    }

    /// `(` in the middle of arguments is a fault for the shell; what is inside may be a command
    /// after all (PowerShell, a lost quote), so it is read as one word of text.
    pub(super) fn stray_parenthesis(&mut self) {
        self.faults.broken = true;
        let start = self.cursor.at();
        self.cursor.skip(1);
        let span = Span::new(start, self.cursor.at());
        self.words.push(Word { parts: Parts::One(Part::Quoted(Cow::Borrowed("("))), span });
    }

    pub(super) fn empty_parentheses(&mut self) -> bool {
        let mut probe = self.cursor;
        probe.skip(1);
        while matches!(probe.peek(), Some(b' ' | b'\t')) {
            probe.skip(1);
        }
        let empty = probe.eat(")");
        if empty {
            self.cursor = probe;
        }
        empty
    }

    /// `name=…` at the position.
    pub(super) fn assignment(&mut self) -> Option<Assign<'a>> {
        let bytes = self.cursor.rest_bytes();
        if !matches!(bytes.first(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_')) {
            return None;
        }
        let length = bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let mut probe = self.cursor;
        let start = probe.at();
        probe.skip(length);
        let name = probe.since(start);
        let mut index = None;
        if probe.peek() == Some(b'[') {
            let from = probe.at() + 1;
            let close = probe.rest_bytes().iter().take(64).position(|b| *b == b']')?;
            probe.skip(close);
            index = Some(probe.since(from));
            probe.skip(1);
        }
        let append = probe.eat("+");
        if !probe.eat("=") {
            return None;
        }
        self.cursor = probe;
        if self.cursor.peek() == Some(b'(') {
            return Some(Assign { name, index, append, value: AssignValue::Array(self.array()) });
        }
        let word = self.word().unwrap_or_else(|| empty_word(self.cursor.at()));
        Some(Assign { name, index, append, value: AssignValue::Word(word) })
    }

    pub(super) fn array(&mut self) -> Vec<Word<'a>> {
        self.cursor.skip(1);
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.cursor.peek() {
                Some(b'\n') => self.newline(),
                Some(b')') => {
                    self.cursor.skip(1);
                    return words;
                }
                None => {
                    self.faults.broken = true;
                    return words;
                }
                Some(_) => {
                    if let Some(word) = self.word() {
                        words.push(word);
                    } else {
                        self.faults.broken = true;
                        self.cursor.skip(1);
                    }
                }
            }
        }
    }

    pub(super) fn redirects(&mut self) -> Vec<Redirect<'a>> {
        let mut found = Vec::new();
        loop {
            self.blanks();
            match self.redirect() {
                Some(redirect) => found.push(redirect),
                None => return found,
            }
        }
    }

    pub(super) fn redirect(&mut self) -> Option<Redirect<'a>> {
        let start = self.cursor.at();
        let mut probe = self.cursor;
        let mut fd = None;
        if probe.peek() == Some(b'{') {
            let close = probe.rest_bytes().iter().take(32).position(|b| *b == b'}')?;
            probe.skip(close + 1);
            if !matches!(probe.peek(), Some(b'<' | b'>')) {
                return None;
            }
        } else {
            let digits = probe.rest_bytes().iter().take(4).take_while(|b| b.is_ascii_digit()).count();
            probe.skip(digits);
            fd = probe.since(start).parse().ok();
        }
        let both = fd.is_none() && probe.peek() == Some(b'&') && probe.peek_at(1) == Some(b'>');
        if both {
            probe.skip(1);
        }
        if !matches!(probe.peek(), Some(b'<' | b'>')) || (probe.peek_at(1) == Some(b'(') && !both) {
            return None;
        }
        self.cursor = probe;
        let op = self.redirect_op();
        if op == RedirectOp::HereDoc {
            let tabs = self.cursor.eat("-");
            self.blanks();
            return Some(self.here_document(tabs, fd, start));
        }
        self.blanks();
        let word = self.word().unwrap_or_else(|| {
            self.faults.broken = true;
            empty_word(self.cursor.at())
        });
        // `>&file` writes a file; `>&2` and `>&-` only move descriptors.
        let moves = word
            .bare()
            .is_some_and(|t| t == "-" || t.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit()));
        let op = if op == RedirectOp::Duplicate && !moves { RedirectOp::Write } else { op };
        Some(Redirect {
            op,
            fd,
            target: RedirectTarget::Word(word),
            span: Span::new(start, self.cursor.at()),
        })
    }

    pub(super) fn redirect_op(&mut self) -> RedirectOp {
        const OPS: [(&str, RedirectOp); 12] = [
            ("<<<", RedirectOp::HereString),
            ("<<", RedirectOp::HereDoc),
            ("<>", RedirectOp::ReadWrite),
            ("<&", RedirectOp::Read),
            ("<", RedirectOp::Read),
            (">>|", RedirectOp::Append),
            (">>!", RedirectOp::Append),
            (">>", RedirectOp::Append),
            (">&", RedirectOp::Duplicate),
            (">|", RedirectOp::Write),
            (">!", RedirectOp::Write),
            (">", RedirectOp::Write),
        ];
        for (sign, op) in OPS {
            if self.cursor.eat(sign) {
                return op;
            }
        }
        RedirectOp::Write
    }

    pub(super) fn here_document(&mut self, tabs: bool, fd: Option<u32>, start: usize) -> Redirect<'a> {
        let word = self.word().unwrap_or_else(|| empty_word(self.cursor.at()));
        let mut delimiter = String::new();
        let live = word.bare().is_some();
        for part in word.parts.as_slice() {
            literal(part, &mut delimiter);
        }
        self.commands_left = self.commands_left.saturating_sub(1);
        if self.pending.len() >= MOST_PENDING {
            self.faults.too_long = true;
            self.cursor.jump(usize::MAX);
        }
        let slot = self.docs.len();
        self.docs.push(Doc::default());
        self.pending.push((Pending { delimiter, tabs, live }, slot));
        let span = Span::new(start, self.cursor.at());
        Redirect { op: RedirectOp::HereDoc, fd, target: RedirectTarget::Doc(slot), span }
    }
}

/// The text of a delimiter, quotes gone.
fn literal(part: &Part<'_>, out: &mut String) {
    match part {
        Part::Bare(text) => out.push_str(text),
        Part::Quoted(text) => out.push_str(text),
        Part::Double(parts) => parts.iter().for_each(|part| literal(part, out)),
        _ => {}
    }
}
