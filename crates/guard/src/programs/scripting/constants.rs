//! Constant folding: the text an expression of literals stands for.

use super::Program;
use crate::programs::encode;
use crate::programs::tokens::Token;
use crate::walk::HOLE;

impl Program {
    /// The constant text of the expression at `at`, up to a comma or a closing bracket.
    pub(super) fn constant(&self, at: usize) -> Option<String> {
        let mut out = String::new();
        let mut next = at;
        loop {
            let (piece, after) = self.term(next)?;
            out.push_str(&piece);
            next = after;
            match self.list.get(next) {
                Some(Token::Sign('+')) => next += 1,
                Some(Token::Sign('%')) => {
                    let values = self.pieces(next + 1);
                    out = formatted(&out, &values);
                    return Some(out);
                }
                Some(Token::Sign('.')) if self.name(next + 1).is_none_or(|name| name == "chr") => {
                    next += 1;
                    if self.sign(next, '.') {
                        next += 1;
                    }
                }
                Some(Token::Text(_)) => {}
                // Lua: `("fr- mr"):reverse()`.
                Some(Token::Sign(':'))
                    if self.sign(next + 2, '(') && self.name(next + 1) == Some("reverse") =>
                {
                    out = out.chars().rev().collect();
                    next += 4;
                    while self.sign(next, '.') {
                        next += 1;
                    }
                    if matches!(self.list.get(next), Some(Token::Sign(')' | ';' | ',')) | None) {
                        return Some(out);
                    }
                }
                Some(Token::Sign(',' | ')' | ']' | ';' | '}' | ':')) | None => return Some(out),
                Some(Token::Name(_) | Token::Command(_) | Token::Number(_)) => return Some(out),
                Some(Token::Sign(_)) => return None,
            }
        }
    }

    /// One term of a concatenation and where it ends.
    pub(super) fn term(&self, at: usize) -> Option<(String, usize)> {
        if let Some((value, next)) = self.composed(at) {
            return self.suffixes(value, next);
        }
        let (value, next) = match self.list.get(at)? {
            Token::Text(text) => (text.clone(), at + 1),
            Token::Sign('(') => {
                let inner = self.constant(at + 1)?;
                let mut end = at + 1;
                while end < self.list.len() && !self.sign(end, ')') {
                    end += 1;
                }
                (inner, end + 1)
            }
            Token::Name(name)
                if matches!(name.as_str(), "chr" | "fromCharCode" | "char" | "bytes" | "bytearray")
                    || (name == "String" && self.name(at + 2) == Some("fromCharCode")) =>
            {
                let open = if name == "String" { at + 3 } else { at + 1 };
                let (text, next) = self.characters(open)?;
                if !self.sign(next, '.') || self.name(next + 1) != Some("decode") {
                    return Some((text, next));
                }
                (text, next)
            }
            Token::Name(name)
                if matches!(
                    name.as_str(),
                    "b64decode" | "decode64" | "base64_decode" | "atob" | "decode_base64"
                ) =>
            {
                let inner = self.constant(at + 2)?;
                let bytes = encode::decode64(&inner)?;
                (String::from_utf8_lossy(&bytes).into_owned(), at + 4)
            }
            Token::Name(name)
                if matches!(
                    name.as_str(),
                    "MIME" | "base64" | "Base64" | "bytes" | "codecs" | "os" | "Buffer"
                ) && self.sign(at + 1, '.') =>
            {
                return self.term(at + 2);
            }
            Token::Name(name)
                if matches!(name.as_str(), "__import__" | "require")
                    && matches!(self.list.get(at + 2), Some(Token::Text(_)))
                    && self.sign(at + 3, ')')
                    && self.sign(at + 4, '.') =>
            {
                return self.term(at + 5);
            }
            Token::Name(name) if name == "fromhex" || name == "unhexlify" => {
                let inner = self.constant(at + 2)?;
                (hex(&inner)?, at + 4)
            }
            Token::Name(name) if name == "from" && self.sign(at + 1, '(') => {
                let inner = self.constant(at + 2)?;
                let kind = self.constant(at + 4).unwrap_or_default();
                let text = if kind == "hex" {
                    hex(&inner)?
                } else {
                    String::from_utf8_lossy(&encode::decode64(&inner)?).into_owned()
                };
                (text, at + 6)
            }
            Token::Name(name)
                if matches!(
                    name.as_str(),
                    "expanduser"
                        | "expand_path"
                        | "Path"
                        | "str"
                        | "PosixPath"
                        | "homedir"
                        | "abspath"
                        | "resolve"
                ) && self.sign(at + 1, '(') =>
            {
                let inner = if name == "homedir" { "~".to_owned() } else { self.constant(at + 2)? };
                let mut end = at + 2;
                while end < self.list.len() && !self.sign(end, ')') {
                    end += 1;
                }
                (inner, end + 1)
            }
            Token::Name(name) if name == "path" && self.sign(at + 1, '.') => return self.term(at + 2),
            Token::Name(name) if name == "strrev" || name == "reverse" => {
                let inner = self.constant(at + 2)?;
                (inner.chars().rev().collect(), at + 4)
            }
            Token::Name(name) => (self.constants.get(name)?.clone(), at + 1),
            _ => return None,
        };
        self.suffixes(value, next)
    }

    /// Expressions that stand for the home folder, or put constants together.
    fn composed(&self, at: usize) -> Option<(String, usize)> {
        Some(match self.list.get(at)? {
            Token::Name(name)
                if matches!(name.as_str(), "Path" | "Dir" | "File" | "pathlib" | "os" | "homedir")
                    && self.home(at).is_some() =>
            {
                ("~".to_owned(), self.home(at).unwrap_or(at + 1))
            }
            Token::Name(name)
                if matches!(name.as_str(), "environ" | "ENV" | "env" | "getenv" | "process" | "os")
                    && self.home_variable(at).is_some() =>
            {
                ("~".to_owned(), self.home_variable(at).unwrap_or(at + 1))
            }
            Token::Name(name) if name == "pack" && self.sign(at + 1, '(') => {
                let form = self.constant(at + 2)?;
                let inner = self.second(at + 2)?;
                if !form.starts_with('H') {
                    return None;
                }
                (hex(&inner)?, at + 6)
            }
            Token::Name(name)
                if matches!(name.as_str(), "join" | "implode" | "sprintf") && self.sign(at + 1, '(') =>
            {
                let pieces = self.pieces(at + 1);
                let (mark, values) = pieces.split_first()?;
                let end =
                    (at + 2..self.list.len()).find(|near| self.sign(*near, ')')).unwrap_or(self.list.len());
                let text = if name == "sprintf" { formatted(mark, values) } else { values.join(mark) };
                (text, end + 1)
            }
            _ => return None,
        })
    }

    /// `Path.home()`, `Dir.home`, `os.homedir()`: where the expression ends.
    fn home(&self, at: usize) -> Option<usize> {
        let found = (at..at + 4).find(|near| matches!(self.name(*near), Some("home" | "homedir")))?;
        let dotted = (at..found).all(|near| self.name(near).is_some() || self.sign(near, '.'));
        if !dotted {
            return None;
        }
        Some(if self.sign(found + 1, '(') && self.sign(found + 2, ')') { found + 3 } else { found + 1 })
    }

    /// `os.environ["HOME"]`, `ENV['HOME']`, `process.env.HOME`, `getenv("HOME")`.
    fn home_variable(&self, at: usize) -> Option<usize> {
        for near in at..at + 8 {
            match self.list.get(near)? {
                Token::Text(text) if text == "HOME" => return Some(near + 2),
                Token::Name(name) if name == "HOME" => return Some(near + 1),
                Token::Name(name)
                    if matches!(
                        name.as_str(),
                        "environ" | "ENV" | "env" | "getenv" | "process" | "os" | "get"
                    ) => {}
                Token::Sign('.' | '[' | '(') => {}
                _ => return None,
            }
        }
        None
    }

    /// What follows a term and changes it: `[::-1]`, `.decode()`, `.join([...])`, `.reverse`.
    fn suffixes(&self, value: String, next: usize) -> Option<(String, usize)> {
        let (mut value, mut next) = (value, next);
        loop {
            if self.sign(next, '[')
                && self.sign(next + 1, ':')
                && self.sign(next + 2, ':')
                && self.sign(next + 3, '-')
            {
                value = value.chars().rev().collect();
                next += 6;
            } else if self.sign(next, '.') && self.name(next + 1).is_some() {
                match self.name(next + 1)? {
                    "decode" | "encode" | "toString" | "strip" | "reverse" | "rstrip" | "chomp" | "to_s"
                    | "lower" => {
                        if self.name(next + 1) == Some("reverse") {
                            value = value.chars().rev().collect();
                        }
                        next += 2;
                        if self.sign(next, '(') {
                            while next < self.list.len() && !self.sign(next, ')') {
                                next += 1;
                            }
                            next += 1;
                        }
                    }
                    "split" => {
                        while next < self.list.len() && !self.sign(next, ')') {
                            next += 1;
                        }
                        next += 1;
                    }
                    "format" => {
                        value = formatted(&value.replace("{}", "%s"), &self.pieces(next + 2));
                        while next < self.list.len() && !self.sign(next, ')') {
                            next += 1;
                        }
                        next += 1;
                    }
                    "join" => {
                        let (joined, after) = self.joined(next + 2, &value)?;
                        value = joined;
                        next = after;
                    }
                    _ => return None,
                }
            } else {
                return Some((value, next));
            }
        }
    }

    /// `(114, 109)` as characters.
    pub(super) fn characters(&self, open: usize) -> Option<(String, usize)> {
        let mut out = String::new();
        let mut next = open + 1;
        loop {
            match self.list.get(next)? {
                Token::Number(number) => out.push(u32::try_from(*number).ok().and_then(char::from_u32)?),
                Token::Sign(',' | '[' | ']') => {}
                Token::Sign(')') => return Some((out, next + 1)),
                _ => return None,
            }
            next += 1;
        }
    }

    /// The strings at `at`: one, or several in brackets.
    pub(super) fn pieces(&self, at: usize) -> Vec<String> {
        let mut out = Vec::new();
        let mut depth = 0;
        for token in self.list.iter().skip(at).take(64) {
            match token {
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
        let mut depth = 0;
        let characters = (open..open + 8).any(|at| self.name(at) == Some("chr"));
        loop {
            match self.list.get(next)? {
                Token::Text(text) => pieces.push(text.clone()),
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
        while next < self.list.len() && !self.sign(next, ']') {
            match self.constant(next) {
                Some(text) => out.push(text),
                None => out.push(HOLE.to_string()),
            }
            while next < self.list.len() && !self.sign(next, ',') && !self.sign(next, ']') {
                next += 1;
            }
            if self.sign(next, ',') {
                next += 1;
            }
        }
        Some(out)
    }

    pub(super) fn second(&self, first: usize) -> Option<String> {
        let mut next = first;
        let mut depth = 0;
        while let Some(token) = self.list.get(next) {
            match token {
                Token::Sign('(' | '[') => depth += 1,
                Token::Sign(')' | ']') if depth == 0 => return None,
                Token::Sign(')' | ']') => depth -= 1,
                Token::Sign(',') if depth == 0 => {
                    let named = if self.sign(next + 2, '=') { next + 3 } else { next + 1 };
                    return self.constant(named);
                }
                _ => {}
            }
            next += 1;
        }
        None
    }

    pub(super) fn third(&self, first: usize) -> Option<String> {
        let comma = (first..self.list.len()).filter(|at| self.sign(*at, ',')).nth(1)?;
        self.constant(comma + 1)
    }
}

/// A format with its `%s` filled in, one by one.
fn formatted(format: &str, values: &[String]) -> String {
    values.iter().fold(format.to_owned(), |text, value| text.replacen("%s", value, 1))
}

fn hex(text: &str) -> Option<String> {
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks(2)
        .filter_map(|pair| if let [high, low] = pair { u8::try_from(high * 16 + low).ok() } else { None })
        .collect();
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
