//! A call as JSON without anything around it, at the beginning of a line.

use hermes_core::model::ModelCall;

use super::super::spans::{End, Parsed, Span, calls_of, cut_json, json_end, may_be_call, read};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("bare", &["{", "["], parse, cut).at_line_start();

fn parse(span: &Span<'_>) -> Parsed {
    if !may_be_call(span.text) {
        return Parsed::No;
    }
    match json_end(span.text) {
        End::At(end) => {
            let value = span.text.get(..end).and_then(read);
            match value.and_then(|value| calls_of(&value, &offered_only(span), true)) {
                Some(calls) => Parsed::Calls { calls, used: end },
                None => Parsed::No,
            }
        }
        End::Later => Parsed::More,
        End::Never => Parsed::No,
    }
}

/// Any object may have a name; only that of an offered tool makes it a call.
fn offered_only<'a>(span: &Span<'a>) -> Span<'a> {
    Span { trusted: false, ..*span }
}

fn cut(span: &Span<'_>) -> Option<ModelCall> {
    cut_json(span.text, &offered_only(span))
}
