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
use std::cell::Cell;
use std::collections::BTreeMap;

pub(crate) use flow::{Flow, HOLE, HOLE_STR, OWN_PID, Origin};
pub(crate) use params::secret_name;
pub use pattern::glob_matches;
pub(crate) use scope::{IFS_BEFORE, Scope};
pub(crate) use simple::quote;

use crate::effect::{Effect, How, Kind, Span, Target};
use crate::judge::Context;
use crate::place::{self, Ground, Place};
use crate::shell::{self, Doc, Faults, Part, Reader};

/// How deep lists, substitutions, wrappers and texts may stand in each other, all together. The
/// stack of a small thread must hold this many levels in an unoptimised build.
const MAX_LEVEL: u16 = 56;
/// Most effects kept; one more of the same kind tells nobody anything new.
const MAX_EFFECTS: usize = 200;

/// Most files written by the text whose contents are kept.
const MOST_FILES: usize = 256;

/// What work costs, in steps of about ten nanoseconds: reading a command,
const READ: usize = 9;
/// walking it after that,
const WALKED: usize = 13;
/// both together,
const COMMAND: usize = READ + WALKED;
/// a compound command besides what is in it,
const COMPOUND: usize = 18;
/// an argument,
const ARGUMENT: usize = 2;
/// an assignment,
const ASSIGNED: usize = 8;
/// finding out what kind of place a path is,
const PLACED: usize = 32;
/// and noting an effect.
const NOTED: usize = 24;

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
pub(crate) struct Walk<'c> {
    /// What the caller told us.
    pub(crate) context: &'c Context,
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
    /// Where the unknown parts of the words expanded last came from.
    pub(crate) last_unknown: Origin,
    /// The variable the program name was taken from, if it was one.
    pub(crate) head: Option<String>,
    /// Texts that run when the shell ends: traps.
    pub(crate) deferred: Vec<(String, Span)>,
    /// Programs met lately and what their names say.
    pub(crate) met: Vec<(String, crate::programs::Met)>,
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
            filed: BTreeMap::new(),
            scope,
            fuel: 260_000 + length.min(LENGTH_PAYS),
            steps: 0,
            owed: Cell::new(0),
            level: 0,
            outer: None,
            calls: Vec::new(),
            background: false,
            elevated: false,
            last_unknown: Origin::default(),
            head: None,
            deferred: Vec::new(),
            met: Vec::new(),
            serial: 0,
        }
    }

    /// Walks the outermost text.
    pub(crate) fn whole(&mut self, text: &str) {
        let (origin, faults) = self.script(text, &Flow::none(), Span::new(0, text.len()), None);
        self.run_deferred();
        if origin.secret {
            self.emit(Kind::ReadCredential, "prints a secret from the environment", Span::new(0, text.len()));
        }
        if faults.too_deep {
            self.flattened(text);
        } else if faults.broken {
            self.broken(text);
        }
    }

    /// A text nested deeper than can be followed is looked at once more without the nesting. With
    /// quotes in it that reading may be wrong, so nothing of it is certain then.
    fn flattened(&mut self, text: &str) {
        if text.contains(['\'', '"', '`', '\\', '#']) {
            self.broken(text);
            return;
        }
        if self.spend(2 * text.len()) {
            let flat: String =
                text.chars().map(|c| if matches!(c, '(' | ')' | '{' | '}') { ' ' } else { c }).collect();
            self.script(&flat, &Flow::none(), Span::new(0, text.len()), None);
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

    /// Runs what waits for the end of the shell; a trap may set another.
    fn run_deferred(&mut self) {
        while let Some((code, span)) = self.deferred.pop() {
            self.run_text(&code, &Flow::none(), span);
        }
    }

    /// Reads and walks a text command by command. What they print is added to `out`; where that
    /// comes from is answered in any case.
    fn script(
        &mut self,
        text: &str,
        stdin: &Flow,
        span: Span,
        mut out: Option<&mut Flow>,
    ) -> (Origin, Faults) {
        let mut origin = Origin::default();
        let mut reader = Reader::new(text, self.fuel / COMMAND);
        let mut items = Vec::new();
        let mut noted = Faults::default();
        let mut entered = false;
        let (mut left, mut ahead) = (reader.commands_left(), 0);
        while reader.next(&mut items) {
            self.note_faults(reader.faults(), &mut noted, span);
            self.spend(READ * (left - reader.commands_left()) + (reader.looked_ahead() - ahead) / 8);
            (left, ahead) = (reader.commands_left(), reader.looked_ahead());
            if !entered && !self.down(Span::default()) {
                break;
            }
            entered = true;
            let src = Src { text, docs: reader.docs() };
            for item in &items {
                let flow = self.item(src, item, stdin);
                origin = origin.and(flow.origin);
                if let Some(out) = &mut out {
                    control::join(out, flow);
                }
            }
            if self.fuel == 0 {
                break;
            }
        }
        self.note_faults(reader.faults(), &mut noted, span);
        if entered {
            self.up();
        }
        (origin, reader.faults())
    }

    /// A text with an open quote or a lost keyword: a shell refuses it, but another reader may
    /// not. Its words are looked at once more with the quotes taken out.
    fn broken(&mut self, text: &str) {
        if !self.spend(2 * text.len()) {
            return;
        }
        let bare: String = text
            .chars()
            .map(|c| if matches!(c, '\'' | '"' | '`' | '(' | ')' | '{' | '}') { ' ' } else { c })
            .collect();
        let before = self.effects.len();
        let span = Span::new(0, text.len());
        let saved = self.outer;
        self.outer = saved.or(Some(span));
        self.script(&bare, &Flow::none(), span, None);
        self.outer = saved;
        for effect in self.effects.iter_mut().skip(before) {
            effect.how.grave = false;
        }
    }

    /// Says what could not be read, once each.
    fn note_faults(&mut self, faults: Faults, noted: &mut Faults, span: Span) {
        if faults.too_deep && !noted.too_deep {
            self.emit(Kind::Unreadable, "nested too deeply", span);
        }
        if faults.too_long && !noted.too_long {
            self.emit(Kind::Unreadable, "more commands than anybody can look through", span);
        }
        *noted = faults;
    }

    /// The parts of a text that expands as inside double quotes.
    fn live_parts<'t>(&mut self, text: &'t str) -> Vec<Part<'t>> {
        let (parts, faults) = shell::double_quoted(text);
        self.note_faults(faults, &mut Faults::default(), Span::default());
        parts
    }

    /// Walks a text that another command runs; its effects carry `span`.
    pub(crate) fn run_text(&mut self, text: &str, stdin: &Flow, span: Span) -> Flow {
        if !self.spend(text.len() + 4 * WALKED) {
            return Flow::none();
        }
        let outer = self.outer.or(Some(span));
        let saved = std::mem::replace(&mut self.outer, outer);
        let mut out = Flow::none();
        let (_, faults) = self.script(text, stdin, span, Some(&mut out));
        if faults.broken && !faults.too_deep {
            self.broken(text);
        }
        self.outer = saved;
        out
    }

    /// Goes one level down, or notes that this is too deep. Every `true` is paired with
    /// [`Walk::up`].
    pub(crate) fn down(&mut self, span: Span) -> bool {
        if self.fuel == 0 {
            return false;
        }
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
        self.owed.set(self.owed.get() + PLACED + normal.len() / 4);
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
