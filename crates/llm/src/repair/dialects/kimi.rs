//! `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`: Kimi.

use hermes_core::model::ModelCall;

use super::super::spans::{Parsed, Span};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("kimi", &[ALL_BEGIN, BEGIN], parse, cut);

const ALL_BEGIN: &str = "<|tool_calls_section_begin|>";
const ALL_END: &str = "<|tool_calls_section_end|>";
const BEGIN: &str = "<|tool_call_begin|>";
const END: &str = "<|tool_call_end|>";
const ARGUMENTS: &str = "<|tool_call_argument_begin|>";

fn parse(span: &Span<'_>) -> Parsed {
    let grouped = span.text.starts_with(ALL_BEGIN);
    let mut rest = span.text.strip_prefix(ALL_BEGIN).unwrap_or(span.text).trim_start();
    let mut calls = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix(ALL_END) {
            rest = after;
            break;
        }
        let Some(inner) = rest.strip_prefix(BEGIN) else {
            if grouped && !span.ended && (ALL_END.starts_with(rest) || BEGIN.starts_with(rest)) {
                return Parsed::More;
            }
            break;
        };
        let Some((body, after)) = inner.split_once(END) else { return Parsed::More };
        let Some(call) = call(span, body) else { return Parsed::No };
        calls.push(call);
        rest = after.trim_start();
    }
    if calls.is_empty() { Parsed::No } else { Parsed::Calls { calls, used: span.text.len() - rest.len() } }
}

fn call(span: &Span<'_>, body: &str) -> Option<ModelCall> {
    let (id, arguments) = body.split_once(ARGUMENTS)?;
    let id = id.trim();
    let name = id.rsplit_once(':').map_or(id, |(name, _)| name);
    let call = span.call(name, arguments.trim().to_owned())?;
    Some(ModelCall { id: id.to_owned(), ..call })
}

fn cut(span: &Span<'_>) -> Option<ModelCall> {
    let at = span.text.rfind(BEGIN)?;
    call(span, span.text.get(at + BEGIN.len()..)?)
}
