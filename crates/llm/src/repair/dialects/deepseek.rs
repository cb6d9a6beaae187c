//! `<｜tool▁call▁begin｜>…<｜tool▁sep｜>…<｜tool▁call▁end｜>`: `DeepSeek`, with the arguments bare or in a
//! fenced block.

use hermes_core::model::ModelCall;

use super::super::spans::{End, Parsed, Span, json_end};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("deepseek", &[ALL_BEGIN, BEGIN], parse, cut);

const ALL_BEGIN: &str = "<｜tool▁calls▁begin｜>";
const ALL_END: &str = "<｜tool▁calls▁end｜>";
const BEGIN: &str = "<｜tool▁call▁begin｜>";
const END: &str = "<｜tool▁call▁end｜>";
const SEPARATOR: &str = "<｜tool▁sep｜>";

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
            let maybe = grouped && !span.ended && (ALL_END.starts_with(rest) || BEGIN.starts_with(rest));
            if maybe {
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

/// `function<sep>name` and a fenced block, or `name<sep>{…}`.
fn call(span: &Span<'_>, body: &str) -> Option<ModelCall> {
    let (name, arguments) = head(body)?;
    let arguments = arguments.get(arguments.find('{')?..)?;
    match json_end(arguments) {
        End::At(end) => span.call(name, arguments.get(..end)?.to_owned()),
        End::Later => span.call(name, arguments.trim_end().to_owned()),
        End::Never => None,
    }
}

fn head(body: &str) -> Option<(&str, &str)> {
    let (before, after) = body.split_once(SEPARATOR)?;
    if before.trim() == "function" {
        let end = after.find(['\n', '`', '{']).unwrap_or(after.len());
        let (name, rest) = after.split_at_checked(end)?;
        Some((name.trim(), rest))
    } else {
        Some((before.trim(), after))
    }
}

fn cut(span: &Span<'_>) -> Option<ModelCall> {
    let at = span.text.rfind(BEGIN)?;
    let (name, arguments) = head(span.text.get(at + BEGIN.len()..)?)?;
    let arguments = arguments.find('{').and_then(|at| arguments.get(at..)).unwrap_or("{");
    span.call(name, arguments.to_owned())
}
