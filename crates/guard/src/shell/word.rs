//! Words: quotes, escapes, substitutions, up to the next blank or operator.

use std::borrow::Cow;

use super::cursor::Cursor;
use super::{Faults, Part, Parts, Word};
use crate::effect::Span;
use crate::shell::parse::Parser;

/// Where a run of parts ends and which characters are special in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// An ordinary word: ends at blanks and operators.
    Word,
    /// Inside `"…"`: ends at the closing quote.
    Double,
    /// Inside `${…}`: ends at `}`.
    Brace,
    /// The value in `"${x:-…}"`: ends at `}`, and single quotes are letters.
    Value,
    /// The pattern of `${x/pattern/…}`: ends at `/` or `}`.
    Pattern,
    /// A here-document body: ends with the text, quotes mean nothing.
    Body,
}

impl Mode {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// How far arithmetic may be looked for before the text is called unreadable, on top of twice the
/// length of the text.
const MOST_AHEAD: usize = 1 << 16;

/// Reads text that expands as inside double quotes: a live here-document, arithmetic.
pub(crate) fn double_quoted(text: &str) -> (Vec<Part<'_>>, Faults) {
    let mut parser = Parser::new(text);
    let parts = parser.parts(Mode::Body);
    (parts, parser.faults)
}

/// For each byte, the modes in which it means something; everything else is a plain run.
const SPECIAL: [u8; 256] = {
    let table = marked([0; 256], b" \t\n\r;&|<>()'", Mode::Word.bit());
    let table = marked(table, b"\\$`", 0xff);
    let table = marked(table, b"\"", !Mode::Body.bit());
    let table = marked(table, b"'}", Mode::Brace.bit() | Mode::Pattern.bit());
    let table = marked(table, b"}", Mode::Value.bit());
    marked(table, b"/", Mode::Pattern.bit())
};

/// The table with `modes` added for each of `bytes`.
const fn marked(table: [u8; 256], bytes: &[u8], modes: u8) -> [u8; 256] {
    let mut table = table;
    let mut rest = bytes;
    while let [byte, others @ ..] = rest {
        #[expect(clippy::indexing_slicing, reason = "a byte is always inside a table of 256")]
        let entry = &mut table[*byte as usize];
        *entry |= modes;
        rest = others;
    }
    table
}

/// Whether the byte means something in this mode.
fn special(byte: u8, mode: Mode) -> bool {
    SPECIAL.get(usize::from(byte)).is_some_and(|modes| modes & mode.bit() != 0)
}

/// How far nothing special comes. A carriage return is one only at the end of its line.
fn plain_length(bytes: &[u8], mode: Mode) -> usize {
    let mut from = 0;
    while let Some(rest) = bytes.get(from..)
        && let Some(at) = rest.iter().position(|b| special(*b, mode))
    {
        from += at;
        if bytes.get(from) != Some(&b'\r') || bytes.get(from + 1) == Some(&b'\n') {
            return from;
        }
        from += 1;
    }
    bytes.len()
}

impl<'a> Parser<'a> {
    /// The word at the position; `None` when an operator or the end stands there.
    pub(crate) fn word(&mut self) -> Option<Word<'a>> {
        let start = self.cursor.at();
        if let Some(text) = self.bare_word() {
            let span = Span::new(start, self.cursor.at());
            return Some(Word { parts: Parts::One(Part::Bare(text)), span });
        }
        let mut parts = self.parts(Mode::Word);
        if self.cursor.at() == start {
            return None;
        }
        let span = Span::new(start, self.cursor.at());
        let parts = match parts.pop() {
            Some(only) if parts.is_empty() => Parts::One(only),
            Some(last) => {
                parts.push(last);
                Parts::Many(parts.into())
            }
            None => Parts::Many(parts.into()),
        };
        Some(Word { parts, span })
    }

    /// A word without anything special in it, which is what most words are.
    fn bare_word(&mut self) -> Option<&'a str> {
        let bytes = self.cursor.rest_bytes();
        let length = bytes.iter().position(|b| special(*b, Mode::Word)).unwrap_or(bytes.len());
        let ends = matches!(bytes.get(length), None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')'));
        if length == 0 || !ends {
            return None;
        }
        let start = self.cursor.at();
        self.cursor.skip(length);
        Some(self.cursor.since(start))
    }

    /// Reads parts until the mode's end; the end itself is left standing.
    pub(crate) fn parts(&mut self, mode: Mode) -> Vec<Part<'a>> {
        let mut parts = Vec::new();
        loop {
            let start = self.cursor.at();
            self.cursor.skip(plain_length(self.cursor.rest_bytes(), mode));
            if self.cursor.at() > start {
                parts.push(self.plain(start, mode));
            }
            let Some(byte) = self.cursor.peek() else { break };
            if !self.special_part(byte, mode, &mut parts) {
                break;
            }
        }
        parts
    }

    fn plain(&self, start: usize, mode: Mode) -> Part<'a> {
        let text = self.cursor.since(start);
        if matches!(mode, Mode::Double | Mode::Body) {
            Part::Quoted(Cow::Borrowed(text))
        } else {
            Part::Bare(text)
        }
    }

    /// Handles one special byte; false when it ends the run.
    fn special_part(&mut self, byte: u8, mode: Mode, parts: &mut Vec<Part<'a>>) -> bool {
        match byte {
            b'\\' => self.backslash(mode, parts),
            b'$' => self.dollar(mode, parts),
            b'`' => self.backquote(parts),
            b'\'' if mode != Mode::Double => self.single(parts),
            b'"' if mode != Mode::Double => self.double(parts),
            b'(' if mode == Mode::Word && after_glob_sign(parts) => self.glob_group(parts),
            b'<' | b'>' if mode == Mode::Word && self.cursor.peek_at(1) == Some(b'(') => {
                self.process(byte == b'<', parts);
            }
            _ => return false,
        }
        true
    }

    fn backslash(&mut self, mode: Mode, parts: &mut Vec<Part<'a>>) {
        self.cursor.skip(1);
        let Some(next) = self.cursor.peek() else {
            parts.push(Part::Quoted(Cow::Borrowed("\\")));
            return;
        };
        if next == b'\n' {
            self.cursor.skip(1);
            return;
        }
        if next == b'\r' && self.cursor.peek_at(1) == Some(b'\n') {
            self.cursor.skip(2);
            return;
        }
        let keeps = match mode {
            Mode::Double | Mode::Body => !matches!(next, b'$' | b'`' | b'"' | b'\\'),
            Mode::Value => !matches!(next, b'$' | b'`' | b'"' | b'\\' | b'}'),
            _ => false,
        };
        if keeps {
            parts.push(Part::Quoted(Cow::Borrowed("\\")));
            return;
        }
        let step = self.cursor.rest().chars().next().map_or(1, char::len_utf8);
        let start = self.cursor.at();
        self.cursor.skip(step);
        parts.push(Part::Quoted(Cow::Borrowed(self.cursor.since(start))));
    }

    fn single(&mut self, parts: &mut Vec<Part<'a>>) {
        self.cursor.skip(1);
        let start = self.cursor.at();
        if !self.cursor.seek(b'\'') {
            self.faults.broken = true;
        }
        parts.push(Part::Quoted(Cow::Borrowed(self.cursor.since(start))));
        self.cursor.skip(1);
    }

    pub(crate) fn double(&mut self, parts: &mut Vec<Part<'a>>) {
        self.cursor.skip(1);
        let inner = self.nested(|parser| parser.parts(Mode::Double)).unwrap_or_default();
        if !self.cursor.eat("\"") {
            self.faults.broken = true;
        }
        parts.push(Part::Double(inner.into()));
    }

    fn dollar(&mut self, mode: Mode, parts: &mut Vec<Part<'a>>) {
        let quoting = !matches!(mode, Mode::Double | Mode::Body | Mode::Value);
        match self.cursor.peek_at(1) {
            Some(b'\'') if quoting => self.ansi(parts),
            Some(b'"') if quoting => {
                self.cursor.skip(1);
                self.double(parts);
            }
            Some(b'(') => self.dollar_paren(parts),
            Some(b'[') => self.old_arithmetic(parts),
            _ => {
                if let Some(param) = self.parameter(!quoting) {
                    parts.push(Part::Param(Box::new(param)));
                } else {
                    self.cursor.skip(1);
                    parts.push(Part::Quoted(Cow::Borrowed("$")));
                }
            }
        }
    }

    fn ansi(&mut self, parts: &mut Vec<Part<'a>>) {
        self.cursor.skip(2);
        let start = self.cursor.at();
        loop {
            match self.cursor.peek() {
                None => {
                    self.faults.broken = true;
                    break;
                }
                Some(b'\'') => break,
                Some(b'\\') => self.cursor.skip(2),
                Some(_) => self.cursor.skip(1),
            }
        }
        let text = self.cursor.since(start);
        self.cursor.skip(1);
        parts.push(Part::Quoted(Cow::Owned(super::ansi::decode(text))));
    }

    /// `$((…))` when its parentheses close as arithmetic, otherwise `$(…)`.
    fn dollar_paren(&mut self, parts: &mut Vec<Part<'a>>) {
        let start = self.cursor.at();
        if self.cursor.peek_at(2) == Some(b'(')
            && let Some(end) = self.arithmetic_end(start + 3)
        {
            parts.push(Part::Arithmetic(self.cursor.slice(start + 3, end)));
            self.cursor.jump(end + 2);
            return;
        }
        self.cursor.skip(2);
        let list = self.nested(|parser| parser.list(&[])).unwrap_or_default();
        if !self.cursor.eat(")") {
            self.faults.broken = true;
        }
        parts.push(Part::Command(Box::new(list)));
    }

    /// Where the `))` of arithmetic that begins at `from` stands. `None` when the parentheses
    /// close one by one, which makes it a subshell in a substitution. A text that makes us look
    /// ahead again and again is given up, so that reading stays linear.
    pub(crate) fn arithmetic_end(&mut self, from: usize) -> Option<usize> {
        if self.looked_ahead > MOST_AHEAD + 2 * self.cursor.length() {
            self.faults.too_long = true;
            self.cursor.jump(usize::MAX);
            return None;
        }
        let mut probe = self.cursor;
        probe.jump(from);
        let end = closing_pair(&mut probe);
        self.looked_ahead += probe.at().saturating_sub(from);
        end
    }

    fn old_arithmetic(&mut self, parts: &mut Vec<Part<'a>>) {
        let mut probe = self.cursor;
        probe.skip(2);
        let from = probe.at();
        while let Some(byte) = probe.peek() {
            match byte {
                b']' => {
                    parts.push(Part::Arithmetic(probe.since(from)));
                    self.cursor.jump(probe.at() + 1);
                    return;
                }
                b'0'..=b'9'
                | b'a'..=b'z'
                | b'A'..=b'Z'
                | b'_'
                | b'+'
                | b'-'
                | b'*'
                | b'/'
                | b'%'
                | b' '
                | b'$' => {
                    probe.skip(1);
                }
                _ => break,
            }
        }
        self.cursor.skip(1);
        parts.push(Part::Quoted(Cow::Borrowed("$")));
    }

    fn backquote(&mut self, parts: &mut Vec<Part<'a>>) {
        let from = self.cursor.at();
        self.cursor.skip(1);
        let start = self.cursor.at();
        let mut escaped = false;
        loop {
            match self.cursor.peek() {
                None => {
                    self.faults.broken = true;
                    break;
                }
                Some(b'`') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.cursor.skip(2);
                }
                Some(_) => self.cursor.skip(1),
            }
        }
        let text = self.cursor.since(start);
        self.cursor.skip(1);
        let text = if escaped { Cow::Owned(unescape_backquote(text)) } else { Cow::Borrowed(text) };
        parts.push(Part::Backquote(Box::new((text, Span::new(from, self.cursor.at())))));
    }

    fn process(&mut self, reads: bool, parts: &mut Vec<Part<'a>>) {
        self.cursor.skip(2);
        let start = self.cursor.at();
        let list = self.nested(|parser| parser.list(&[])).unwrap_or_default();
        let span = Span::new(start, self.cursor.at());
        if !self.cursor.eat(")") {
            self.faults.broken = true;
        }
        parts.push(Part::Process(Box::new((list, reads, span))));
    }

    fn glob_group(&mut self, parts: &mut Vec<Part<'a>>) {
        let start = self.cursor.at();
        let mut depth = 0u32;
        while let Some(byte) = self.cursor.peek() {
            self.cursor.skip(1);
            match byte {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'\n' => break,
                _ => {}
            }
        }
        parts.push(Part::Bare(self.cursor.since(start)));
    }
}

/// Moves to where two parentheses close at once what is open, if that comes.
fn closing_pair(probe: &mut Cursor<'_>) -> Option<usize> {
    let mut depth = 0u32;
    while let Some(byte) = probe.peek() {
        match byte {
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b')' => return (probe.peek_at(1) == Some(b')')).then_some(probe.at()),
            b'\n' if depth == 0 => return None,
            _ => {}
        }
        probe.skip(1);
    }
    None
}

fn unescape_backquote(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\\' && matches!(letters.peek(), Some('`' | '\\' | '$')) {
            out.extend(letters.next());
        } else {
            out.push(letter);
        }
    }
    out
}

/// Whether the parts so far end in a sign that makes `(` an extended glob.
fn after_glob_sign(parts: &[Part<'_>]) -> bool {
    matches!(parts.last(), Some(Part::Bare(text)) if text.ends_with(['@', '?', '*', '+', '!']) && text.len() > 1)
}
