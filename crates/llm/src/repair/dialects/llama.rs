//! `<|python_tag|>{"name": …, "parameters": …}`: Llama, several calls with `;` between.

use hermes_core::model::ModelCall;

use super::super::spans::{End, Parsed, Span, calls_of, cut_json, json_end, read};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("llama", &[TAG], parse, cut);

const TAG: &str = "<|python_tag|>";
const ENDS: [&str; 2] = ["<|eom_id|>", "<|eot_id|>"];

fn parse(span: &Span<'_>) -> Parsed {
    let mut rest = span.text.strip_prefix(TAG).unwrap_or_default().trim_start();
    if rest.is_empty() {
        return Parsed::More;
    }
    let mut calls = Vec::new();
    while rest.starts_with(['{', '[']) {
        match json_end(rest) {
            End::At(end) => {
                let (value, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                let Some(mut found) = read(value).and_then(|value| calls_of(&value, span, false)) else {
                    return Parsed::No;
                };
                calls.append(&mut found);
                rest = after.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
            }
            End::Later => return Parsed::More,
            End::Never => return Parsed::No,
        }
    }
    if calls.is_empty() {
        return Parsed::No;
    }
    if !span.ended && (ENDS.iter().any(|end| end.starts_with(rest)) || rest.is_empty()) {
        return Parsed::More;
    }
    let rest = ENDS.iter().find_map(|end| rest.strip_prefix(end)).unwrap_or(rest);
    Parsed::Calls { calls, used: span.text.len() - rest.len() }
}

fn cut(span: &Span<'_>) -> Option<ModelCall> {
    cut_json(span.text.strip_prefix(TAG)?, span)
}
