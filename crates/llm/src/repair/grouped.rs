//! Calls between marks of their own, one after another, perhaps with a mark around them all.

use hermes_core::model::ModelCall;

use super::spans::{Parsed, Span};

/// The marks of a dialect.
pub(crate) struct Marks {
    /// Around all calls; the first may be missing.
    pub(crate) all: (&'static str, &'static str),
    /// Around each call.
    pub(crate) each: (&'static str, &'static str),
}

impl Marks {
    /// The calls a text begins with; `call` reads what is between the marks of one.
    pub(crate) fn parse(&self, span: &Span<'_>, call: fn(&Span<'_>, &str) -> Option<ModelCall>) -> Parsed {
        let grouped = span.text.starts_with(self.all.0);
        let mut rest = span.text.strip_prefix(self.all.0).unwrap_or(span.text).trim_start();
        let mut calls = Vec::new();
        loop {
            if let Some(after) = rest.strip_prefix(self.all.1) {
                rest = after;
                break;
            }
            let Some(inner) = rest.strip_prefix(self.each.0) else {
                let begins = self.all.1.starts_with(rest) || self.each.0.starts_with(rest);
                if grouped && !span.ended && begins {
                    return Parsed::More;
                }
                break;
            };
            let Some((body, after)) = inner.split_once(self.each.1) else { return Parsed::More };
            let Some(call) = call(span, body) else { return Parsed::No };
            calls.push(call);
            rest = after.trim_start();
        }
        if calls.is_empty() {
            return Parsed::No;
        }
        Parsed::Calls { calls, used: span.text.len() - rest.len() }
    }

    /// What there is of the last call, which was cut off.
    pub(crate) fn last<'a>(&self, span: &Span<'a>) -> Option<&'a str> {
        let at = span.text.rfind(self.each.0)?;
        span.text.get(at + self.each.0.len()..)
    }
}
