//! Plugins that are switched on: each in a process and a scope of its own.
//!
//! A look compares dates and settings. A plugin that changed is loaded anew and its scope swapped whole;
//! the others are not touched. One that fails to load leaves nothing behind.

mod choose;
mod load;
mod views;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hermes_core::registry::Source;
use hermes_core::session::Place;
use hermes_extend::hooks::Observers;
use hermes_extend::plugins::desk::Desk;
use hermes_extend::plugins::hook::{self, Around};
use hermes_extend::plugins::manifest::{Manifest, PluginKind};
use hermes_extend::plugins::offer::Offer;
use hermes_extend::plugins::start::plugin;
use hermes_extend::plugins::subject::Subject;
use hermes_extend::worker::Doors;
use hermes_store::{Home, Trust, foreign};
use serde_json::Value;

use super::find_plugins::{Found, Manifests, Origin};
use super::learnt::Learnt;
use super::tool_files::SAFE_MODE;
use super::{Changes, Kind};
use crate::world::World;
use choose::Wanted;
use load::{Fresh, needs, values};

pub use views::{PluginState, PluginView};

/// How long plugins that nobody has heard of before may take to say what they offer.
const FIRST: Duration = Duration::from_secs(30);

/// Where what was learnt is kept.
const KEPT: &str = "plugins.json";

/// All plugins.
pub(crate) struct Plugins {
    home: Home,
    project: PathBuf,
    doors: Doors,
    desk: Arc<Desk>,
    around: Around,
    state: Mutex<State>,
    known: Mutex<Known>,
}

/// What was read before, with the dates it was read at.
#[derive(Default)]
struct Known {
    manifests: Manifests,
    stamps: BTreeMap<PathBuf, (Vec<Option<foreign::Stamp>>, String)>,
    digests: BTreeMap<PathBuf, (String, String)>,
}

#[derive(Default)]
struct State {
    learnt: Option<Learnt>,
    /// What the last look was made of.
    last: Option<Seen>,
    running: Vec<Running>,
    failed: Vec<(String, Origin, String)>,
    packages: Option<Vec<Found>>,
}

/// What a look depends on.
#[derive(PartialEq, Clone)]
struct Seen {
    plugins: Vec<(String, Origin, String)>,
    overrides: Option<Value>,
    trust: Option<foreign::Stamp>,
    values: Vec<(String, Option<String>)>,
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
        Self { home, project, doors, desk, around, state: Mutex::default(), known: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kind for Plugins {
    fn look(&self, world: &World) -> Changes {
        let mut state = self.lock();
        let safe = world.variable(SAFE_MODE).is_some_and(|value| !matches!(value, "" | "0" | "false"));
        let wanted = if safe { Wanted::default() } else { Wanted::of(world) };
        if wanted.enabled.is_empty() && state.running.is_empty() && state.failed.is_empty() {
            return Changes::default();
        }
        let project = foreign::is_folder(&self.project);
        let trust = if project { Trust::read(&self.home).unwrap_or_default() } else { Trust::default() };
        let chosen = self.chosen(&wanted, &trust, &mut state.packages);
        if state.last.as_ref() == Some(&self.seen(&chosen, &state.running, world)) {
            return Changes::default();
        }
        let changes = self.change(&mut state, &chosen, world);
        // What was loaded now may need variables that nobody knew of before.
        state.last = Some(self.seen(&chosen, &state.running, world));
        changes
    }
}

impl Plugins {
    fn seen(&self, chosen: &[(Found, String)], running: &[Running], world: &World) -> Seen {
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
        }
    }

    fn change(&self, state: &mut State, chosen: &[(Found, String)], world: &World) -> Changes {
        let State { learnt, running, failed, .. } = state;
        let mut changes = Changes::default();
        let (mut before, mut kept, mut fresh) = (std::mem::take(running), Vec::new(), Vec::new());
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
        let start = |it: &Fresh| {
            let made = self.made(&it.found, &it.manifest, &it.identity, it.variables.clone());
            (it.identity.clone(), plugin(&made, &self.doors, &self.desk))
        };
        let started: Vec<_> = fresh.iter().map(start).collect();
        let learnt = learnt.get_or_insert_with(|| Learnt::read(&self.home, KEPT));
        let offers = self.learn(learnt, &started);
        for ((it, (_, subject)), offer) in fresh.into_iter().zip(started).zip(offers) {
            match offer {
                Ok(offer) => {
                    let loaded = self.loaded(it, subject, offer, world);
                    changes.installed.push(self.scope(&loaded));
                    kept.push(loaded);
                }
                Err(why) => failed.push((it.found.key, it.found.origin, why)),
            }
        }
        let gone = before.iter().filter(|it| !kept.iter().any(|other| other.key == it.key));
        changes.removed.extend(gone.map(|it| Source::Plugin(it.key.clone())));
        let mut problems: Vec<String> = kept.iter().flat_map(notes).collect();
        problems.extend(failed.iter().map(|(key, _, why)| format!("plugin {key}: {why}")));
        *running = kept;
        changes.problems = Some(problems);
        changes
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
