//! `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`: Kimi.

use hermes_core::model::ModelCall;

use super::super::grouped::Marks;
use super::super::spans::{Parsed, Span};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("kimi", &[MARKS.all.0, MARKS.each.0], parse, cut);

const MARKS: Marks = Marks {
    all: ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    each: ("<|tool_call_begin|>", "<|tool_call_end|>"),
};
const ARGUMENTS: &str = "<|tool_call_argument_begin|>";

fn parse(span: &Span<'_>) -> Parsed {
    MARKS.parse(span, call)
}

fn call(span: &Span<'_>, body: &str) -> Option<ModelCall> {
    let (id, arguments) = body.split_once(ARGUMENTS)?;
    let id = id.trim();
    let name = id.rsplit_once(':').map_or(id, |(name, _)| name);
    let call = span.call(name, arguments.trim().to_owned())?;
    Some(ModelCall { id: id.to_owned(), ..call })
}

fn cut(span: &Span<'_>) -> Option<ModelCall> {
    call(span, MARKS.last(span)?)
}
