//! `<function=name>…</function>`: with parameters in tags (Qwen coder) or as JSON (Llama), inside
//! `<tool_call>` or without.

use hermes_core::model::ModelCall;
use serde_json::{Map, Value};

use super::super::spans::{Parsed, Span, read, typed, until};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("function", &["<function=", "<tool_call>"], parse, cut);

fn parse(span: &Span<'_>) -> Parsed {
    let mut rest = skip(span.text, "<tool_call>");
    if rest.is_empty() {
        return Parsed::More;
    }
    let mut calls = Vec::new();
    loop {
        if !rest.starts_with("<function=") {
            let more = calls.is_empty() && "<function=".starts_with(rest);
            return if more { Parsed::More } else { finish(span, calls, rest) };
        }
        let Some((name, after)) = until(rest.strip_prefix("<function=").unwrap_or(rest), ">") else {
            return so_far(span, calls, rest);
        };
        if !span.accepts(name.trim_matches('"')) {
            return before_other(span, calls, rest);
        }
        let Some((body, after)) = until(after, "</function>") else { return so_far(span, calls, rest) };
        match call(span, name.trim_matches('"'), body) {
            Some(call) => calls.push(call),
            None => return before_other(span, calls, rest),
        }
        rest = after.trim_start();
    }
}

/// The whole calls before one that is not whole yet; where more may come that closes all of them, it is
/// waited for.
fn so_far(span: &Span<'_>, calls: Vec<ModelCall>, rest: &str) -> Parsed {
    if calls.is_empty() || (span.text.starts_with("<tool_call>") && !span.ended) {
        return Parsed::More;
    }
    Parsed::Calls { calls, used: span.text.len() - rest.len() }
}

/// The calls before something that is none; inside of one pair of tags they go with it.
fn before_other(span: &Span<'_>, calls: Vec<ModelCall>, rest: &str) -> Parsed {
    if calls.is_empty() || span.text.starts_with("<tool_call>") {
        return Parsed::No;
    }
    Parsed::Calls { calls, used: span.text.len() - rest.len() }
}

fn finish(span: &Span<'_>, calls: Vec<ModelCall>, rest: &str) -> Parsed {
    if calls.is_empty() {
        return Parsed::No;
    }
    let closing = "</tool_call>";
    let opened = span.text.starts_with("<tool_call>");
    if opened && !span.ended && rest.len() < closing.len() && closing.starts_with(rest) {
        return Parsed::More;
    }
    let rest = rest.strip_prefix(closing).filter(|_| opened).unwrap_or(rest);
    Parsed::Calls { calls, used: span.text.len() - rest.len() }
}

fn skip<'a>(text: &'a str, opens: &str) -> &'a str {
    text.strip_prefix(opens).unwrap_or(text).trim_start()
}

fn call(span: &Span<'_>, name: &str, body: &str) -> Option<ModelCall> {
    if body.trim_start().starts_with('{') {
        return span.call(name, read(body.trim())?.to_string());
    }
    let tool = span.offered.get(name.trim());
    let mut arguments = Map::new();
    let mut rest = body;
    while let Some((_, after)) = until(rest, "<parameter=") {
        let (key, after) = until(after, ">")?;
        // The closing tag may be forgotten before the next parameter.
        let end = after.find("</parameter>").or_else(|| after.find("<parameter=")).unwrap_or(after.len());
        let (value, after) = after.split_at_checked(end)?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        arguments.insert(key.trim().to_owned(), typed(tool, key.trim(), value));
        rest = after.strip_prefix("</parameter>").unwrap_or(after);
    }
    span.call(name, Value::Object(arguments).to_string())
}

fn cut(span: &Span<'_>) -> Option<ModelCall> {
    let rest = skip(span.text, "<tool_call>").strip_prefix("<function=")?;
    let (name, body) = until(rest, ">")?;
    // Whole but for its closing tag, when the last parameter is closed.
    let body = body.trim_end();
    let whole = body.ends_with("</parameter>") || body.is_empty();
    match call(span, name, body).filter(|_| whole) {
        Some(call) => Some(call),
        None => span.call(name, "{".into()),
    }
}
