//! Tokens of scripting languages, read loosely: enough to see calls and constant strings in
//! Python, Perl, Ruby, JavaScript, PHP, Lua, awk and their kin.

use crate::walk::HOLE;

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name; `$`, `@` and `%` in front of Perl and PHP names are dropped.
    Name(String),
    /// A string literal, escapes decoded, with holes for interpolation.
    Text(String),
    /// A command literal: backquotes, `qx{}`, `%x{}`.
    Command(String),
    /// A number.
    Number(i64),
    /// Any other character.
    Sign(char),
}

/// Reads `code` into tokens. `backquotes` tells whether backquotes run commands (Perl, Ruby, PHP,
/// Julia) or quote text (JavaScript, Go).
pub(crate) fn tokens(code: &str, language: &str) -> Vec<Token> {
    let letters: Vec<char> = code.chars().take(200_000).collect();
    let mut reader = Reader { letters, at: 0, language, out: Vec::with_capacity(code.len().min(512) / 4) };
    reader.run();
    reader.out
}

struct Reader<'a> {
    letters: Vec<char>,
    at: usize,
    language: &'a str,
    out: Vec<Token>,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.language)
    }

    fn run(&mut self) {
        while let Some(letter) = self.peek(0) {
            match letter {
                c if c.is_whitespace() => self.at += 1,
                '#' if !self.is(&["node", "c", "lua", "go"]) && self.peek(1) != Some('{') => self.line(),
                '/' if self.peek(1) == Some('/') && self.is(&["node", "php", "c", "go", "scala"]) => {
                    self.line();
                }
                '-' if self.peek(1) == Some('-') && self.is(&["lua"]) => self.line(),
                '/' if self.is(&["perl", "ruby", "node", "awk", "raku"]) && self.expects_value() => {
                    self.search();
                }
                '\'' | '"' => self.quoted(letter),
                '`' => self.backquoted(),
                '%' if self.is(&["ruby"]) && self.peek(1).is_some_and(|c| "xqQwW({[".contains(c)) => {
                    self.percent();
                }
                c if c.is_alphabetic() || c == '_' => self.name(),
                '$' | '@' if self.peek(1).is_some_and(|c| c.is_alphabetic() || c == '_') => self.at += 1,
                c if c.is_ascii_digit() => self.number(),
                other => {
                    self.out.push(Token::Sign(other));
                    self.at += 1;
                }
            }
        }
    }

    /// Whether a value comes next, so that a slash begins a pattern and divides nothing.
    fn expects_value(&self) -> bool {
        match self.out.last() {
            None => true,
            Some(Token::Sign(sign)) => {
                matches!(sign, '(' | ',' | '=' | '~' | '!' | '&' | '|' | ';' | '{' | '[' | '?')
            }
            Some(Token::Name(name)) => matches!(
                name.as_str(),
                "if" | "unless"
                    | "and"
                    | "or"
                    | "not"
                    | "return"
                    | "grep"
                    | "split"
                    | "when"
                    | "while"
                    | "until"
            ),
            Some(_) => false,
        }
    }

    /// `/a/`: what is searched for is data. Without an end on its line it is a slash.
    fn search(&mut self) {
        let start = self.at;
        let mut at = start + 1;
        loop {
            match self.letters.get(at) {
                Some('\\') => at += 2,
                Some('/') if at > start + 1 => break,
                None | Some('\n' | '/') => {
                    self.out.push(Token::Sign('/'));
                    self.at = start + 1;
                    return;
                }
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        self.out.push(Token::Name("m".to_owned()));
    }

    fn line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn name(&mut self) {
        let start = self.at;
        while self.peek(0).is_some_and(|c| c.is_alphanumeric() || c == '_') {
            self.at += 1;
        }
        let name: String = self.letters.get(start..self.at).unwrap_or_default().iter().collect();
        let next = self.peek(0);
        if matches!(next, Some('\'' | '"'))
            && matches!(name.as_str(), "r" | "b" | "f" | "u" | "rb" | "br" | "fr" | "rf" | "R" | "B" | "F")
        {
            let quote = next.unwrap_or('"');
            return self.prefixed(quote, name.contains(['f', 'F']));
        }
        if self.is(&["perl", "raku"]) && matches!(name.as_str(), "q" | "qq" | "qx" | "qw") {
            while self.peek(0).is_some_and(|c| c == ' ') {
                self.at += 1;
            }
            if let Some(open) =
                self.peek(0).filter(|c| !c.is_alphanumeric() && !matches!(c, ',' | ';' | '=' | ')'))
            {
                self.at += 1;
                let text = self.until(closing(open), Some(open));
                self.push_form(&name, text);
                return;
            }
        }
        let first = self.out.last().is_none_or(|last| matches!(last, Token::Sign(';' | '{' | '~' | '(')));
        if first
            && self.is(&["perl", "raku"])
            && matches!(name.as_str(), "s" | "m" | "tr" | "y")
            && self.pattern(&name)
        {
            return;
        }
        self.out.push(Token::Name(name));
    }

    /// `s/a/b/g`, `m/a/`, `tr/a/b/`: patterns are data, unless the replacement is run.
    fn pattern(&mut self, form: &str) -> bool {
        let Some(mark) = self.peek(0).filter(|c| matches!(c, '/' | '|' | '!' | '#' | ',' | '{')) else {
            return false;
        };
        let start = self.at;
        self.at += 1;
        let from = self.until(closing(mark), Some(mark));
        let mut to = String::new();
        if form != "m" {
            if closing(mark) != mark {
                self.at += 1;
            }
            to = self.until(closing(mark), Some(mark));
        }
        let flags = self.at;
        while self.peek(0).is_some_and(char::is_alphabetic) {
            self.at += 1;
        }
        let runs = form == "s" && self.letters.get(flags..self.at).unwrap_or_default().contains(&'e');
        if runs || self.letters.get(self.at - 1) == Some(&'\n') {
            self.at = start;
            return false;
        }
        self.out.push(Token::Name(form.to_owned()));
        if matches!(form, "tr" | "y") {
            // Which letters become which is needed to follow what is put together.
            self.out.extend([Token::Text(from), Token::Text(to)]);
        }
        true
    }

    fn push_form(&mut self, form: &str, text: String) {
        match form {
            "qx" | "x" => self.out.push(Token::Command(text)),
            "qw" | "w" | "W" => {
                self.out.push(Token::Sign('['));
                for word in text.split_whitespace() {
                    self.out.push(Token::Text(word.to_owned()));
                    self.out.push(Token::Sign(','));
                }
                self.out.push(Token::Sign(']'));
            }
            _ => self.out.push(Token::Text(text)),
        }
    }

    fn percent(&mut self) {
        let Some(form) = self.peek(1) else { return };
        let (kind, open_at) = if form.is_alphabetic() { (form.to_string(), 2) } else { ("Q".to_owned(), 1) };
        let Some(open) = self.peek(open_at).filter(|c| !c.is_alphanumeric() && !c.is_whitespace()) else {
            self.out.push(Token::Sign('%'));
            self.at += 1;
            return;
        };
        self.at += open_at + 1;
        let text = self.until(closing(open), Some(open));
        self.push_form(&kind, text);
    }

    fn prefixed(&mut self, quote: char, interpolates: bool) {
        self.quoted(quote);
        if interpolates && let Some(Token::Text(text)) = self.out.last_mut() {
            *text = holes(text);
        }
    }

    fn quoted(&mut self, quote: char) {
        if self.peek(1) == Some(quote) && self.peek(2) == Some(quote) {
            self.at += 3;
            let start = self.at;
            while self.at < self.letters.len()
                && !(self.peek(0) == Some(quote)
                    && self.peek(1) == Some(quote)
                    && self.peek(2) == Some(quote))
            {
                self.at += 1;
            }
            let text: String = self.letters.get(start..self.at).unwrap_or_default().iter().collect();
            self.at += 3;
            self.out.push(Token::Text(text));
            return;
        }
        self.at += 1;
        let text = self.until(quote, None);
        let text = if quote == '"' && self.is(&["perl", "ruby", "php", "raku"]) {
            interpolated(&text, !self.is(&["ruby"]))
        } else {
            text
        };
        self.out.push(Token::Text(text));
    }

    fn backquoted(&mut self) {
        self.at += 1;
        let text = self.until('`', None);
        if self.is(&["node", "go"]) {
            self.out.push(Token::Text(if text.contains("${") { template(&text) } else { text }));
        } else {
            self.out.push(Token::Command(text));
        }
    }

    /// Reads up to `close`, decoding escapes; `open` counts nesting.
    fn until(&mut self, close: char, open: Option<char>) -> String {
        let mut raw = String::new();
        let mut depth = 0;
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            if letter == '\\' {
                if self.peek(0) == Some(close) {
                    raw.push(close);
                } else {
                    raw.push('\\');
                    raw.extend(self.peek(0));
                }
                self.at += 1;
                continue;
            }
            if letter == '#' && close == '"' && self.peek(0) == Some('{') && self.is(&["ruby"]) {
                // An expression in a string has strings of its own.
                raw.push('#');
                raw.extend(std::iter::from_fn(|| {
                    let letter = self.peek(0).filter(|letter| *letter != '}')?;
                    self.at += 1;
                    Some(letter)
                }));
                continue;
            }
            if Some(letter) == open && open != Some(close) {
                depth += 1;
            } else if letter == close {
                if depth == 0 {
                    break;
                }
                depth -= 1;
            }
            raw.push(letter);
        }
        if raw.contains('\\') { crate::shell::decode_escapes(&raw) } else { raw }
    }

    fn number(&mut self) {
        let start = self.at;
        while self.peek(0).is_some_and(|c| c.is_ascii_alphanumeric()) {
            self.at += 1;
        }
        let text: String = self.letters.get(start..self.at).unwrap_or_default().iter().collect();
        let lower = text.to_ascii_lowercase();
        let value = if let Some(hex) = lower.strip_prefix("0x") {
            i64::from_str_radix(hex, 16).ok()
        } else if let Some(octal) = lower.strip_prefix("0o") {
            i64::from_str_radix(octal, 8).ok()
        } else if text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| matches!(b, b'0'..=b'7')) {
            i64::from_str_radix(&text, 8).ok()
        } else {
            text.parse().ok()
        };
        self.out.push(Token::Number(value.unwrap_or(-99)));
    }
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}

/// `{…}` of an f-string becomes a hole.
fn holes(text: &str) -> String {
    between(text, "{", '}')
}

/// `${…}` of a template becomes a hole.
fn template(text: &str) -> String {
    between(text, "${", '}')
}

/// `#{…}`, `$name` and `{$name}` become holes.
fn interpolated(text: &str, dollars: bool) -> String {
    let mut text = between(text, "#{", '}');
    if dollars && text.contains("$ENV{") {
        text = text.replace("$ENV{HOME}", "~").replace("$ENV{'HOME'}", "~");
    }
    if !dollars || !text.contains(['$', '\\']) {
        return text;
    }
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\\' && matches!(letters.peek(), Some('$' | '@' | '`')) {
            out.extend(letters.next());
        } else if letter == '$' && letters.peek().is_some_and(|c| c.is_alphabetic() || *c == '_') {
            while letters.peek().is_some_and(|c| c.is_alphanumeric() || *c == '_') {
                letters.next();
            }
            out.push(HOLE);
        } else {
            out.push(letter);
        }
    }
    out
}

/// A command literal with `#{…}` replaced by a hole, or by the letters it puts together.
pub(super) fn without_interpolation(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains("#{") { between(text, "#{", '}').into() } else { text.into() }
}

/// The text of a literal, or of several with a plus between them.
fn literal(text: &str) -> Option<String> {
    let one = |text: &str| {
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains([quote, '\\'])).then(|| inner.to_owned())
    };
    one(text).or_else(|| text.split('+').take(64).map(|piece| one(piece.trim())).collect())
}

fn between(text: &str, open: &str, close: char) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        out.push_str(before);
        if let Some((inner, tail)) = after.split_once(close) {
            // A string in there is as good as its letters.
            match literal(inner.trim()) {
                Some(letters) => out.push_str(&letters),
                None => out.push(HOLE),
            }
            rest = tail;
        } else {
            out.push_str(open);
            rest = after;
            break;
        }
    }
    out.push_str(rest);
    out
}
