//! Noting effects: what was found, where, and how much of it is kept.

use std::borrow::Cow;

use super::{NOTED, Walk, shown};
use crate::effect::{Effect, How, Kind, Span, Target};
use crate::place::Place;

/// Most effects kept; one more of the same kind tells nobody anything new.
const MAX_EFFECTS: usize = 200;

impl Walk<'_> {
    /// Notes an effect without targets.
    pub(crate) fn emit(&mut self, kind: Kind, what: impl Into<Cow<'static, str>>, span: Span) {
        self.emit_on(kind, what, span, Vec::new(), How::default());
    }

    /// Notes an effect that belongs on the never list.
    pub(crate) fn emit_grave(&mut self, kind: Kind, what: impl Into<Cow<'static, str>>, span: Span) {
        self.emit_on(kind, what, span, Vec::new(), How { grave: true, ..How::default() });
    }

    /// Notes an effect on things that are not paths.
    pub(crate) fn emit_names(
        &mut self,
        kind: Kind,
        what: impl Into<Cow<'static, str>>,
        span: Span,
        names: &[&str],
    ) {
        let targets = names.iter().map(|name| Target { text: shown(name), place: Place::Name }).collect();
        self.emit_on(kind, what, span, targets, How::default());
    }

    /// Notes that something is set up to run by itself later.
    pub(crate) fn emit_startup(&mut self, what: &'static str, span: Span) {
        let target = Target { text: what.to_owned(), place: Place::Startup };
        self.emit_on(Kind::Write, what, span, vec![target], How::default());
    }

    /// Notes an effect.
    pub(crate) fn emit_on(
        &mut self,
        kind: Kind,
        what: impl Into<Cow<'static, str>>,
        span: Span,
        targets: Vec<Target>,
        how: How,
    ) {
        let span = self.at(span);
        if kind != Kind::Unreadable {
            self.spend(NOTED);
        }
        let mut targets = targets;
        if kind == Kind::Write {
            for target in &mut targets {
                if replaces_program(target) {
                    target.place = Place::System;
                }
            }
        }
        if self.effects.len() >= MAX_EFFECTS {
            // Keep what matters most: a grave effect is never dropped for room.
            if !how.grave && kind == Kind::Write {
                return;
            }
            let same =
                self.effects.iter().any(|effect| effect.kind == kind && (effect.how.grave || !how.grave));
            if same && !targets.iter().any(|target| target.place >= Place::SystemTop) {
                return;
            }
            if self.effects.len() >= 4 * MAX_EFFECTS {
                return;
            }
        }
        self.effects.push(Effect { kind, targets, span, how, what: what.into() });
    }
}

/// Whether a file in a folder of programs takes the place of a program everybody uses.
fn replaces_program(target: &Target) -> bool {
    matches!(target.place, Place::Home | Place::Elsewhere)
        && target.text.rsplit_once('/').is_some_and(|(folder, name)| {
            folder.ends_with("/bin")
                && crate::programs::lookup(name).is_some()
                && !matches!(
                    name,
                    "kubectl"
                        | "helm"
                        | "terraform"
                        | "k9s"
                        | "yq"
                        | "jq"
                        | "deno"
                        | "bun"
                        | "uv"
                        | "gh"
                        | "fd"
                        | "rg"
                        | "bat"
                )
        })
}
