//! Plugins that are switched on: each in a process and a scope of its own.
//!
//! A look compares dates and settings. A plugin that changed is loaded anew and its scope swapped whole;
//! the others are not touched. One that fails to load leaves nothing behind.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::select;
use hermes_core::registry::{Scope, Source};
use hermes_core::session::Place;
use hermes_extend::launch::Consent;
use hermes_extend::plugins::desk::Desk;
use hermes_extend::plugins::entry::{Owner, scope};
use hermes_extend::plugins::hook::{EVENTS, PluginHook};
use hermes_extend::plugins::manifest::{Manifest, PluginKind};
use hermes_extend::plugins::offer::Offer;
use hermes_extend::plugins::start::{Code, Plugin, plugin};
use hermes_extend::plugins::subject::Subject;
use hermes_extend::python::paths;
use hermes_extend::worker::Doors;
use hermes_store::{Home, Trust, foreign};
use serde_json::Value;

use super::find_plugins::{Found, Origin, in_folder, in_packages};
use super::learnt::Learnt;
use super::tool_files::SAFE_MODE;
use super::{Changes, Kind};
use crate::wait::wait;
use crate::world::World;

/// How long plugins that nobody has heard of before may take to say what they offer.
const FIRST: Duration = Duration::from_secs(30);

/// How many of them are started at once.
const AT_ONCE: usize = 8;

/// Where what was learnt is kept.
const KEPT: &str = "plugins.json";
const PATHS: &str = "python-paths.json";

/// All plugins.
pub(crate) struct Plugins {
    home: Home,
    project: PathBuf,
    doors: Doors,
    desk: Arc<Desk>,
    state: Mutex<State>,
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

/// A plugin as it is shown.
#[derive(Debug, Clone)]
pub struct PluginView {
    /// Its key: the name, or `category/folder`.
    pub key: String,
    /// What its manifest says.
    pub manifest: Manifest,
    /// Where it comes from.
    pub origin: Origin,
    /// Its folder, if it is one.
    pub folder: Option<PathBuf>,
    /// Whether it is switched on, and what became of it.
    pub state: PluginState,
    /// What it offers, once it was loaded.
    pub offer: Option<Offer>,
}

/// What became of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginState {
    /// Not switched on.
    Off,
    /// It works.
    On,
    /// Nobody accepted it as it is now.
    NotAccepted,
    /// It could not be used.
    Failed(String),
}

/// What the configuration says.
struct Wanted {
    enabled: Vec<String>,
    disabled: Vec<String>,
}

impl Wanted {
    fn of(world: &World) -> Self {
        let list = |key: &str| match world.config(key) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        Self { enabled: list("plugins.enabled"), disabled: list("plugins.disabled") }
    }

    /// Whether a plugin is switched on, by its key or its name.
    fn wants(&self, found: &Found) -> bool {
        let named = |list: &[String]| {
            list.iter().any(|it| *it == found.key || found.manifest.as_ref().is_ok_and(|has| has.name == *it))
        };
        named(&self.enabled) && !named(&self.disabled)
    }
}

impl Plugins {
    /// Those of this home and of the project that `place` is in. Nothing is looked at yet.
    pub(crate) fn new(home: Home, place: &Place, doors: Doors, desk: Arc<Desk>) -> Self {
        let project = place.cwd.join(".hermes/plugins");
        Self { home, project, doors, desk, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plugins in folders.
    fn in_folders(&self) -> Vec<Found> {
        let mut found = in_folder(&self.home.plugins(), Origin::User);
        if self.project != self.home.plugins() {
            found.extend(in_folder(&self.project, Origin::Project));
        }
        found
    }

    /// The plugins among installed Python packages, looked for once.
    fn in_packages(&self, known: &mut Option<Vec<Found>>) -> Vec<Found> {
        known.get_or_insert_with(|| in_packages(&self.python_paths())).clone()
    }

    /// Where Python looks for packages; Python itself is asked the first time.
    fn python_paths(&self) -> Vec<PathBuf> {
        if let Some(kept) =
            foreign::learnt(&self.home, PATHS).and_then(|text| serde_json::from_str(&text).ok())
        {
            return kept;
        }
        let asked = Box::pin(paths(&self.doors, &self.desk, self.home.path()));
        let found = match wait(select(asked, self.doors.host.sleep(FIRST))) {
            futures::future::Either::Left((found, _)) => found,
            futures::future::Either::Right(_) => return Vec::new(),
        };
        if let Ok(text) = serde_json::to_string(&found) {
            // What cannot be kept is asked again.
            let _ = foreign::learn(&self.home, PATHS, &text);
        }
        found
    }

    /// What runs: the plugins that are switched on, the last of each key.
    fn chosen(
        &self,
        wanted: &Wanted,
        trust: &Trust,
        packages: &mut Option<Vec<Found>>,
    ) -> Vec<(Found, String)> {
        if wanted.enabled.is_empty() {
            return Vec::new();
        }
        let mut found = self.in_folders();
        let named = |name: &String| {
            found.iter().any(|it| it.key == *name || it.manifest.as_ref().is_ok_and(|has| has.name == *name))
        };
        if !wanted.enabled.iter().all(named) {
            found.extend(self.in_packages(packages));
        }
        let mut chosen: Vec<(Found, String)> = Vec::new();
        for found in found.into_iter().filter(|found| wanted.wants(found)) {
            let Some(identity) = Self::identity(&found, trust) else { continue };
            chosen.retain(|(other, _)| other.key != found.key);
            chosen.push((found, identity));
        }
        chosen
    }

    /// What a plugin is known by; nothing for one of a project that nobody accepted.
    fn identity(found: &Found, trust: &Trust) -> Option<String> {
        match (&found.code, found.origin) {
            (Code::Folder(folder), Origin::Project) => {
                let digest = foreign::tree_digest(folder).ok()?;
                trust.accepts(folder, &digest).then_some(digest)
            }
            (Code::Folder(folder), _) => Some(foreign::tree_stamp(folder)),
            (Code::EntryPoint(target), _) => Some(format!("{target} {:?}", found.manifest)),
        }
    }

    fn made(
        &self,
        found: &Found,
        manifest: &Manifest,
        identity: &str,
        variables: Vec<(String, String)>,
    ) -> Plugin {
        let consent = match &found.code {
            Code::Folder(folder) if found.origin == Origin::Project => {
                Consent::Accepted { what: folder.display().to_string(), digest: identity.to_owned() }
            }
            Code::Folder(folder) => Consent::Home(folder.clone()),
            Code::EntryPoint(_) => Consent::Configured("plugins.enabled".to_owned()),
        };
        Plugin {
            key: found.key.clone(),
            manifest: manifest.clone(),
            code: found.code.clone(),
            consent,
            variables,
            home: self.home.path().to_path_buf(),
            profile: self.home.profile().unwrap_or("default").to_owned(),
        }
    }

    /// The scope of a plugin.
    fn scope(&self, running: &Running) -> Scope {
        let owner = Owner {
            subject: Arc::clone(&running.subject),
            desk: Arc::clone(&self.desk),
            toolset: running.key.clone(),
            may_override: running.overrides,
        };
        let scope = scope(Source::Plugin(running.key.clone()), &running.offer.tools, &owner);
        match PluginHook::new(
            &running.key,
            &running.offer.hooks,
            running.manifest.policy,
            &running.subject,
            &self.doors,
        ) {
            Some(hook) => scope.hook(hook),
            None => scope,
        }
    }

    /// Hears what plugins offer, those first that are known already.
    fn learn(&self, learnt: &mut Learnt, new: &[(String, Arc<Subject>)]) -> Vec<Result<Offer, String>> {
        let known: Vec<Option<Offer>> = new.iter().map(|(identity, _)| learnt.offer(identity)).collect();
        let unknown: Vec<_> =
            new.iter().enumerate().filter(|(at, _)| known.get(*at).is_some_and(Option::is_none)).collect();
        let heard = Mutex::new(Vec::new());
        let ask = |(at, (_, subject)): (usize, &(String, Arc<Subject>))| {
            let (subject, heard) = (Arc::clone(subject), &heard);
            async move {
                let answer = subject.describe().await;
                heard.lock().unwrap_or_else(PoisonError::into_inner).push((at, answer));
            }
        };
        if !unknown.is_empty() {
            let asked = futures::stream::iter(unknown.into_iter().map(ask)).buffer_unordered(AT_ONCE);
            let everybody = Box::pin(asked.collect::<Vec<()>>());
            drop(wait(select(everybody, self.doors.host.sleep(FIRST))));
        }
        let mut heard = heard.into_inner().unwrap_or_else(PoisonError::into_inner);
        let late = || Err(format!("it did not say within {} s what it offers", FIRST.as_secs()));
        let answers = known.into_iter().enumerate().map(|(at, known)| match known {
            Some(offer) => Ok(offer),
            None => match heard.iter().position(|(other, _)| *other == at) {
                Some(place) => heard.swap_remove(place).1,
                None => late(),
            },
        });
        let answers: Vec<Result<Offer, String>> = answers.collect();
        for ((identity, _), answer) in new.iter().zip(&answers) {
            if let (Ok(offer), None) = (answer, learnt.offer(identity)) {
                learnt.add(identity, offer);
            }
        }
        learnt.keep(&self.home, KEPT);
        answers
    }
}

/// One plugin that is to be loaded.
struct Fresh {
    found: Found,
    manifest: Manifest,
    identity: String,
    variables: Vec<(String, String)>,
    overrides: bool,
}

impl Kind for Plugins {
    fn look(&self, world: &World) -> Changes {
        let mut state = self.lock();
        let safe = world.variable(SAFE_MODE).is_some_and(|value| !matches!(value, "" | "0" | "false"));
        let wanted =
            if safe { Wanted { enabled: Vec::new(), disabled: Vec::new() } } else { Wanted::of(world) };
        if wanted.enabled.is_empty() && state.running.is_empty() && state.failed.is_empty() {
            return Changes::default();
        }
        let stamp = Trust::stamp(&self.home);
        let trust = Trust::read(&self.home).unwrap_or_default();
        let chosen = self.chosen(&wanted, &trust, &mut state.packages);
        let needs = chosen.iter().flat_map(|(found, _)| needs(found, &state.running));
        let seen = Seen {
            plugins: chosen
                .iter()
                .map(|(it, identity)| (it.key.clone(), it.origin, identity.clone()))
                .collect(),
            overrides: world.config("plugins.entries"),
            trust: stamp,
            values: needs.map(|name| (world.variable(&name).map(str::to_owned), name)).map(swapped).collect(),
        };
        if state.last.as_ref() == Some(&seen) {
            return Changes::default();
        }
        let changes = self.change(&mut state, chosen, world);
        state.last = Some(seen);
        changes
    }
}

impl Plugins {
    /// A plugin that said what it offers. Its tools may need more than its manifest told: then it is
    /// started with that as well.
    fn loaded(&self, fresh: Fresh, subject: Arc<Subject>, offer: Offer, world: &World) -> Running {
        let Fresh { found, manifest, identity, variables: given, overrides } = fresh;
        let asked = offer.tools.iter().flat_map(|tool| tool.requires_env.iter());
        let mut names: Vec<String> = manifest.requires_env.iter().chain(asked).cloned().collect();
        names.sort();
        names.dedup();
        let variables = values(&names, world);
        let subject = if variables == given {
            subject
        } else {
            plugin(&self.made(&found, &manifest, &identity, variables.clone()), &self.doors, &self.desk)
        };
        Running {
            key: found.key,
            origin: found.origin,
            manifest,
            subject,
            offer,
            identity,
            variables,
            overrides,
        }
    }

    fn change(&self, state: &mut State, chosen: Vec<(Found, String)>, world: &World) -> Changes {
        let State { learnt, running, failed, .. } = state;
        let mut changes = Changes::default();
        let (mut fresh, mut kept) = (Vec::new(), Vec::new());
        let mut before = std::mem::take(running);
        failed.clear();
        for (found, identity) in chosen {
            let manifest = match &found.manifest {
                Ok(manifest) => manifest.clone(),
                Err(why) => {
                    failed.push((found.key.clone(), found.origin, why.clone()));
                    continue;
                }
            };
            if let PluginKind::Other(kind) = &manifest.kind {
                let why = format!("plugins of kind `{kind}` are not run");
                failed.push((found.key.clone(), found.origin, why));
                continue;
            }
            let variables = values(&needs(&found, &before), world);
            let overrides = world
                .config("plugins.entries")
                .and_then(|entries| entries.get(&found.key)?.get("allow_tool_override")?.as_bool())
                .unwrap_or_default();
            let same = |it: &Running| {
                it.key == found.key
                    && it.origin == found.origin
                    && it.identity == identity
                    && it.variables == variables
                    && it.overrides == overrides
            };
            match before.iter().position(same) {
                Some(at) => kept.push(before.swap_remove(at)),
                None => fresh.push(Fresh { found, manifest, identity, variables, overrides }),
            }
        }
        let started: Vec<_> = fresh
            .iter()
            .map(|it| {
                let made = self.made(&it.found, &it.manifest, &it.identity, it.variables.clone());
                (it.identity.clone(), plugin(&made, &self.doors, &self.desk))
            })
            .collect();
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

    /// Every plugin that is there, by key.
    pub(crate) fn views(&self, world: &World) -> Vec<PluginView> {
        let mut state = self.lock();
        let (wanted, trust) = (Wanted::of(world), Trust::read(&self.home).unwrap_or_default());
        let mut found = self.in_folders();
        found.extend(self.in_packages(&mut state.packages));
        let mut views: Vec<PluginView> =
            found.into_iter().map(|found| self.view(found, &state, &wanted, &trust)).collect();
        views.sort_by(|a, b| (&a.key, a.origin).cmp(&(&b.key, b.origin)));
        views
    }

    fn view(&self, found: Found, state: &State, wanted: &Wanted, trust: &Trust) -> PluginView {
        let on = state.running.iter().find(|it| it.key == found.key && it.origin == found.origin);
        let failed =
            state.failed.iter().find(|(key, origin, _)| *key == found.key && *origin == found.origin);
        let became = match (on, failed, &found.manifest) {
            (Some(_), _, _) => PluginState::On,
            (None, Some((_, _, why)), _) | (None, None, Err(why)) => PluginState::Failed(why.clone()),
            (None, None, Ok(_)) if Self::identity(&found, trust).is_none() => PluginState::NotAccepted,
            (None, None, Ok(_)) if wanted.wants(&found) => {
                PluginState::Failed("another one has its name".to_owned())
            }
            (None, None, Ok(_)) => PluginState::Off,
        };
        let folder = match found.code {
            Code::Folder(folder) => Some(folder),
            Code::EntryPoint(_) => None,
        };
        PluginView {
            manifest: found
                .manifest
                .unwrap_or_else(|_| Manifest { name: found.key.clone(), ..Manifest::default() }),
            key: found.key,
            origin: found.origin,
            folder,
            state: became,
            offer: on.map(|running| running.offer.clone()),
        }
    }

    /// Looks at the plugins that work.
    pub(crate) fn each<R>(&self, look: impl FnMut(&Running) -> Option<R>) -> Vec<R> {
        self.lock().running.iter().filter_map(look).collect()
    }

    /// Where plugins ask for more.
    pub(crate) fn desk(&self) -> &Arc<Desk> {
        &self.desk
    }
}

/// The variables a plugin asked for: in its manifest, or by its tools when it was last loaded.
fn needs(found: &Found, running: &[Running]) -> Vec<String> {
    let written = found.manifest.iter().flat_map(|manifest| manifest.requires_env.iter());
    let loaded = running.iter().filter(|it| it.key == found.key).flat_map(|it| it.offer.tools.iter());
    let mut names: Vec<String> =
        written.chain(loaded.flat_map(|tool| tool.requires_env.iter())).cloned().collect();
    names.sort();
    names.dedup();
    names
}

fn values(names: &[String], world: &World) -> Vec<(String, String)> {
    names.iter().filter_map(|name| Some((name.clone(), world.variable(name)?.to_owned()))).collect()
}

fn swapped<A, B>((a, b): (A, B)) -> (B, A) {
    (b, a)
}

/// What a plugin asked for and does not get, and what is odd about it.
fn notes(running: &Running) -> Vec<String> {
    let Running { key, manifest, offer, .. } = running;
    let unheard = offer.hooks.iter().filter(|event| !EVENTS.contains(&event.as_str()));
    let unheard = unheard.map(|event| format!("the event `{event}` is not raised"));
    let all = unheard.chain(offer.notes.iter().cloned()).chain(manifest.odd.iter().cloned());
    all.map(|note| format!("plugin {key}: {note}")).collect()
}
