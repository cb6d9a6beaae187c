//! `[weather(city="London"), now()]`: newer Llama models and others that think in Python.

use hermes_core::model::ModelCall;
use serde_json::{Map, Value};

use super::super::spans::{Parsed, Span};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("pythonic", &["["], parse, |_| None).at_line_start();

fn parse(span: &Span<'_>) -> Parsed {
    let inner = span.text.strip_prefix('[').unwrap_or_default().trim_start();
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name = inner.split(|c| !word(c)).next().unwrap_or_default();
    let offered = Span { trusted: false, ..*span };
    if name.len() == inner.len() {
        let may_grow = inner.is_empty() || span.offered.all().any(|tool| tool.name.starts_with(name));
        return if may_grow { Parsed::More } else { Parsed::No };
    }
    if !offered.accepts(name) {
        return Parsed::No;
    }
    let mut reader = Reader { rest: inner };
    match reader.calls(&offered) {
        Read::Done(calls) => Parsed::Calls { calls, used: span.text.len() - reader.rest.len() },
        Read::Cut => Parsed::More,
        Read::Wrong => Parsed::No,
    }
}

enum Read<T> {
    Done(T),
    Cut,
    Wrong,
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn calls(&mut self, span: &Span<'_>) -> Read<Vec<ModelCall>> {
        let mut calls = Vec::new();
        loop {
            let (name, arguments) = match self.call() {
                Read::Done(call) => call,
                Read::Cut => return Read::Cut,
                Read::Wrong => return Read::Wrong,
            };
            match span.call(&name, Value::Object(arguments).to_string()) {
                Some(call) => calls.push(call),
                None => return Read::Wrong,
            }
            match self.one_of(&[',', ']']) {
                Read::Done(']') => return Read::Done(calls),
                Read::Done(_) => {}
                Read::Cut => return Read::Cut,
                Read::Wrong => return Read::Wrong,
            }
        }
    }

    fn call(&mut self) -> Read<(String, Map<String, Value>)> {
        let name = self.word();
        let mut arguments = Map::new();
        match self.one_of(&['(']) {
            Read::Done(_) if !name.is_empty() => {}
            Read::Cut => return Read::Cut,
            _ => return Read::Wrong,
        }
        loop {
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix(')') {
                self.rest = rest;
                return Read::Done((name, arguments));
            }
            let key = self.word();
            match self.one_of(&['=']) {
                Read::Done(_) if !key.is_empty() => {}
                Read::Cut => return Read::Cut,
                _ => return Read::Wrong,
            }
            match self.value() {
                Read::Done(value) => arguments.insert(key, value),
                Read::Cut => return Read::Cut,
                Read::Wrong => return Read::Wrong,
            };
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
            } else if self.rest.is_empty() {
                return Read::Cut;
            } else if !self.rest.starts_with(')') {
                return Read::Wrong;
            }
        }
    }

    fn word(&mut self) -> String {
        let text = self.rest.trim_start();
        let end = text
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
            .unwrap_or(text.len());
        let (word, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        self.rest = rest;
        word.to_owned()
    }

    fn one_of(&mut self, wanted: &[char]) -> Read<char> {
        self.rest = self.rest.trim_start();
        let mut chars = self.rest.chars();
        match chars.next() {
            Some(c) if wanted.contains(&c) => {
                self.rest = chars.as_str();
                Read::Done(c)
            }
            Some(_) => Read::Wrong,
            None => Read::Cut,
        }
    }

    /// A Python literal: a string, or what reads as JSON with Python's words for it.
    fn value(&mut self) -> Read<Value> {
        self.rest = self.rest.trim_start();
        if let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            return self.string(quote);
        }
        let mut depth = 0_usize;
        for (at, c) in self.rest.char_indices() {
            match c {
                '[' | '{' | '(' => depth += 1,
                ']' | '}' | ')' | ',' if depth == 0 => {
                    let (text, rest) = self.rest.split_at_checked(at).unwrap_or((self.rest, ""));
                    self.rest = rest;
                    return literal(text);
                }
                ']' | '}' | ')' => depth -= 1,
                _ => {}
            }
        }
        Read::Cut
    }

    fn string(&mut self, quote: char) -> Read<Value> {
        let mut text = String::new();
        let mut escaped = false;
        for (at, c) in self.rest.char_indices().skip(1) {
            if escaped {
                text.push(match c {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    other => other,
                });
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote {
                self.rest = self.rest.get(at + 1..).unwrap_or_default();
                return Read::Done(Value::String(text));
            } else {
                text.push(c);
            }
        }
        Read::Cut
    }
}

fn literal(text: &str) -> Read<Value> {
    let read = match text.trim() {
        "True" | "true" => Some(Value::Bool(true)),
        "False" | "false" => Some(Value::Bool(false)),
        "None" | "null" => Some(Value::Null),
        other => {
            let list = format!("{{\"value\":{other}}}");
            crate::lenient::parse(other).or_else(|| {
                let mut parsed =
                    hermes_core::json::parse_arguments(&list).ok().filter(|parsed| !parsed.truncated)?;
                parsed.value.shift_remove("value")
            })
        }
    };
    read.map_or(Read::Wrong, Read::Done)
}
