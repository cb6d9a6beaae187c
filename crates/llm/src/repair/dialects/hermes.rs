//! `<tool_call>{"name": …, "arguments": …}</tool_call>`: Hermes, Qwen and many that learnt from them.

use hermes_core::model::ModelCall;

use super::super::spans::{End, Parsed, Span, calls_of, json_end, read};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("hermes", OPENS, parse, cut);

const OPENS: &[&str] = &["<tool_call>", "<tool_calls>", "<function_call>", "<tool_call|>"];
const CLOSES: &[&str] = &["</tool_call>", "</tool_calls>", "</function_call>", "<|/tool_call>"];

fn parse(span: &Span<'_>) -> Parsed {
    let inner = body(span.text);
    let before = span.text.len() - inner.len();
    if inner.is_empty() || (!span.ended && "```json".starts_with(unwrapped(span.text))) {
        return Parsed::More;
    }
    let mut calls = Vec::new();
    let mut at = 0;
    loop {
        let rest = inner.get(at..).unwrap_or_default();
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '`'));
        at = inner.len() - trimmed.len();
        if let Some(closes) = CLOSES.iter().find(|closes| trimmed.starts_with(*closes)) {
            return done(calls, before + at + closes.len());
        }
        if !trimmed.starts_with(['{', '[']) {
            // The closing tag is missing, or not here yet.
            let maybe = CLOSES.iter().any(|closes| closes.starts_with(trimmed));
            return if maybe && !span.ended { Parsed::More } else { done(calls, before + at) };
        }
        match json_end(trimmed) {
            End::At(end) => {
                let value = trimmed.get(..end).and_then(read);
                let Some(mut found) = value.and_then(|value| calls_of(&value, span, false)) else {
                    return Parsed::No;
                };
                calls.append(&mut found);
                at += end;
            }
            End::Later => return Parsed::More,
            End::Never => return Parsed::No,
        }
    }
}

fn done(calls: Vec<ModelCall>, used: usize) -> Parsed {
    if calls.is_empty() { Parsed::No } else { Parsed::Calls { calls, used } }
}

/// What is inside the tag.
fn unwrapped(text: &str) -> &str {
    OPENS.iter().find_map(|opens| text.strip_prefix(opens)).unwrap_or(text).trim_start()
}

fn body(text: &str) -> &str {
    let inner = unwrapped(text);
    // Some put the object into a fenced block inside the tag.
    inner.strip_prefix("```json").or_else(|| inner.strip_prefix("```")).unwrap_or(inner).trim_start()
}

fn cut(span: &Span<'_>) -> Option<ModelCall> {
    // Whole but for its closing tag is whole.
    super::super::spans::cut_json(body(span.text), span)
}
