//! The ways models write calls as text, one file each. A file here is a dialect; nothing else lists
//! it.

use hermes_core::model::ModelCall;

use super::spans::{Parsed, Span};

include!(concat!(env!("OUT_DIR"), "/repair.dialects.rs"));

gathered! {
    /// Every dialect, sorted by name.
    pub(super) static DIALECTS: [&Dialect] = DIALECT;
}

/// One way to write calls.
pub(super) struct Dialect {
    name: &'static str,
    /// What a call begins with.
    pub(super) opens: &'static [&'static str],
    /// Where it may begin.
    pub(super) place: Place,
    /// Reads calls from a text that begins with an opening.
    pub(super) parse: fn(&Span<'_>) -> Parsed,
    /// The call that a text which stopped too early had begun.
    pub(super) cut: fn(&Span<'_>) -> Option<ModelCall>,
}

/// Where in a text a call may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Anywhere,
    LineStart,
}

impl Dialect {
    const fn new(
        name: &'static str,
        opens: &'static [&'static str],
        parse: fn(&Span<'_>) -> Parsed,
        cut: fn(&Span<'_>) -> Option<ModelCall>,
    ) -> Self {
        Self { name, opens, place: Place::Anywhere, parse, cut }
    }

    const fn at_line_start(mut self) -> Self {
        self.place = Place::LineStart;
        self
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }
}
