//! Plugins that are switched on: each in a process and a scope of its own.
//!
//! A look compares dates and settings. A plugin that changed is loaded anew and its scope swapped whole;
//! the others are not touched. One that fails to load leaves nothing behind, but for one with a say in
//! what may run: then nothing runs.

mod choose;
mod load;
mod views;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_core::registry::Source;
use hermes_core::session::Place;
use hermes_extend::hooks::Observers;
use hermes_extend::plugins::desk::Desk;
use hermes_extend::plugins::hook::{self, Around};
use hermes_extend::plugins::manifest::{Manifest, PluginKind};
use hermes_extend::plugins::offer::Offer;
use hermes_extend::plugins::subject::Subject;
use hermes_extend::worker::Doors;
use hermes_store::{Home, Trust, foreign};
use serde_json::Value;

use super::asking::{Asking, Thing, Unheard};
use super::find_plugins::{Found, Manifests, Origin};
use super::tool_files::SAFE_MODE;
use super::{Changes, Kind};
use crate::world::World;
use choose::Wanted;
use load::{Fresh, needs, values};

pub use views::{PluginState, PluginView};

/// How many plugins are asked at once; each has a process.
const AT_ONCE: usize = 8;

/// Where what was learnt is kept.
const KEPT: &str = "plugins.jsonl";

/// All plugins.
pub(crate) struct Plugins {
    home: Home,
    project: PathBuf,
    doors: Doors,
    desk: Arc<Desk>,
    around: Around,
    asking: Asking,
    state: Mutex<State>,
    known: Mutex<Known>,
}

/// What was read before, with the dates it was read at.
#[derive(Default)]
struct Known {
    manifests: Manifests,
    stamps: BTreeMap<PathBuf, (Vec<Option<foreign::Stamp>>, String)>,
    digests: BTreeMap<PathBuf, (String, String)>,
    /// Whether Python was asked where packages are.
    asked_python: bool,
}

#[derive(Default)]
struct State {
    /// What the last look was made of.
    last: Option<Seen>,
    running: Vec<Running>,
    /// Those that did not say what they offer.
    unheard: Vec<(Fresh, Unheard)>,
    /// Those that cannot even be asked, and why.
    failed: Vec<(String, Origin, String)>,
    packages: Option<Vec<Found>>,
    /// What the configuration says, and the revision of the world that it was read at.
    wanted: Option<(u64, Arc<Wanted>)>,
}

impl State {
    /// What the configuration says. Asked for at every look, and read when it changed.
    fn wanted(&mut self, world: &World) -> Arc<Wanted> {
        match &self.wanted {
            Some((revision, wanted)) if *revision == world.revision() => Arc::clone(wanted),
            _ => {
                let wanted = Arc::new(Wanted::of(world));
                self.wanted = Some((world.revision(), Arc::clone(&wanted)));
                wanted
            }
        }
    }
}

/// What a look depends on.
#[derive(PartialEq, Clone)]
struct Seen {
    plugins: Vec<(String, Origin, String)>,
    overrides: Option<Value>,
    trust: Option<foreign::Stamp>,
    values: Vec<(String, Option<String>)>,
    heard: u64,
}

/// A plugin that is switched on and was loaded.
pub(crate) struct Running {
    pub(crate) key: String,
    pub(crate) origin: Origin,
    pub(crate) manifest: Manifest,
    pub(crate) subject: Arc<Subject>,
    pub(crate) offer: Offer,
    identity: String,
    variables: Vec<(String, String)>,
    overrides: bool,
}

impl Plugins {
    /// Those of this home and of the project that `place` is in. Nothing is looked at yet.
    pub(crate) fn new(
        home: Home,
        place: &Place,
        doors: Doors,
        desk: Arc<Desk>,
        observers: &Observers,
    ) -> Self {
        let project = place.cwd.join(".hermes/plugins");
        let around = Around { crew: Arc::default(), doors: doors.clone(), observers: observers.clone() };
        let asking = Asking::new(home.clone(), KEPT, doors.clone(), AT_ONCE);
        let (state, known) = (Mutex::default(), Mutex::default());
        Self { home, project, doors, desk, around, asking, state, known }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kind for Plugins {
    fn look(&self, world: &World) -> Changes {
        let mut state = self.lock();
        let safe = world.variable(SAFE_MODE).is_some_and(|value| !matches!(value, "" | "0" | "false"));
        let wanted = if safe { Arc::default() } else { state.wanted(world) };
        let nothing = state.running.is_empty() && state.failed.is_empty() && state.unheard.is_empty();
        if wanted.enabled.is_empty() && nothing {
            return Changes::default();
        }
        let project = foreign::is_folder(&self.project);
        let trust = if project { Trust::read(&self.home).unwrap_or_default() } else { Trust::default() };
        let chosen = self.chosen(&wanted, &trust, &mut state.packages);
        let heard = self.asking.heard();
        if state.last.as_ref() == Some(&self.seen(&chosen, &state.running, heard, world)) {
            return Changes::default();
        }
        let changes = self.change(&mut state, &chosen, world);
        // What was loaded now may need variables that nobody knew of before.
        state.last = Some(self.seen(&chosen, &state.running, heard, world));
        changes
    }
}

impl Plugins {
    fn seen(&self, chosen: &[(Found, String)], running: &[Running], heard: u64, world: &World) -> Seen {
        let plugins = chosen.iter().map(|(it, identity)| (it.key.clone(), it.origin, identity.clone()));
        let names = chosen.iter().flat_map(|(found, _)| needs(found, running));
        let value = |name: String| {
            let value = world.variable(&name).map(str::to_owned);
            (name, value)
        };
        Seen {
            plugins: plugins.collect(),
            overrides: world.config("plugins.entries"),
            trust: Trust::stamp(&self.home),
            values: names.map(value).collect(),
            heard,
        }
    }

    fn change(&self, state: &mut State, chosen: &[(Found, String)], world: &World) -> Changes {
        let State { running, unheard, failed, .. } = state;
        let mut changes = Changes::default();
        let (mut before, mut kept, mut fresh) = (std::mem::take(running), Vec::new(), Vec::new());
        let shut = std::mem::take(unheard).into_iter().filter(|(it, _)| it.manifest.policy);
        let shut: Vec<String> = shut.map(|(it, _)| it.found.key).collect();
        failed.clear();
        for (found, identity) in chosen {
            match asked(found, identity, &before, world) {
                Err(why) => failed.push((found.key.clone(), found.origin, why)),
                Ok(asked) => match before.iter().position(|it| asked.is(it)) {
                    Some(at) => kept.push(before.swap_remove(at)),
                    None => fresh.push(asked),
                },
            }
        }
        let new: Vec<Thing> = fresh.iter().filter(|it| self.is_new(it)).map(|it| self.thing(it)).collect();
        if !new.is_empty() {
            changes.pending.push(self.asking.ask(new));
        }
        for it in fresh {
            match self.asking.standing(&it.identity).unwrap_or(Err(Unheard::Late)) {
                Ok(offer) => {
                    let loaded = self.loaded(it, offer, world);
                    changes.installed.push(self.scope(&loaded));
                    kept.push(loaded);
                }
                Err(why) => {
                    changes.installed.extend(self.shut(&it, &why));
                    unheard.push((it, why));
                }
            }
        }
        let stays = |key: &str| {
            let shut = |(it, _): &(Fresh, Unheard)| it.found.key == key && it.manifest.policy;
            kept.iter().any(|it| it.key == key) || unheard.iter().any(shut)
        };
        let gone = before.into_iter().map(|it| it.key).chain(shut).filter(|key| !stays(key));
        changes.removed.extend(gone.map(Source::Plugin));
        let mut problems: Vec<String> = kept.iter().flat_map(notes).collect();
        problems
            .extend(unheard.iter().map(|(it, why)| format!("plugin {}: {}", it.found.key, told(it, why))));
        problems.extend(failed.iter().map(|(key, _, why)| format!("plugin {key}: {why}")));
        *running = kept;
        changes.problems = Some(problems);
        changes
    }
}

/// Why a plugin could not be heard, and what can be done.
fn told(fresh: &Fresh, why: &Unheard) -> String {
    match why {
        Unheard::Failed(why) => why.clone(),
        _ => format!("{}; `hermes plugins enable {}` waits for it", why.words(), fresh.found.key),
    }
}

/// What is to run for a plugin that is switched on, or why it cannot.
fn asked(found: &Found, identity: &str, before: &[Running], world: &World) -> Result<Fresh, String> {
    let manifest = found.manifest.clone()?;
    if let PluginKind::Other(kind) = &manifest.kind {
        return Err(format!("plugins of kind `{kind}` are not run"));
    }
    let overrides = world
        .config("plugins.entries")
        .and_then(|entries| entries.get(&found.key)?.get("allow_tool_override")?.as_bool())
        .unwrap_or_default();
    Ok(Fresh {
        variables: values(&needs(found, before), world),
        found: found.clone(),
        manifest,
        identity: identity.to_owned(),
        overrides,
    })
}

impl Fresh {
    /// Whether it is what runs already.
    fn is(&self, running: &Running) -> bool {
        running.key == self.found.key
            && running.origin == self.found.origin
            && running.identity == self.identity
            && running.variables == self.variables
            && running.overrides == self.overrides
    }
}

/// What a plugin asked for and does not get, and what is odd about it.
fn notes(running: &Running) -> Vec<String> {
    let Running { key, manifest, offer, .. } = running;
    let unheard = offer.hooks.iter().filter(|event| hook::event(event).is_none());
    let unheard = unheard.map(|event| format!("the event `{event}` is not raised"));
    let all = unheard.chain(offer.notes.iter().cloned()).chain(manifest.odd.iter().cloned());
    all.map(|note| format!("plugin {key}: {note}")).collect()
}
