//! `<｜tool▁call▁begin｜>…<｜tool▁sep｜>…<｜tool▁call▁end｜>`: `DeepSeek`, with the arguments bare or in a
//! fenced block.

use hermes_core::model::ModelCall;

use super::super::grouped::Marks;
use super::super::spans::{End, Parsed, Span, json_end};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("deepseek", &[MARKS.all.0, MARKS.each.0], parse, cut);

const MARKS: Marks = Marks {
    all: ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    each: ("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
};
const SEPARATOR: &str = "<｜tool▁sep｜>";

fn parse(span: &Span<'_>) -> Parsed {
    MARKS.parse(span, call)
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
    let (name, arguments) = head(MARKS.last(span)?)?;
    let arguments = arguments.find('{').and_then(|at| arguments.get(at..)).unwrap_or("{");
    span.call(name, arguments.to_owned())
}
