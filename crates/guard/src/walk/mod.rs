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
mod loops;
mod note;
mod params;
mod pattern;
mod redirect;
mod scope;
mod script;
mod simple;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

pub(crate) use flow::{AGENT_PID, ALL_PIDS, Flow, HOLE, HOLE_STR, OWN_PID, Origin};
pub(crate) use params::secret_name;
pub use pattern::glob_matches;
pub(crate) use scope::{IFS_BEFORE, Scope, user};
pub(crate) use simple::quote;

use crate::effect::{Effect, Kind, Span, Target};
use crate::judge::Context;
use crate::place::{self, Ground, Place};
use crate::shell::Doc;

/// How deep lists, substitutions, wrappers and texts may stand in each other, all together. The
/// stack of a small thread must hold this many levels in an unoptimised build.
const MAX_LEVEL: u16 = 56;

/// Most files written by the text whose contents are kept.
const MOST_FILES: usize = 256;

/// What work costs, in steps of about ten nanoseconds: reading a command,
const READ: usize = 8;
/// walking it after that,
const WALKED: usize = 10;
/// both together,
const COMMAND: usize = READ + WALKED;
/// a compound command besides what is in it,
const COMPOUND: usize = 18;
/// an argument,
const ARGUMENT: usize = 2;
/// an assignment,
const ASSIGNED: usize = 7;
/// finding out what kind of place a path is,
const PLACED: usize = 28;
/// and noting an effect.
const NOTED: usize = 24;

/// How many steps any text may take.
const FUEL: usize = 215_000;

/// How many bytes of a text buy one more step each. Longer texts get no more: what they may cost
/// is a matter of time, and a line this long is hardly ever commands all through.
const LENGTH_PAYS: usize = 30_000;

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
#[expect(clippy::struct_excessive_bools, reason = "each is one thing known at this point of the text")]
pub(crate) struct Walk<'c> {
    /// What the caller told us.
    pub(crate) context: &'c Context,
    /// Whether the folder the work is about is one that work may be about.
    counts: bool,
    /// What was found.
    pub(crate) effects: Vec<Effect>,
    /// Programs met lately, for users' own rules.
    pub(crate) programs: Vec<(String, Span)>,
    /// Programs met before those, each once.
    filed: BTreeMap<String, Span>,
    /// What is known.
    pub(crate) scope: Scope,
    /// How many more steps may be taken.
    fuel: usize,
    /// How many were taken, also past the end of the fuel.
    steps: usize,
    /// Steps taken while nothing could be changed; paid for by the next payment.
    owed: Cell<usize>,
    level: u16,
    outer: Option<Span>,
    calls: Vec<String>,
    /// Whether the command at hand runs beside others of the same text.
    pub(crate) background: bool,
    /// Set inside `sudo` and the like.
    pub(crate) elevated: bool,
    /// Set while a program runs on all that was found in a folder.
    pub(crate) found: bool,
    /// Where the unknown parts of the words expanded last came from.
    pub(crate) last_unknown: Origin,
    /// Where the unknown parts of the text at hand came from, when it was put together elsewhere.
    pub(crate) given: Origin,
    /// The variable the program name was taken from, if it was one.
    pub(crate) head: Option<String>,
    /// Texts that run when the shell ends: traps.
    pub(crate) deferred: Vec<(String, Span)>,
    /// Whether a text asks for the last word of the command before.
    wants_last: bool,
    /// Programs met lately and what their names say.
    pub(crate) met: Vec<(String, crate::programs::Met)>,
    serial: u32,
}

impl<'c> Walk<'c> {
    /// Ready to walk this text.
    pub(crate) fn new(context: &'c Context, text: &str) -> Self {
        let mut scope = Scope::at(&context.cwd);
        if let Some(agent) = context.agent.first() {
            scope.set("HERMES_HOME", agent);
        }
        Self {
            context,
            counts: place::is_workspace(&context.workspace, &context.home),
            effects: Vec::new(),
            programs: Vec::new(),
            filed: BTreeMap::new(),
            scope,
            fuel: FUEL + text.len().min(LENGTH_PAYS),
            steps: 0,
            owed: Cell::new(0),
            level: 0,
            outer: None,
            calls: Vec::new(),
            background: false,
            elevated: false,
            found: false,
            last_unknown: Origin::default(),
            given: Origin::default(),
            head: None,
            deferred: Vec::new(),
            wants_last: false,
            met: Vec::new(),
            serial: 0,
        }
    }

    /// Makes room for more programs; each is remembered where it stood first.
    fn file_programs(&mut self) {
        for (name, span) in self.programs.drain(..) {
            self.filed.entry(name).or_insert(span);
        }
    }

    /// Every program met, once each, in the order of the text.
    pub(crate) fn take_programs(&mut self) -> Vec<(String, Span)> {
        if self.filed.is_empty() {
            return std::mem::take(&mut self.programs);
        }
        self.file_programs();
        let mut programs: Vec<_> = std::mem::take(&mut self.filed).into_iter().collect();
        programs.sort_by_key(|(_, span)| span.start);
        programs
    }

    /// Goes one level down, or notes that this is too deep. Every `true` is paired with
    /// [`Walk::up`].
    pub(crate) fn down(&mut self, span: Span) -> bool {
        if self.fuel == 0 {
            return false;
        }
        if self.level >= MAX_LEVEL {
            if self.scope.starts_itself() {
                self.emit_grave(Kind::ForkBomb, "a text that starts itself again and again", span);
            }
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
        let amount = amount + self.owed.take();
        self.steps += amount;
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

    /// Whether a function, alias or script by that name is being walked.
    pub(crate) fn running(&self, name: &str) -> bool {
        self.calls.iter().any(|active| active == name)
    }

    /// Remembers that a script is being walked.
    pub(crate) fn enter(&mut self, name: String) {
        self.calls.push(name);
    }

    /// Comes back from [`Walk::enter`].
    pub(crate) fn leave(&mut self) {
        self.calls.pop();
    }

    /// Steps taken, steps left.
    pub(crate) const fn account(&self) -> (usize, usize) {
        (self.steps, self.fuel)
    }

    /// Gives this walk no more than `fuel` steps.
    pub(crate) fn limit(&mut self, fuel: usize) {
        self.fuel = self.fuel.min(fuel);
    }

    /// The place in the outermost text that a span belongs to.
    fn at(&self, span: Span) -> Span {
        self.outer.unwrap_or(span)
    }

    /// Where paths are judged from at this point.
    pub(crate) fn ground(&self) -> Ground<'_> {
        Ground {
            cwd: &self.scope.cwd,
            home: &self.context.home,
            agent: &self.context.agent,
            skills: &self.context.skills,
            workspace: &self.context.workspace,
            counts: self.counts,
        }
    }

    /// A path as a target: normal form and kind of place.
    pub(crate) fn target(&self, path: &str) -> Target {
        self.target_at(place::normal(path, self.ground()), path)
    }

    /// The same for a path whose normal form is known.
    pub(crate) fn target_at(&self, normal: String, path: &str) -> Target {
        // Hidden files and settings of the system are looked up in longer lists.
        let listed = if normal.contains("/.") || normal.starts_with("/etc/") { PLACED } else { 0 };
        self.owed.set(self.owed.get() + PLACED + listed + normal.len() / 4);
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

/// A name as people should see it: holes as dots.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(512));
    for letter in text.chars().take(512) {
        match letter {
            HOLE => out.push('…'),
            OWN_PID => out.push_str("$!"),
            ALL_PIDS | AGENT_PID => {}
            other => out.push(other),
        }
    }
    out
}

fn shown_owned(text: String) -> String {
    if text.len() <= 512 && !text.contains([HOLE, OWN_PID, ALL_PIDS, AGENT_PID]) {
        text
    } else {
        shown(&text)
    }
}
