//! Python text as words: enough of the language's lexical rules to tell code from strings and
//! comments, and one logical line from the next.
//!
//! Handled are all kinds of strings (raw, bytes, formatted with nested fields, triple), comments,
//! brackets that join lines, continuation by a backslash, and a byte order mark. Numbers and operators
//! are not told apart: nobody here asks.

/// How deep fields of formatted strings may be nested; nobody reads deeper ones.
const MAX_NESTED: usize = 32;

/// One word of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind<'a>,
    /// Counted from 1.
    pub(crate) line: usize,
    /// How deep in brackets; an opening bracket counts as outside of itself, and so does its end.
    pub(crate) depth: usize,
}

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    /// A name, a keyword or a number.
    Name(&'a str),
    /// A string; its text where that stands as it is written.
    Text(Option<&'a str>),
    /// Any other character.
    Sign(char),
    /// The beginning of a logical line, and whether it stands at the margin.
    Line { at_margin: bool },
}

/// Why a text is not Python.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub(crate) struct Broken {
    pub(crate) line: usize,
    pub(crate) what: &'static str,
}

/// All words of a text.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Broken> {
    let mut lexer =
        Lexer { rest: text.trim_start_matches('\u{feff}'), line: 1, brackets: Vec::new(), found: Vec::new() };
    lexer.run()?;
    Ok(lexer.found)
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    /// Which bracket is open, and since which line.
    brackets: Vec<(char, usize)>,
    found: Vec<Token<'a>>,
}

impl<'a> Lexer<'a> {
    fn run(&mut self) -> Result<(), Broken> {
        let mut fresh = true;
        while let Some(first) = self.rest.chars().next() {
            if fresh && self.brackets.is_empty() {
                fresh = false;
                self.begin_line();
                continue;
            }
            match first {
                '\n' => {
                    self.skip(1);
                    fresh = true;
                }
                '#' => self.comment(),
                '\\' => self.continued()?,
                c if c.is_whitespace() => {
                    self.skip(c.len_utf8());
                }
                '"' | '\'' => self.string(false, false)?,
                c if c.is_alphanumeric() || c == '_' => self.name()?,
                c => self.sign(c)?,
            }
        }
        match self.brackets.last() {
            Some((_, line)) => Err(Broken { line: *line, what: "this bracket is never closed" }),
            None => Ok(()),
        }
    }

    /// The indentation of a line; a line with nothing on it begins nothing.
    fn begin_line(&mut self) {
        let body = self.rest.trim_start_matches([' ', '\t', '\u{c}', '\r']);
        let at_margin = body.len() == self.rest.trim_start_matches(['\u{c}', '\r']).len();
        self.rest = body;
        if !body.is_empty() && !body.starts_with(['\n', '#']) {
            self.push(Kind::Line { at_margin });
        }
    }

    fn push(&mut self, kind: Kind<'a>) {
        self.found.push(Token { kind, line: self.line, depth: self.brackets.len() });
    }

    /// Goes on by so many bytes, counting lines.
    fn skip(&mut self, bytes: usize) -> &'a str {
        let (gone, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.line += gone.matches('\n').count();
        self.rest = rest;
        gone
    }

    fn comment(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.skip(end);
    }

    /// A backslash joins the next line to this one.
    fn continued(&mut self) -> Result<(), Broken> {
        let end = ["\\\r\n", "\\\n"].iter().find(|end| self.rest.starts_with(**end));
        match end {
            Some(end) => {
                self.skip(end.len());
                Ok(())
            }
            None => Err(Broken { line: self.line, what: "a stray backslash" }),
        }
    }

    /// A name, or the prefix of a string.
    fn name(&mut self) -> Result<(), Broken> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let word = self.rest.get(..end).unwrap_or_default();
        let next = self.rest.get(end..).unwrap_or_default();
        let prefix = word.to_ascii_lowercase();
        let is_prefix =
            matches!(prefix.as_str(), "r" | "b" | "u" | "f" | "t" | "rb" | "br" | "fr" | "rf" | "tr" | "rt");
        if is_prefix && next.starts_with(['"', '\'']) {
            self.skip(end);
            return self.string(prefix.contains(['f', 't']), prefix.contains(['r', 'b']));
        }
        self.push(Kind::Name(word));
        self.skip(end);
        Ok(())
    }

    fn sign(&mut self, sign: char) -> Result<(), Broken> {
        match sign {
            '(' | '[' | '{' => {
                self.push(Kind::Sign(sign));
                self.brackets.push((sign, self.line));
            }
            ')' | ']' | '}' => {
                let fits = |open: char| matches!((open, sign), ('(', ')') | ('[', ']') | ('{', '}'));
                if !self.brackets.pop().is_some_and(|(open, _)| fits(open)) {
                    return Err(Broken { line: self.line, what: "a bracket that was not opened" });
                }
                self.push(Kind::Sign(sign));
            }
            other => self.push(Kind::Sign(other)),
        }
        self.skip(sign.len_utf8());
        Ok(())
    }

    fn string(&mut self, fields: bool, plain: bool) -> Result<(), Broken> {
        let begun = self.line;
        let length = string_length(self.rest, fields, MAX_NESTED)
            .ok_or(Broken { line: begun, what: "this string is never closed" })?;
        let quotes = quotes(self.rest).len();
        let inner = self.rest.get(quotes..length.saturating_sub(quotes));
        let value = inner.filter(|text| !fields && !plain && !text.contains('\\'));
        self.push(Kind::Text(value));
        self.skip(length);
        Ok(())
    }
}

/// The quotes a string begins with.
fn quotes(text: &str) -> &'static str {
    match text {
        text if text.starts_with("\"\"\"") => "\"\"\"",
        text if text.starts_with("'''") => "'''",
        text if text.starts_with('"') => "\"",
        _ => "'",
    }
}

/// How many bytes a string takes that begins here; `None` when it has no end.
fn string_length(text: &str, fields: bool, nested: usize) -> Option<usize> {
    let end = quotes(text);
    let mut at = end.len();
    loop {
        let rest = text.get(at..)?;
        if rest.starts_with(end) {
            return Some(at + end.len());
        }
        let first = rest.chars().next()?;
        at += match first {
            '\\' => 1 + rest.get(1..)?.chars().next()?.len_utf8(),
            '\n' if end.len() == 1 => return None,
            '{' if fields && rest.starts_with("{{") => 2,
            '{' if fields => field_length(rest, nested)?,
            other => other.len_utf8(),
        };
    }
}

/// How many bytes a field of a formatted string takes, with its braces.
fn field_length(text: &str, nested: usize) -> Option<usize> {
    let nested = nested.checked_sub(1)?;
    let (mut at, mut depth, mut format) = (1, 0_usize, false);
    loop {
        let rest = text.get(at..)?;
        let first = rest.chars().next()?;
        at += match first {
            '}' if depth == 0 => return Some(at + 1),
            '{' if format => field_length(rest, nested)?,
            _ if format => first.len_utf8(),
            '"' | '\'' => string_length(rest, text_before_is_formatted(text, at), nested)?,
            '(' | '[' | '{' => {
                depth += 1;
                1
            }
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                1
            }
            ':' if depth == 0 => {
                format = true;
                1
            }
            other => other.len_utf8(),
        };
    }
}

/// Whether the letters before this place make the string there a formatted one.
fn text_before_is_formatted(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let letters = before.len() - before.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
    let prefix = before.get(before.len() - letters..).unwrap_or_default();
    letters <= 2 && prefix.contains(['f', 'F', 't', 'T'])
}
