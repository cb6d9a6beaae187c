//! `[TOOL_CALLS][{"name": …}]` and `[TOOL_CALLS]name[ARGS]{…}`: Mistral, old and new.

use hermes_core::model::ModelCall;

use super::super::spans::{End, Parsed, Span, calls_of, cut_json, json_end, read};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("mistral", &[TAG], parse, cut);

const TAG: &str = "[TOOL_CALLS]";

fn parse(span: &Span<'_>) -> Parsed {
    let inner = span.text.strip_prefix(TAG).unwrap_or_default().trim_start();
    if inner.is_empty() {
        return Parsed::More;
    }
    if inner.starts_with(['[', '{']) {
        return match json_end(inner) {
            End::At(end) => {
                let (value, rest) = inner.split_at_checked(end).unwrap_or((inner, ""));
                let calls = read_list(value).and_then(|value| calls_of(&value, span, false));
                calls.map_or(Parsed::No, |calls| Parsed::Calls { calls, used: span.text.len() - rest.len() })
            }
            End::Later => Parsed::More,
            End::Never => Parsed::No,
        };
    }
    named(span)
}

fn read_list(text: &str) -> Option<serde_json::Value> {
    crate::lenient::parse(text).or_else(|| read(text))
}

/// `name{…}`, with marks between, and the next call behind the next mark.
fn named(span: &Span<'_>) -> Parsed {
    let mut rest = span.text;
    let mut calls = Vec::new();
    while let Some(inner) = rest.strip_prefix(TAG) {
        let Some(brace) = inner.find('{') else {
            // A name is not longer than this, with its marks.
            return if inner.len() < 160 && calls.is_empty() {
                Parsed::More
            } else {
                break_off(span, calls, rest)
            };
        };
        let (head, arguments) = inner.split_at_checked(brace).unwrap_or((inner, ""));
        let mut marks = head.split(['[', ']']);
        let name = marks.next().unwrap_or_default().trim();
        let id = marks.skip_while(|mark| *mark != "CALL_ID").nth(1).unwrap_or_default().trim().to_owned();
        match json_end(arguments) {
            End::At(end) => {
                let (arguments, after) = arguments.split_at_checked(end).unwrap_or((arguments, ""));
                let Some(call) = span.call(name, arguments.to_owned()) else { return Parsed::No };
                calls.push(ModelCall { id, ..call });
                rest = after.trim_start();
            }
            End::Later => return if span.accepts(name) { Parsed::More } else { Parsed::No },
            End::Never => return Parsed::No,
        }
    }
    break_off(span, calls, rest)
}

fn break_off(span: &Span<'_>, calls: Vec<ModelCall>, rest: &str) -> Parsed {
    if !span.ended && TAG.starts_with(rest) {
        return Parsed::More;
    }
    if calls.is_empty() { Parsed::No } else { Parsed::Calls { calls, used: span.text.len() - rest.len() } }
}

fn cut(span: &Span<'_>) -> Option<ModelCall> {
    let inner = span.text.strip_prefix(TAG)?.trim_start();
    if inner.starts_with(['[', '{']) {
        return cut_json(inner, span);
    }
    let (head, arguments) = inner.split_at_checked(inner.find('{')?)?;
    span.call(head.split('[').next().unwrap_or_default(), arguments.to_owned())
}
