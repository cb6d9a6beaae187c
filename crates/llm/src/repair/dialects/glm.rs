//! `<tool_call>name<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>`: GLM.

use hermes_core::model::ModelCall;
use serde_json::{Map, Value};

use super::super::spans::{Parsed, Span, typed, until};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("glm", &["<tool_call>"], parse, |_| None);

fn parse(span: &Span<'_>) -> Parsed {
    let Some(inner) = span.text.strip_prefix("<tool_call>") else { return Parsed::No };
    let begin = inner.trim_start();
    if begin.is_empty() {
        return Parsed::More;
    }
    if !begin.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return Parsed::No;
    }
    let Some((body, rest)) = until(inner, "</tool_call>") else {
        let name = begin.split(['\n', '<']).next().unwrap_or_default();
        return if span.accepts(name) || name.len() == begin.len() { Parsed::More } else { Parsed::No };
    };
    match call(span, body) {
        Some(call) => Parsed::Calls { calls: vec![call], used: span.text.len() - rest.len() },
        None => Parsed::No,
    }
}

fn call(span: &Span<'_>, body: &str) -> Option<ModelCall> {
    let (name, mut rest) = match body.find("<arg_key>") {
        Some(at) => body.split_at_checked(at)?,
        None => (body, ""),
    };
    let tool = span.offered.get(name.trim());
    let mut arguments = Map::new();
    while let Some((_, after)) = until(rest, "<arg_key>") {
        let (key, after) = until(after, "</arg_key>")?;
        let (_, after) = until(after, "<arg_value>")?;
        let (value, after) = until(after, "</arg_value>")?;
        arguments.insert(key.trim().to_owned(), typed(tool, key.trim(), value));
        rest = after;
    }
    span.call(name, Value::Object(arguments).to_string())
}
