//! Lists of constants: words of a command, parts of a path, pieces to be joined.

use super::Program;
use crate::programs::tokens::Token;
use crate::walk::HOLE;

impl Program {
    /// A list turned round and put together: `.reverse().join("")`.
    pub(super) fn list_suffixes(&self, list: Vec<String>, next: usize) -> Option<(String, usize)> {
        let (mut list, mut next) = (list, next);
        while self.sign(next, '.') {
            let name = self.name(next + 1)?;
            let open = self.sign(next + 2, '(');
            let end = if open { self.closing(next + 2, ')') + 1 } else { next + 2 };
            match name {
                "reverse" => list.reverse(),
                "join" => {
                    let mark = if open && end > next + 4 { self.constant(next + 3)? } else { String::new() };
                    return self.suffixes(list.join(&mark), end);
                }
                _ => return None,
            }
            next = end;
        }
        None
    }

    /// `File.join(`, `path.join(`, `os.path.join(`: where the bracket opens.
    pub(super) fn joins_path(&self, at: usize) -> Option<usize> {
        let join = (at + 2..at + 5).find(|near| self.name(*near) == Some("join"))?;
        let dotted = (at..join).all(|near| self.name(near).is_some() || self.sign(near, '.'));
        (dotted && self.sign(join - 1, '.') && self.sign(join + 1, '(')).then_some(join + 1)
    }

    /// Parts of a path in brackets, put together.
    pub(super) fn path_join(&self, open: usize) -> Option<(String, usize)> {
        let mut parts = Vec::new();
        let mut next = open + 1;
        loop {
            let (part, after) = self.operand(next)?;
            parts.push(part);
            match self.list.get(after) {
                Some(Token::Sign(',')) => next = after + 1,
                Some(Token::Sign(')')) => return Some((parts.join("/"), after + 1)),
                _ => return None,
            }
        }
    }

    /// The strings at `at`: one, or several in brackets.
    pub(super) fn pieces(&self, at: usize) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let (mut depth, mut joins) = (0, false);
        for token in self.list.iter().skip(at).take(64) {
            let joined = std::mem::replace(&mut joins, matches!(token, Token::Sign('.' | '+')));
            match token {
                Token::Text(text) if joined && !out.is_empty() => {
                    out.last_mut().into_iter().for_each(|last| last.push_str(text));
                }
                Token::Text(text) => out.push(text.clone()),
                Token::Name(name) => out.extend(self.constants.get(name).cloned()),
                Token::Sign('(' | '[') => depth += 1,
                Token::Sign(')' | ']') => depth -= 1,
                _ => {}
            }
            if depth <= 0 {
                break;
            }
        }
        out
    }

    /// `(['a', 'b'])` or `(map(chr, [114, 109]))` joined.
    pub(super) fn joined(&self, open: usize, separator: &str) -> Option<(String, usize)> {
        let mut pieces: Vec<String> = Vec::new();
        let mut next = open;
        let (mut depth, mut apart) = (0, true);
        let characters = (open..open + 8).any(|at| self.name(at) == Some("chr"));
        loop {
            // Texts beside each other, or with a plus between them, are one.
            let joins = !std::mem::replace(
                &mut apart,
                !matches!(self.list.get(next)?, Token::Text(_) | Token::Sign('+')),
            );
            match self.list.get(next)? {
                Token::Text(text) => match pieces.last_mut().filter(|_| joins) {
                    Some(last) => last.push_str(text),
                    None => pieces.push(text.clone()),
                },
                Token::Sign('+') if joins => {}
                Token::Name(name) if self.lists.contains_key(name) => {
                    pieces.extend(self.lists.get(name)?.iter().cloned());
                }
                Token::Number(number) if characters => {
                    pieces.push(u32::try_from(*number).ok().and_then(char::from_u32)?.to_string());
                }
                Token::Sign('(' | '[') => depth += 1,
                Token::Sign(')' | ']') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some((pieces.join(separator), next + 1));
                    }
                }
                Token::Name(name)
                    if matches!(
                        name.as_str(),
                        "chr" | "map" | "for" | "in" | "c" | "x" | "i" | "reversed" | "str"
                    ) =>
                {
                    if name == "reversed" {
                        return None;
                    }
                }
                Token::Sign(',') => {}
                _ => return None,
            }
            next += 1;
        }
    }

    /// Strings of a list literal at `at`: `["rm", "-rf", "/"]`.
    pub(super) fn words(&self, at: usize) -> Option<Vec<String>> {
        if !self.sign(at, '[') {
            return None;
        }
        let mut out = Vec::new();
        let mut next = at + 1;
        while next < self.list.len() && !self.sign(next, ']') && self.pay(1) {
            match self.constant(next) {
                Some(text) => out.push(text),
                None => out.push(HOLE.to_string()),
            }
            while next < self.list.len() && !self.sign(next, ',') && !self.sign(next, ']') && self.pay(1) {
                next += 1;
            }
            if self.sign(next, ',') {
                next += 1;
            }
        }
        Some(out)
    }
}
