//! Constant folding: the text an expression of literals stands for.

use super::Program;
use super::decoded::hex;
use crate::programs::tokens::Token;
use crate::walk::HOLE;

impl Program {
    /// The constant text of the expression at `at`, up to a comma or a closing bracket.
    pub(super) fn constant(&self, at: usize) -> Option<String> {
        let mut out = String::new();
        let mut next = at;
        loop {
            let (piece, after) = self.term(next)?;
            if !self.pay(1 + piece.len() / 16) {
                return None;
            }
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
        self.inside(|| self.single(at))
    }

    /// A term, or several put together: `"a" + "b"`, `"a" "b"`, `"a" . "b"`, and parts of a path with
    /// slashes between them.
    pub(super) fn operand(&self, at: usize) -> Option<(String, usize)> {
        let (mut out, mut next) = self.term(at)?;
        loop {
            let (mark, from) = match self.list.get(next) {
                Some(Token::Sign('+')) if self.pathname && out.starts_with(['~', '/']) => ("/", next + 1),
                Some(Token::Sign('+')) => ("", next + 1),
                Some(Token::Sign('.')) if matches!(self.list.get(next + 1), Some(Token::Text(_))) => {
                    ("", next + 1)
                }
                Some(Token::Sign('/')) => ("/", next + 1),
                Some(Token::Text(_)) => ("", next),
                _ => return Some((out, next)),
            };
            let (piece, after) = self.term(from)?;
            if !self.pay(1 + piece.len() / 16) {
                return None;
            }
            if mark == "/" && piece.starts_with('/') {
                out.clear();
            } else {
                out.push_str(mark);
            }
            out.push_str(&piece);
            next = after;
        }
    }

    fn single(&self, at: usize) -> Option<(String, usize)> {
        if let Some((value, next)) = self.composed(at).or_else(|| self.decoded(at)) {
            return self.suffixes(value, next);
        }
        let (value, next) = match self.list.get(at)? {
            Token::Text(text) => (text.clone(), at + 1),
            Token::Sign('(') => match self.operand(at + 1) {
                Some((inner, end)) if self.sign(end, ')') => (inner, end + 1),
                _ => (self.constant(at + 1)?, self.closing(at + 1, ')') + 1),
            },
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
            Token::Name(_)
                if matches!(
                    self.real(at),
                    Some(
                        "expanduser"
                            | "expand_path"
                            | "Path"
                            | "str"
                            | "PosixPath"
                            | "homedir"
                            | "abspath"
                            | "resolve"
                            | "Pathname"
                    )
                ) && self.sign(at + 1, '(') =>
            {
                let name = self.real(at).unwrap_or_default();
                match self.operand(at + 2) {
                    _ if name == "homedir" => ("~".to_owned(), self.closing(at + 2, ')') + 1),
                    Some((inner, end)) if self.sign(end, ')') => (inner, end + 1),
                    Some((parts, end)) if self.sign(end, ',') && name == "resolve" => {
                        return self.path_join(at + 1).filter(|_| !parts.is_empty());
                    }
                    _ => (self.constant(at + 2)?, self.closing(at + 2, ')') + 1),
                }
            }
            Token::Name(_)
                if matches!(self.real(at), Some("path" | "File" | "os" | "pathlib"))
                    && self.sign(at + 1, '.') =>
            {
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
                let end = self.closing(at, ']');
                return self.list_suffixes(words, end + 1);
            }
            _ => return None,
        };
        self.suffixes(value, next)
    }

    /// Expressions that stand for the home folder, or put constants together.
    fn composed(&self, at: usize) -> Option<(String, usize)> {
        Some(match self.list.get(at)? {
            Token::Name(_)
                if matches!(
                    self.real(at),
                    Some("Path" | "Dir" | "File" | "pathlib" | "os" | "homedir" | "Pathname")
                ) && self.home(at).is_some() =>
            {
                ("~".to_owned(), self.home(at).unwrap_or(at + 1))
            }
            Token::Name(name)
                if matches!(name.as_str(), "environ" | "ENV" | "env" | "getenv" | "process" | "os")
                    && self.home_variable(at).is_some() =>
            {
                let (folder, end) = self.home_variable(at)?;
                (folder.to_owned(), end)
            }
            Token::Name(_)
                if matches!(self.real(at), Some("File" | "path" | "os" | "Pathname"))
                    && self.joins_path(at).is_some() =>
            {
                return self.path_join(self.joins_path(at)?);
            }
            Token::Name(name) if matches!(name.as_str(), "catfile" | "catdir") && self.sign(at + 1, '(') => {
                return self.path_join(at + 1);
            }
            // Perl: `File::Spec->catfile(…)`.
            Token::Name(name)
                if name == "File" && self.name(at + 3) == Some("Spec") && self.sign(at + 7, '(') =>
            {
                return self.path_join(at + 7);
            }
            // Ruby: `Pathname.new(…)`.
            Token::Name(name)
                if name == "Pathname" && self.name(at + 2) == Some("new") && self.sign(at + 3, '(') =>
            {
                return self.path_join(at + 3);
            }
            Token::Name(_) if self.real(at) == Some("join") && self.paths && self.sign(at + 1, '(') => {
                return self.path_join(at + 1);
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
                let end = self.closing(at + 2, ')');
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

    /// `os.environ["HOME"]`, `ENV['HOME']`, `process.env.HOME`, `getenv("HOME")`: the folder, and where the
    /// expression ends.
    fn home_variable(&self, at: usize) -> Option<(&'static str, usize)> {
        for near in at..at + 8 {
            match self.list.get(near)? {
                Token::Text(text) if home_named(text).is_some() => {
                    return Some((home_named(text)?, near + 2));
                }
                Token::Name(name) if home_named(name).is_some() => {
                    let end = if self.sign(near + 1, '}') { near + 2 } else { near + 1 };
                    return Some((home_named(name)?, end));
                }
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
            if next == self.end.get() {
                return Some((value, next));
            }
            if !self.pay(1 + value.len() / 64) {
                return None;
            }
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
                            next = self.closing(next, ')') + 1;
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
                            end = self.closing(end, ')') + 1;
                        }
                        if self.sign(end, '.') {
                            return self.list_suffixes(list, end);
                        }
                        next = end;
                    }
                    "format" => {
                        value = formatted(&value.replace("{}", "%s"), &self.pieces(next + 2));
                        next = self.closing(next, ')') + 1;
                    }
                    "joinpath" if self.sign(next + 2, '(') => {
                        let (inside, after) = self.path_join(next + 2)?;
                        value =
                            if inside.starts_with(['/', '~']) { inside } else { format!("{value}/{inside}") };
                        next = after;
                    }
                    "expanduser" | "absolute" | "as_posix" if self.sign(next + 2, '(') => {
                        next = self.closing(next + 2, ')') + 1;
                    }
                    "join" if self.pathname && value.starts_with(['~', '/']) => {
                        let (inside, after) = self.path_join(next + 2)?;
                        value = format!("{value}/{inside}");
                        next = after;
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
        while let Some(token) = self.list.get(next).filter(|_| self.pay(1)) {
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
        let comma = (first..self.list.len()).filter(|at| self.pay(1) && self.sign(*at, ',')).nth(1)?;
        self.constant(comma + 1)
    }
}

/// Whether an expression is over where this stands.
fn ends(token: &Token) -> bool {
    matches!(token, Token::Sign(',' | ')' | ']' | ';' | '}' | ':'))
}

/// A format with its `%s` filled in, one by one.
fn formatted(format: &str, values: &[String]) -> String {
    values.iter().fold(format.to_owned(), |text, value| text.replacen("%s", value, 1))
}

/// The folder that a variable names. Wherever the agent's own is, it is judged like the usual one.
fn home_named(variable: &str) -> Option<&'static str> {
    match variable {
        "HOME" => Some("~"),
        "HERMES_HOME" => Some("~/.hermes"),
        _ => None,
    }
}
