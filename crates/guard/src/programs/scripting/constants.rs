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
                Some(Token::Name(_) | Token::Sign('$')) if self.joins => {
                    next = self.unknown(next, &mut out);
                    if self.list.get(next).is_none_or(|token| ends(token) || *token == Token::Sign('|'))
                        || self.name(next).is_some_and(|name| name.starts_with("get"))
                    {
                        return Some(out);
                    }
                }
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
                None => return Some(out),
                Some(token) if ends(token) => return Some(out),
                Some(Token::Name(_) | Token::Command(_) | Token::Number(_)) => return Some(out),
                Some(Token::Sign(_)) => return None,
            }
        }
    }

    /// Passes over fields (`$1`) and names whose values nobody knows, a hole for each.
    fn unknown(&self, at: usize, out: &mut String) -> usize {
        let mut next = at;
        loop {
            next += match self.list.get(next) {
                Some(Token::Sign('$')) => 2,
                Some(Token::Name(name)) if !self.constants.contains_key(name) && !name.starts_with("get") => {
                    1
                }
                _ => return next,
            };
            out.push(HOLE);
        }
    }

    /// One term of a concatenation and where it ends.
    pub(super) fn term(&self, at: usize) -> Option<(String, usize)> {
        if let Some((value, next)) = self.composed(at).or_else(|| self.decoded(at)) {
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
                if matches!(name.as_str(), "chr" | "fromCharCode" | "char")
                    || matches!(name.as_str(), "bytes" | "bytearray") && self.sign(at + 1, '(')
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
            Token::Name(name) if matches!(name.as_str(), "path" | "File") && self.sign(at + 1, '.') => {
                return self.term(at + 2);
            }
            Token::Name(name) if name == "strrev" || name == "reverse" => {
                let inner = self.constant(at + 2)?;
                (inner.chars().rev().collect(), at + 4)
            }
            Token::Name(name) if self.lists.contains_key(name) && self.sign(at + 1, '.') => {
                return self.list_suffixes(self.lists.get(name)?.clone(), at + 1);
            }
            Token::Name(name) => (self.constants.get(name)?.clone(), at + 1),
            Token::Sign('[') => {
                let words = self.words(at)?;
                let end = (at..self.list.len()).find(|near| self.sign(*near, ']'))?;
                return self.list_suffixes(words, end + 1);
            }
            _ => return None,
        };
        self.suffixes(value, next)
    }

    /// Constants that are decoded on the way.
    fn decoded(&self, at: usize) -> Option<(String, usize)> {
        Some(match self.list.get(at)? {
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
            Token::Name(_)
                if self.sign(at + 1, '.')
                    && matches!(
                        self.name(at + 2),
                        Some("b64decode" | "fromhex" | "unhexlify" | "decode64" | "normalize")
                    ) =>
            {
                // `import base64 as b; b.b64decode(…)`
                return self.term(at + 2);
            }
            Token::Name(name) if name == "normalize" && self.sign(at + 1, '(') => {
                // What looks like a letter becomes that letter.
                let inner = self.second(at + 2)?;
                let end = (at + 2..self.list.len()).find(|near| self.sign(*near, ')'))?;
                (crate::reveal::shown(&inner).unwrap_or(inner), end + 1)
            }
            Token::Name(name) if name == "decode" && self.sign(at + 1, '(') => {
                let inner = self.constant(at + 2)?;
                let kind = self.second(at + 2)?;
                let text = match kind.replace(['-', '_'], "").as_str() {
                    "rot13" => turned(&inner),
                    "hex" => hex(&inner)?,
                    "base64" => String::from_utf8_lossy(&encode::decode64(&inner)?).into_owned(),
                    _ => return None,
                };
                (text, at + 6)
            }
            Token::Name(name) if matches!(name.as_str(), "fromhex" | "unhexlify" | "hex2bin") => {
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
            _ => return None,
        })
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
            Token::Name(name)
                if matches!(name.as_str(), "File" | "path" | "os") && self.joins_path(at).is_some() =>
            {
                return self.path_join(self.joins_path(at)?);
            }
            Token::Name(name)
                if name == "join" && at > 0 && self.sign(at - 1, '.') && self.sign(at + 1, '(') =>
            {
                return self.path_join(at + 1);
            }
            Token::Name(name) if name == "pack" && self.sign(at + 1, '(') => {
                let form = self.constant(at + 2)?;
                let inner = self.second(at + 2)?;
                if !form.starts_with('H') {
                    return None;
                }
                (hex(&inner)?, at + 6)
            }
            Token::Name(name) if name == "join" && matches!(self.list.get(at + 1), Some(Token::Text(_))) => {
                // Perl needs no brackets: `join ' ', 'rm', '-rf'`.
                let mut texts = Vec::new();
                let mut next = at + 1;
                while let Some(Token::Text(text)) = self.list.get(next) {
                    texts.push(text.clone());
                    next += 1;
                    if !self.sign(next, ',') {
                        break;
                    }
                    next += 1;
                }
                let (mark, values) = texts.split_first()?;
                (values.join(mark), next)
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
                Token::Sign('.' | '[' | '(' | '{') => {}
                _ => return None,
            }
        }
        None
    }

    /// What follows a term and changes it: `[::-1]`, `.decode()`, `.join([...])`, `.reverse`.
    pub(super) fn suffixes(&self, value: String, next: usize) -> Option<(String, usize)> {
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
                    "split" | "chars" => {
                        let mark = self.constant(next + 3).unwrap_or_default();
                        let list = if mark.is_empty() {
                            value.chars().map(String::from).collect()
                        } else {
                            value.split(&*mark).map(str::to_owned).collect()
                        };
                        let mut end = next + 2;
                        if self.sign(end, '(') {
                            while end < self.list.len() && !self.sign(end, ')') {
                                end += 1;
                            }
                            end += 1;
                        }
                        if self.sign(end, '.') {
                            return self.list_suffixes(list, end);
                        }
                        next = end;
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

/// Whether an expression is over where this stands.
fn ends(token: &Token) -> bool {
    matches!(token, Token::Sign(',' | ')' | ']' | ';' | '}' | ':'))
}

/// Letters moved by half the alphabet.
fn turned(text: &str) -> String {
    let moved = |letter: char, first: u8| char::from((letter as u8 - first + 13) % 26 + first);
    text.chars()
        .map(|letter| match letter {
            'a'..='z' => moved(letter, b'a'),
            'A'..='Z' => moved(letter, b'A'),
            other => other,
        })
        .collect()
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
