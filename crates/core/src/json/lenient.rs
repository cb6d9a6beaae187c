//! A forgiving reader of JSON, in one pass and with bounded depth.
//!
//! It reads valid JSON exactly as `serde_json` does, and notes in `mended` and `truncated` where
//! it had to be kind.

use serde_json::{Map, Number, Value};

use super::repair::Problem;

/// How deep arrays and objects may nest.
const MAX_DEPTH: u32 = 128;

/// Characters that open a string.
pub(super) const QUOTES: [char; 10] = ['"', '\'', '“', '”', '„', '‟', '‘', '’', '‚', '‛'];

/// What is wrong, and at which byte.
pub(super) struct Fault {
    pub(super) problem: Problem,
    pub(super) at: usize,
}

/// A place in a text, and what had to be forgiven up to here.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    pub(super) mended: bool,
    pub(super) truncated: bool,
}

/// What stands around the value that is being read.
#[derive(Clone, Copy, PartialEq)]
enum Outer {
    Nothing,
    Array,
    Object,
}

/// What was skipped between two tokens.
struct Gap {
    has_newline: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, mended: false, truncated: false }
    }

    /// The byte that is read next.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The text that is not read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips what stands before the object: a fence, or prose. Stops at a value that is JSON but
    /// no object, so that it can be named.
    pub(super) fn seek_object(&mut self) -> Result<(), Fault> {
        self.gap();
        let rest = self.rest();
        if rest.starts_with(['{', '[']) || rest.starts_with(QUOTES) {
            return Ok(());
        }
        let bare = Problem::NotAnObject("text without any object");
        let open = rest.find('{').ok_or(Fault { problem: bare, at: self.at })?;
        self.advance(open);
        self.mended = true;
        Ok(())
    }

    /// Reads one value. None when the text ends before there is anything to keep.
    pub(super) fn value(&mut self) -> Result<Option<Value>, Fault> {
        self.value_in(Outer::Nothing, 0)
    }

    fn value_in(&mut self, outer: Outer, depth: u32) -> Result<Option<Value>, Fault> {
        self.gap();
        match self.peek() {
            None => {
                self.truncated = true;
                Ok(None)
            }
            Some('{' | '[') if depth >= MAX_DEPTH => Err(self.fault(Problem::TooDeep)),
            Some('{') => self.object(outer, depth + 1).map(|members| Some(Value::Object(members))),
            Some('[') => self.array(outer, depth + 1).map(|items| Some(Value::Array(items))),
            Some(quote) if QUOTES.contains(&quote) => self.string().map(|text| Some(Value::String(text))),
            Some(_) => self.scalar(),
        }
    }

    fn object(&mut self, outer: Outer, depth: u32) -> Result<Map<String, Value>, Fault> {
        self.bump();
        let mut members = Map::new();
        let mut ready = true;
        loop {
            let gap = self.gap();
            match self.peek() {
                None => {
                    self.truncated = true;
                    return Ok(members);
                }
                Some('}') => {
                    self.mended |= ready && !members.is_empty();
                    self.bump();
                    return Ok(members);
                }
                Some(']') if outer == Outer::Array => {
                    self.mended = true;
                    return Ok(members);
                }
                Some(',') => {
                    self.mended |= ready;
                    ready = true;
                    self.bump();
                    continue;
                }
                Some(next) if !ready => {
                    // A bare word on the same line is more likely the rest of a broken string.
                    if !(QUOTES.contains(&next) || (gap.has_newline && is_word(next))) {
                        return Err(self.unexpected("`,` or `}`"));
                    }
                    self.mended = true;
                }
                Some(_) => {}
            }
            let Some((key, value)) = self.member(depth)? else { return Ok(members) };
            members.insert(key, value);
            ready = false;
        }
    }

    /// Reads `key: value`. None when the text ends before the value.
    fn member(&mut self, depth: u32) -> Result<Option<(String, Value)>, Fault> {
        let key = match self.peek() {
            Some(quote) if QUOTES.contains(&quote) => self.string()?,
            Some(first) if is_word(first) => {
                self.mended = true;
                self.take_while(|letter| is_word(letter) || letter == '-' || letter == '.').to_owned()
            }
            _ => return Err(self.unexpected("a key or `}`")),
        };
        self.gap();
        match self.peek() {
            _ if self.truncated => return Ok(None),
            None => {
                self.truncated = true;
                return Ok(None);
            }
            Some(':') => self.bump(),
            Some(_) => return Err(self.unexpected("`:` after the key")),
        }
        Ok(self.value_in(Outer::Object, depth)?.map(|value| (key, value)))
    }

    fn array(&mut self, outer: Outer, depth: u32) -> Result<Vec<Value>, Fault> {
        self.bump();
        let mut items: Vec<Value> = Vec::new();
        let mut ready = true;
        loop {
            let gap = self.gap();
            match self.peek() {
                None => {
                    self.truncated = true;
                    return Ok(items);
                }
                Some(']') => {
                    self.mended |= ready && !items.is_empty();
                    self.bump();
                    return Ok(items);
                }
                Some('}') if outer == Outer::Object => {
                    self.mended = true;
                    return Ok(items);
                }
                Some(',') => {
                    self.mended |= ready;
                    ready = true;
                    self.bump();
                    continue;
                }
                Some(next) if !ready => {
                    // Two strings side by side could also be one string with quotes inside.
                    let clear = gap.has_newline || matches!(next, '{' | '[');
                    if !clear {
                        return Err(self.unexpected("`,` or `]`"));
                    }
                    self.mended = true;
                }
                Some(_) => {}
            }
            let Some(item) = self.value_in(Outer::Array, depth)? else { return Ok(items) };
            items.push(item);
            ready = false;
        }
    }

    /// Reads a number or a literal. None when it is cut off.
    fn scalar(&mut self) -> Result<Option<Value>, Fault> {
        let start = self.at;
        let token = self.take_while(|c| c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_'));
        let cut = self.rest().is_empty();
        self.truncated |= cut;
        let problem = match token {
            "true" => return Ok(Some(Value::Bool(true))),
            "false" => return Ok(Some(Value::Bool(false))),
            "null" => return Ok(Some(Value::Null)),
            "True" => return Ok(Some(self.forgiven(Value::Bool(true)))),
            "False" => return Ok(Some(self.forgiven(Value::Bool(false)))),
            "None" => return Ok(Some(self.forgiven(Value::Null))),
            _ if token.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) => {
                match self.number(token) {
                    Some(value) => return Ok(Some(value)),
                    None if cut && is_number_start(token) => return Ok(None),
                    None => Problem::NotANumber(shortened(token)),
                }
            }
            _ if cut && is_literal_start(token) => return Ok(None),
            _ if matches!(token.to_ascii_lowercase().as_str(), "nan" | "inf" | "infinity") => {
                Problem::NotANumber(shortened(token))
            }
            _ => {
                self.at = start;
                return Err(self.unexpected("a value"));
            }
        };
        Err(Fault { problem, at: start })
    }

    fn number(&mut self, token: &str) -> Option<Value> {
        if let Some(number) = finite(token) {
            let digits = token.strip_prefix('-').unwrap_or(token);
            if number.is_f64() && digits.len() > 1 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Some(self.forgiven(Value::String(token.to_owned())));
            }
            return Some(Value::Number(number));
        }
        let (sign, bare) = match token.strip_prefix('-') {
            Some(bare) => ("-", bare),
            None => ("", token.strip_prefix('+').unwrap_or(token)),
        };
        let (lead, bare) = if bare.starts_with('.') { ("0", bare) } else { ("", bare) };
        let tail = if bare.ends_with('.') && bare.len() > 1 { "0" } else { "" };
        let number = finite(&format!("{sign}{lead}{bare}{tail}"))?;
        Some(self.forgiven(Value::Number(number)))
    }

    fn forgiven(&mut self, value: Value) -> Value {
        self.mended = true;
        value
    }

    /// Skips space and comments.
    fn gap(&mut self) -> Gap {
        let start = self.at;
        loop {
            let space = self.take_while(|c| c.is_whitespace() || c == '\u{feff}');
            self.mended |= space.contains(|c| !matches!(c, ' ' | '\t' | '\n' | '\r'));
            let rest = self.rest();
            if rest.starts_with("//") || rest.starts_with('#') {
                self.take_while(|c| c != '\n');
            } else if rest.starts_with("/*") {
                let length = rest.find("*/").map(|end| end + 2);
                self.truncated |= length.is_none();
                self.advance(length.unwrap_or(rest.len()));
            } else {
                let skipped = self.text.get(start..self.at).unwrap_or_default();
                return Gap { has_newline: skipped.contains('\n') };
            }
            self.mended = true;
        }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    pub(super) fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !keep(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    pub(super) fn fault(&self, problem: Problem) -> Fault {
        Fault { problem, at: self.at }
    }

    fn unexpected(&self, wanted: &'static str) -> Fault {
        let line = self.rest().lines().next().unwrap_or_default();
        let found =
            if line.is_empty() { "a line break".to_owned() } else { format!("`{}`", shortened(line)) };
        self.fault(Problem::Unexpected { wanted, found })
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

fn finite(token: &str) -> Option<Number> {
    serde_json::from_str(token).ok()
}

/// Whether more text could still make a number of this.
fn is_number_start(token: &str) -> bool {
    finite(&format!("{token}0")).is_some() || "-Infinity".starts_with(token)
}

fn is_literal_start(token: &str) -> bool {
    ["true", "false", "null", "True", "False", "None"].iter().any(|literal| literal.starts_with(token))
}

fn shortened(text: &str) -> String {
    const LIMIT: usize = 24;
    let mut short: String = text.chars().take(LIMIT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
