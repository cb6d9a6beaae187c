//! Takes secrets out of text before a model, a log or a person sees it.
//!
//! Two kinds are found. **Known values** (the keys this installation uses) are found in whatever dress they
//! appear: plain, JSON-escaped, percent-encoded, in hexadecimal, in Base64 also as part of a longer text, and
//! wrapped over lines or broken by blanks. **Recognisable formats** (key prefixes, tokens, private key blocks,
//! passwords in URLs and assignments) are found by their shape; identifiers, hashes, placeholders and code that
//! only talks about secrets are left alone. A key that a full line broke is put together again.
//!
//! The replacement is always `[REDACTED]`, and a JSON text stays JSON.

mod anchors;
mod assign;
mod encode;
mod known;
mod likely;
mod look;
mod prefixes;
mod samples;
mod shapes;
mod splice;
mod wrap;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use known::Known;

/// What stands in place of a secret.
pub const REDACTED: &str = "[REDACTED]";

/// Shortest known value that is looked for; shorter ones would blot out ordinary words.
const SHORTEST: usize = samples::LEAST;

/// Most passes over one text. A pass can bring parts together that a second one has to look at.
const PASSES: usize = 4;

/// Finds secrets in text. Build one per set of known values and keep it.
#[derive(Debug)]
pub struct Redactor {
    known: Known,
}

impl Redactor {
    /// A redactor for these values and all recognisable formats. Values shorter than six bytes are not used.
    pub fn new<I>(known_values: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut values: Vec<String> =
            known_values.into_iter().map(|value| value.as_ref().trim().to_owned()).collect();
        values.retain(|value| value.len() >= SHORTEST && !REDACTED.contains(value.as_str()));
        values.sort_unstable();
        values.dedup();
        Self { known: Known::new(&values) }
    }

    /// The text without secrets; borrowed if there were none.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = Cow::Borrowed(text);
        for _ in 0..PASSES {
            match self.pass(&out) {
                Some(next) => out = Cow::Owned(next),
                None => break,
            }
        }
        out
    }

    /// One pass; None if nothing was found.
    fn pass(&self, text: &str) -> Option<String> {
        let mut found: Vec<Range<usize>> = Vec::new();
        self.known.find(text, &mut found);
        if anchors::find(text, &mut found).is_err() {
            // It cannot tell what is secret, so everything is.
            return (text != REDACTED).then(|| REDACTED.to_owned());
        }
        shapes::discord(text, &mut found);
        splice::replace(text, found)
    }
}

impl Default for Redactor {
    /// A redactor that knows formats only.
    fn default() -> Self {
        Self::new(std::iter::empty::<&str>())
    }
}
