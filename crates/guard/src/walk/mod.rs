//! Walks a shell tree the way a shell would, without running anything.
//!
//! Variables, functions, aliases, files written on the way and outputs that can be computed are
//! followed; what cannot be known is a [`HOLE`]. Programs are met through [`crate::programs`],
//! which state their effects here. All work is paid for in fuel, so that no text costs more than
//! a small multiple of its length.

mod arith;
mod braces;
mod control;
mod expand;
mod flow;
mod params;
mod pattern;
mod redirect;
mod scope;
mod simple;

use std::borrow::Cow;

pub(crate) use flow::{Flow, HOLE, HOLE_STR, OWN_PID, Origin};
pub(crate) use params::secret_name;
pub use pattern::glob_matches;
pub(crate) use scope::{IFS_BEFORE, Scope};
pub(crate) use simple::quote;

use crate::effect::{Effect, How, Kind, Span, Target};
use crate::judge::Context;
use crate::place::{self, Ground, Place};
use crate::shell::{self, Doc};

/// How deep lists, substitutions, wrappers and texts may stand in each other, all together. The
/// stack of a small thread must hold this many levels in an unoptimised build.
const MAX_LEVEL: u16 = 56;
/// Most effects kept; one more of the same kind tells nobody anything new.
const MAX_EFFECTS: usize = 200;

/// The text being walked and its here-documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Src<'a> {
    /// The text.
    pub(crate) text: &'a str,
    /// Its here-documents.
    pub(crate) docs: &'a [Doc<'a>],
}

/// One argument, expanded.
#[derive(Debug, Clone)]
pub(crate) struct Arg<'a> {
    /// Its text, with holes.
    pub(crate) text: Cow<'a, str>,
    /// Where it stands.
    pub(crate) span: Span,
}

impl Arg<'_> {
    /// An argument that borrows from this one.
    pub(crate) fn shared(&self) -> Arg<'_> {
        Arg { text: Cow::Borrowed(&self.text), span: self.span }
    }
}

/// One program about to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    /// Its name, without folder.
    pub(crate) name: &'a str,
    /// Everything after the name.
    pub(crate) args: &'a [Arg<'a>],
    /// The whole command.
    pub(crate) span: Span,
    /// What is on its standard input.
    pub(crate) stdin: &'a Flow,
}

/// The state of one walk.
pub(crate) struct Walk<'c> {
    /// What the caller told us.
    pub(crate) context: &'c Context,
    /// What was found.
    pub(crate) effects: Vec<Effect>,
    /// Programs met, for users' own rules.
    pub(crate) programs: Vec<(String, Span)>,
    /// What is known.
    pub(crate) scope: Scope,
    /// How much more may be read and expanded.
    fuel: usize,
    level: u16,
    outer: Option<Span>,
    calls: Vec<String>,
    /// Whether the command at hand runs beside others of the same text.
    pub(crate) background: bool,
    /// Set inside `sudo` and the like.
    pub(crate) elevated: bool,
    /// Where the unknown parts of the words expanded last came from.
    pub(crate) last_unknown: Origin,
    /// The variable the program name was taken from, if it was one.
    pub(crate) head: Option<String>,
    /// Texts that run when the shell ends: traps.
    pub(crate) deferred: Vec<(String, Span)>,
    /// Programs met lately and who knows them.
    pub(crate) handlers: Vec<(String, Option<crate::programs::Handler>)>,
    serial: u32,
}

impl<'c> Walk<'c> {
    /// Ready to walk a text of `length` bytes.
    pub(crate) fn new(context: &'c Context, length: usize) -> Self {
        let scope = Scope::at(&context.cwd);
        Self {
            context,
            effects: Vec::new(),
            programs: Vec::new(),
            scope,
            fuel: 160 * 1024 + 2 * length,
            level: 0,
            outer: None,
            calls: Vec::new(),
            background: false,
            elevated: false,
            last_unknown: Origin::default(),
            head: None,
            deferred: Vec::new(),
            handlers: Vec::new(),
            serial: 0,
        }
    }

    /// Walks the outermost text.
    pub(crate) fn whole(&mut self, text: &str) {
        let script = shell::parse(text);
        self.note_faults(script.faults, Span::new(0, text.len()));
        let src = Src { text, docs: &script.docs };
        let out = self.list(src, &script.list, &Flow::none());
        for _ in 0..64 {
            // A trap may set another.
            let Some((code, span)) = self.deferred.pop() else { break };
            self.run_text(&code, &Flow::none(), span);
        }
        if out.origin.secret {
            self.emit(Kind::ReadCredential, "prints a secret from the environment", Span::new(0, text.len()));
        }
        if script.faults.broken && !script.faults.too_deep {
            self.broken(text);
        }
    }

    /// A text with an open quote or a lost keyword: a shell refuses it, but another reader may
    /// not. Its words are looked at once more with the quotes taken out.
    fn broken(&mut self, text: &str) {
        if !self.spend(text.len()) {
            return;
        }
        let bare: String = text
            .chars()
            .map(|c| if matches!(c, '\'' | '"' | '`' | '(' | ')' | '{' | '}') { ' ' } else { c })
            .collect();
        let script = shell::parse(&bare);
        let src = Src { text: &bare, docs: &script.docs };
        let before = self.effects.len();
        let saved = self.outer;
        self.outer = saved.or(Some(Span::new(0, text.len())));
        self.list(src, &script.list, &Flow::none());
        self.outer = saved;
        for effect in self.effects.iter_mut().skip(before) {
            effect.how.grave = false;
        }
    }

    fn note_faults(&mut self, faults: shell::Faults, span: Span) {
        if faults.too_deep {
            self.emit(Kind::Unreadable, "nested too deeply", span);
        }
    }

    /// Walks a text that another command runs; its effects carry `span`.
    pub(crate) fn run_text(&mut self, text: &str, stdin: &Flow, span: Span) -> Flow {
        if !self.spend(text.len() + 16) {
            return Flow::none();
        }
        let outer = self.outer.or(Some(span));
        let saved = std::mem::replace(&mut self.outer, outer);
        let script = shell::parse(text);
        self.note_faults(script.faults, span);
        let src = Src { text, docs: &script.docs };
        let out = self.list(src, &script.list, stdin);
        if script.faults.broken && !script.faults.too_deep {
            self.broken(text);
        }
        self.outer = saved;
        out
    }

    /// Goes one level down, or notes that this is too deep. Every `true` is paired with
    /// [`Walk::up`].
    pub(crate) fn down(&mut self, span: Span) -> bool {
        if self.level >= MAX_LEVEL {
            self.emit(Kind::Unreadable, "nested too deeply", span);
            return false;
        }
        self.level += 1;
        true
    }

    /// Comes back from [`Walk::down`].
    pub(crate) fn up(&mut self) {
        self.level -= 1;
    }

    /// Pays for `amount` of work; false when nothing is left, which is itself an effect.
    pub(crate) fn spend(&mut self, amount: usize) -> bool {
        if self.fuel == 0 {
            return false;
        }
        self.fuel = self.fuel.saturating_sub(amount);
        if self.fuel == 0 {
            self.emit(Kind::Unreadable, "too much to follow", Span::default());
            return false;
        }
        true
    }

    /// The place in the outermost text that a span belongs to.
    fn at(&self, span: Span) -> Span {
        self.outer.unwrap_or(span)
    }

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

    /// Where paths are judged from at this point.
    pub(crate) fn ground(&self) -> Ground<'_> {
        Ground { cwd: &self.scope.cwd, home: &self.context.home, workspace: &self.context.workspace }
    }

    /// A path as a target: normal form and kind of place.
    pub(crate) fn target(&self, path: &str) -> Target {
        self.target_at(place::normal(path, self.ground()), path)
    }

    /// The same for a path whose normal form is known.
    pub(crate) fn target_at(&self, normal: String, path: &str) -> Target {
        let ground = self.ground();
        let mut text = normal;
        for (from, to) in self.scope.links.iter().take(32) {
            if place::within(&text, from) && (text.len() > from.len() || !path.ends_with('/')) {
                let rest = text.get(from.len()..).unwrap_or_default();
                text = if to == "/" && !rest.is_empty() { rest.to_owned() } else { format!("{to}{rest}") };
            }
        }
        let mut place = place::place(&text, ground);
        if matches!(place, Place::Workspace | Place::Elsewhere | Place::Home | Place::ProjectEnv)
            && self.scope.made_here(&text)
        {
            place = Place::Made;
        }
        Target { text: shown_owned(text), place }
    }

    /// The path in normal form, holes kept.
    pub(crate) fn path(&self, path: &str) -> String {
        place::normal(path, self.ground())
    }

    /// A fresh number, for names of process substitutions.
    fn next_serial(&mut self) -> u32 {
        self.serial += 1;
        self.serial
    }

    /// Remembers that the text made this folder or file itself.
    pub(crate) fn made(&mut self, path: &str) {
        let path = self.path(path);
        self.scope.made.insert(path);
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

/// A name as people should see it: holes as dots.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(512));
    for letter in text.chars().take(512) {
        match letter {
            HOLE => out.push('…'),
            OWN_PID => out.push_str("$!"),
            other => out.push(other),
        }
    }
    out
}

fn shown_owned(text: String) -> String {
    if text.len() <= 512 && !text.contains([HOLE, OWN_PID]) { text } else { shown(&text) }
}
