//! The policy of the program: the guard's judgement on commands and paths, the user's settings,
//! and what was granted.
//!
//! The guard is pure and knows nothing of sessions; here its answers meet them. Grants are kept
//! per session and end with the process; only "always" is written down, in `config.yaml`.

mod commands;
mod elsewhere;
mod fenced;
mod paths;
mod settings;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hermes_core::effect::{ActKind, Effect};
use hermes_core::environment::Standing;
use hermes_core::policy::{Grant, Policy, PolicyRequest, Reason, Verdict};
use hermes_core::session::Session;
use hermes_guard::{Context, Decision, Grants, Judgement, Mode};
use hermes_store::config::KeyPath;
use hermes_store::{ConfigFile, Home};

pub(crate) use fenced::Fenced;
pub use settings::{PolicyError, PolicySettings};

/// Where `always` is written.
const ALLOWLIST: &str = "command_allowlist";

/// Judges calls by the guard's rules, the user's, and what was granted.
pub struct GuardPolicy {
    settings: PolicySettings,
    home: Option<Home>,
    /// The names of the home's folder, looked up when a command is first judged.
    names: OnceLock<Vec<PathBuf>>,
    /// What every command of this machine runs behind.
    fence: Option<Fenced>,
    /// What the places are to the user, by name.
    standings: BTreeMap<String, Standing>,
    /// Folders with skills beside the home's own.
    skills: Vec<PathBuf>,
    /// Per session, because a grant ends with it.
    grants: Mutex<HashMap<String, SessionGrants>>,
    /// Whether somebody wants nothing to be asked for now.
    unasked: AtomicBool,
}

/// In the extensions of a session: what was granted to that other session holds here too.
pub(crate) struct GrantsOf(pub(crate) String);

/// What becomes of a command, and why.
#[derive(Debug, Clone)]
pub struct Explained {
    /// What the command would do, and what is said about it.
    pub judgement: Judgement,
    /// What follows from that.
    pub decision: Decision,
    /// How questions are handled.
    pub mode: Mode,
    /// For each finding of the judgement, whether it needs no question because the fence makes it
    /// impossible.
    pub impossible: Vec<bool>,
}

/// What somebody has agreed to in one session.
#[derive(Debug, Clone, Default)]
struct SessionGrants {
    commands: Grants,
    /// Paths, and classes of paths, that may be written.
    paths: paths::PathGrants,
    /// Whole kinds of other effects, each of one tool.
    kinds: Vec<Class>,
}

/// A kind of effect of one tool: what a yes to the class covers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Class {
    tool: String,
    kind: &'static str,
    act: Option<ActKind>,
}

impl Class {
    fn of(effect: &Effect, tool: &str) -> Self {
        let act = if let Effect::Act(act) = effect { Some(act.kind) } else { None };
        Self { tool: tool.to_owned(), kind: kind(effect), act }
    }
}

impl GuardPolicy {
    /// A policy with these settings; without a home nothing can be granted for good.
    pub fn new(settings: PolicySettings, home: Option<Home>) -> Self {
        let (grants, unasked) = (Mutex::default(), AtomicBool::new(false));
        let (standings, skills) = (BTreeMap::new(), Vec::new());
        let names = OnceLock::new();
        Self { settings, home, names, fence: None, standings, skills, grants, unasked }
    }

    /// The same where there are skills in these folders too.
    pub(crate) fn skills(mut self, folders: Vec<PathBuf>) -> Self {
        self.skills = folders;
        self
    }

    /// The same where these places are what they are to the user.
    pub(crate) fn places(mut self, standings: BTreeMap<String, Standing>) -> Self {
        self.standings = standings;
        self
    }

    /// What a place is to the user; one that is not known is asked about like any other.
    fn standing(&self, environment: &str) -> Standing {
        self.standings.get(environment).copied().unwrap_or_default()
    }

    /// The same for commands that run behind this fence: what it makes impossible is not asked about.
    pub(crate) fn behind(mut self, fence: Option<Fenced>) -> Self {
        self.fence = fence;
        self
    }

    /// From now on nothing is asked, or asked again as the settings say; what is never allowed stays so.
    pub(crate) fn run_unasked(&self, on: bool) {
        self.unasked.store(on, Ordering::Relaxed);
    }

    /// How questions are handled now.
    fn mode(&self) -> Mode {
        if self.unasked.load(Ordering::Relaxed) { Mode::Off } else { self.settings.mode }
    }

    /// What becomes of a command that a new session at `cwd` starts. Nobody is asked.
    pub(crate) fn explain(&self, text: &str, cwd: &Path, home: Option<&Path>) -> Explained {
        let home = home.unwrap_or(Path::new("/"));
        commands::explain(self, text, &self.context(cwd, home))
    }

    /// Where a command of this machine is judged from.
    fn context(&self, cwd: &Path, home: &Path) -> Context {
        let names = || self.home.as_ref().map(Home::names_of_root).unwrap_or_default();
        let texts = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
        };
        Context::new(cwd.to_string_lossy(), home.to_string_lossy())
            .agent(texts(self.names.get_or_init(names)))
            .skills(texts(&self.skills))
            .rules(self.settings.rules.clone())
    }

    fn granted_to<R>(&self, session: &str, look: impl FnOnce(&mut SessionGrants) -> R) -> R {
        let mut grants = self.lock();
        let fresh =
            || SessionGrants { commands: self.settings.allowed_for_good(), ..SessionGrants::default() };
        look(grants.entry(session.to_owned()).or_insert_with(fresh))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, SessionGrants>> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn judge_effect(&self, effect: &Effect, request: &PolicyRequest<'_>) -> Verdict {
        match effect {
            Effect::Exec(command) => commands::judge(self, command, request),
            Effect::Read(path) => paths::judge(self, path, hermes_guard::paths::Access::Read, request),
            Effect::Write(path) => paths::judge(self, path, hermes_guard::paths::Access::Write, request),
            Effect::ReadIn(spot) => {
                paths::judge_there(self, spot, hermes_guard::paths::Access::Read, request)
            }
            Effect::WriteIn(spot) => {
                paths::judge_there(self, spot, hermes_guard::paths::Access::Write, request)
            }
            // Who may be reached is decided by the rules for addresses, at the moment of connecting.
            Effect::ReadSlot(_) | Effect::WriteSlot(_) | Effect::Connect(_) => Verdict::Allow,
            other => self.judge_other(other, request),
        }
    }

    /// Effects that no rule looks into: they are asked about as a kind.
    fn judge_other(&self, effect: &Effect, request: &PolicyRequest<'_>) -> Verdict {
        let rule = kind(effect);
        let class = Class::of(effect, request.tool);
        let granted = self.granted_to(holder(request), |grants| grants.kinds.contains(&class));
        let why = match effect {
            // The name of the tool says it already.
            Effect::Foreign(it) => format!("only {} knows what `{}` will do", it.source, it.tool),
            _ => format!("{} {effect}", request.tool),
        };
        let reason = Reason { grants: vec![Grant::Class], ..Reason::new(rule, why) };
        match self.mode() {
            _ if granted => Verdict::Allow,
            Mode::Off => Verdict::Allow,
            Mode::Deny => Verdict::Deny(reason),
            Mode::Manual | Mode::Smart => Verdict::Ask(reason),
        }
    }

    /// Writes what was granted for good where the next start finds it.
    fn keep(&self, entries: &[String]) {
        let Some(home) = &self.home else { return };
        let Some(path) = KeyPath::new([ALLOWLIST]) else { return };
        // A configuration that cannot be written costs the user a question next time, not this call.
        let _ = ConfigFile::update(home, |file| {
            entries.iter().try_for_each(|entry| file.add_to_list(&path, entry).map(drop))
        });
    }
}

/// The session whose grants count.
fn holder<'a>(request: &PolicyRequest<'a>) -> &'a str {
    grants_of(request.session)
}

/// The session whose grants hold in this one.
pub(crate) fn grants_of(session: &Session) -> &str {
    session.extensions().get::<GrantsOf>().map_or_else(|| session.id(), |holder| &holder.0)
}

/// The user's home, which `~` stands for.
fn user_home(request: &PolicyRequest<'_>) -> PathBuf {
    request.session.place().home.clone().unwrap_or_else(|| PathBuf::from("/"))
}

/// The name a kind of effect is asked about and granted under.
fn kind(effect: &Effect) -> &'static str {
    match effect {
        Effect::Act(_) => "act_for_you",
        Effect::Foreign(_) => "foreign_tool",
        _ => "cannot_be_foreseen",
    }
}

impl Policy for GuardPolicy {
    fn judge(&self, request: &PolicyRequest<'_>) -> Verdict {
        let mut worst = Verdict::Allow;
        for effect in request.effects {
            match (self.judge_effect(effect, request), &mut worst) {
                (denied @ Verdict::Deny(_), _) => return denied,
                (Verdict::Ask(reason), Verdict::Ask(known)) => add(known, reason),
                (asked @ Verdict::Ask(_), worst) => *worst = asked,
                (Verdict::Allow, _) => {}
            }
        }
        worst
    }

    fn granted(&self, request: &PolicyRequest<'_>, grant: Grant) {
        for effect in request.effects {
            match effect {
                Effect::Exec(command) => commands::grant(self, command, request, grant),
                Effect::Read(path) | Effect::Write(path) => paths::grant(self, path, request, grant),
                Effect::ReadIn(spot) | Effect::WriteIn(spot) => {
                    paths::grant_there(self, spot, request, grant);
                }
                Effect::ReadSlot(_) | Effect::WriteSlot(_) | Effect::Connect(_) => {}
                other => {
                    let class = Class::of(other, request.tool);
                    self.granted_to(holder(request), |grants| grants.kinds.push(class));
                }
            }
        }
    }
}

/// Two reasons to ask become one question, which may be answered only as far as both allow.
fn add(known: &mut Reason, more: Reason) {
    if !known.why.contains(&more.why) {
        known.why = format!("{}; {}", known.why, more.why);
    }
    known.findings.extend(more.findings);
    known.grants.retain(|grant| more.grants.contains(grant));
}
