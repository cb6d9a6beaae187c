//! `$name` and `${name…}`.

use super::word::Mode;
use super::{Param, ParamOp, Part, Where};
use crate::shell::parse::Parser;

impl<'a> Parser<'a> {
    /// The parameter at a `$`; `None` when the dollar stands for itself. Inside double quotes, single
    /// quotes in the value of `${x:-value}` are letters.
    pub(crate) fn parameter(&mut self, quoted: bool) -> Option<Param<'a>> {
        self.commands_left = self.commands_left.saturating_sub(1);
        if self.cursor.peek_at(1) == Some(b'{') {
            return self.nested(|parser| parser.braced(if quoted { Mode::Value } else { Mode::Brace }));
        }
        let mut probe = self.cursor;
        probe.skip(1);
        let start = probe.at();
        let length = name_length(probe.rest_bytes());
        if length == 0 {
            return None;
        }
        probe.skip(length);
        let name = probe.since(start);
        self.cursor = probe;
        Some(Param { name, index: None, indirect: false, op: ParamOp::Plain })
    }

    fn braced(&mut self, value: Mode) -> Param<'a> {
        self.cursor.skip(2);
        let mut indirect = false;
        let mut length = false;
        if self.cursor.peek() == Some(b'#')
            && !matches!(self.cursor.peek_at(1), Some(b'}' | b'#' | b'%' | b':'))
        {
            length = true;
            self.cursor.skip(1);
        } else if self.cursor.peek() == Some(b'!') && self.cursor.peek_at(1) != Some(b'}') {
            indirect = true;
            self.cursor.skip(1);
        }
        let start = self.cursor.at();
        self.cursor.skip(name_length(self.cursor.rest_bytes()));
        let name = self.cursor.since(start);
        let index = self.index();
        let op = if length { ParamOp::Length } else { self.operation(value) };
        if !self.cursor.eat("}") {
            // Not an expansion the shell knows: skip to the brace so that reading can go on.
            self.faults.broken = true;
            self.cursor.seek(b'}');
            self.cursor.skip(1);
        }
        Param { name, index, indirect, op }
    }

    fn index(&mut self) -> Option<&'a str> {
        if self.cursor.peek() != Some(b'[') {
            return None;
        }
        let mut probe = self.cursor;
        probe.skip(1);
        let start = probe.at();
        if start >= self.no_bracket_from {
            return None;
        }
        let found = probe.seek(b']');
        self.looked_ahead += probe.at() - start;
        if !found {
            self.no_bracket_from = start;
            return None;
        }
        let text = probe.since(start);
        probe.skip(1);
        self.cursor = probe;
        Some(text)
    }

    fn operation(&mut self, value: Mode) -> ParamOp<'a> {
        let colon = self.cursor.peek() == Some(b':');
        let sign = if colon { self.cursor.peek_at(1) } else { self.cursor.peek() };
        let skip = if colon { 2 } else { 1 };
        match sign {
            Some(b'-') => ParamOp::Default(self.operand(skip, value)),
            Some(b'=') => ParamOp::Assign(self.operand(skip, value)),
            Some(b'+') => ParamOp::Alternate(self.operand(skip, value)),
            Some(b'?') => {
                self.operand(skip, Mode::Brace);
                ParamOp::Require
            }
            _ if colon => self.slice(),
            Some(b'#') => {
                let greedy = self.cursor.peek_at(1) == Some(b'#');
                ParamOp::TrimStart(self.operand(if greedy { 2 } else { 1 }, Mode::Brace), greedy)
            }
            Some(b'%') => {
                let greedy = self.cursor.peek_at(1) == Some(b'%');
                ParamOp::TrimEnd(self.operand(if greedy { 2 } else { 1 }, Mode::Brace), greedy)
            }
            Some(b'/') => self.replace(),
            Some(b'^') => ParamOp::Upper(self.doubled(b'^')),
            Some(b',') => ParamOp::Lower(self.doubled(b',')),
            Some(b'~') => ParamOp::Toggle(self.doubled(b'~')),
            Some(b'@') => {
                let letter = self.cursor.peek_at(1).map_or('Q', char::from);
                self.cursor.skip(2);
                ParamOp::Transform(letter)
            }
            _ => ParamOp::Plain,
        }
    }

    fn operand(&mut self, skip: usize, mode: Mode) -> Vec<Part<'a>> {
        self.cursor.skip(skip);
        self.nested(|parser| parser.parts(mode)).unwrap_or_default()
    }

    fn doubled(&mut self, sign: u8) -> bool {
        let all = self.cursor.peek_at(1) == Some(sign);
        self.cursor.skip(if all { 2 } else { 1 });
        self.nested(|parser| parser.parts(Mode::Brace));
        all
    }

    fn slice(&mut self) -> ParamOp<'a> {
        self.cursor.skip(1);
        let start = self.cursor.at();
        let mut colon = None;
        let mut depth = 0u32;
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b'}' if depth == 0 => break,
                b'(' | b'{' => depth += 1,
                b')' | b'}' => depth = depth.saturating_sub(1),
                b':' if depth == 0 && colon.is_none() => colon = Some(self.cursor.at()),
                _ => {}
            }
            self.cursor.skip(1);
        }
        match colon {
            Some(at) => ParamOp::Slice(self.cursor.slice(start, at), Some(self.cursor.since(at + 1))),
            None => ParamOp::Slice(self.cursor.since(start), None),
        }
    }

    fn replace(&mut self) -> ParamOp<'a> {
        let (place, skip) = match self.cursor.peek_at(1) {
            Some(b'/') => (Where::All, 2),
            Some(b'#') => (Where::Start, 2),
            Some(b'%') => (Where::End, 2),
            _ => (Where::First, 1),
        };
        let pattern = self.operand(skip, Mode::Pattern);
        let with = if self.cursor.eat("/") { self.operand(0, Mode::Brace) } else { Vec::new() };
        ParamOp::Replace(pattern, with, place)
    }
}

/// How long the parameter name at the start of `bytes` is: an identifier, digits, or one sign.
fn name_length(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
            bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count()
        }
        Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => 1,
        _ => 0,
    }
}
