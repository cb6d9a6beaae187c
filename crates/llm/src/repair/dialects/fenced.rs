//! A fenced block that holds nothing but a call as JSON.

use super::super::spans::{End, Parsed, Span, calls_of, json_end, may_be_call, read};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("fenced", &["```"], parse, |_| None).at_line_start();

/// What the opening fence may say.
const LANGUAGES: [&str; 6] = ["", "json", "tool_call", "tool_code", "tool", "xml"];

fn parse(span: &Span<'_>) -> Parsed {
    let inner = span.text.strip_prefix("```").unwrap_or_default();
    let Some((language, inner)) = inner.split_once('\n') else {
        let maybe = LANGUAGES.iter().any(|language| language.starts_with(inner.trim_end()));
        return if maybe { Parsed::More } else { Parsed::No };
    };
    let body = inner.trim_start();
    if !LANGUAGES.contains(&language.trim()) || !may_be_call(body) {
        return Parsed::No;
    }
    let End::At(end) = json_end(body) else {
        return if json_end(body) == End::Later { Parsed::More } else { Parsed::No };
    };
    let (value, rest) = body.split_at_checked(end).unwrap_or((body, ""));
    // An example of a tool that is not offered stays what it is.
    let offered = Span { trusted: false, ..*span };
    let Some(calls) = read(value).and_then(|value| calls_of(&value, &offered, true)) else {
        return Parsed::No;
    };
    let rest = rest.trim_start();
    match rest.strip_prefix("```") {
        Some(after) => Parsed::Calls { calls, used: span.text.len() - after.len() },
        None if "```".starts_with(rest) => Parsed::More,
        None => Parsed::No,
    }
}
