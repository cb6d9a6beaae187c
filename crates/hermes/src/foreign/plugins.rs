//! Plugins that are switched on: each in a process and a scope of its own.
//!
//! A look compares dates and settings. A plugin that changed is loaded anew and its scope swapped whole;
//! the others are not touched. Until it can be heard, what it was before goes on; one that fails to load from
//! the start leaves nothing behind. Without one with a say in what may run nothing runs.
//!
//! | file | what |
//! |---|---|
//! | `choose.rs` | which plugins run |
//! | `project.rs` | those of the project, and policies that are not as they were accepted |
//! | `own.rs` | policies of the home that are gone |
//! | `clash.rs` | which one does of several with one name |
//! | `roster.rs`, `record.rs` | that, kept from one start to the next |
//! | `load.rs` | what becomes of each |
//! | `hung.rs` | checks that did not answer, remembered for a while; of tool files too |
//! | `skills.rs` | where the skills of a plugin are |
//! | `views.rs` | plugins as they are shown |

mod choose;
mod clash;
pub(super) mod hung;
mod load;
mod own;
mod project;
mod record;
mod roster;
mod skills;
mod views;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_core::registry::Source;
use hermes_extend::plugins::desk::Desk;
use hermes_extend::plugins::hook::{self, Around};
use hermes_extend::plugins::manifest::{Manifest, PluginKind};
use hermes_extend::plugins::offer::Offer;
use hermes_extend::plugins::subject::Subject;
use hermes_store::Home;
use serde_json::Value;

use super::ahead::Ahead;
use super::asking::{Asking, Thing, Unheard};
use super::find_plugins::{Broken, Manifests, Origin};
use super::{Changes, Kind, Sake};
use crate::world::World;
use choose::{Chosen, Survey, Wanted};
use clash::Clash;
use hung::HungChecks;
use load::{Fresh, known_by, needs, shut_out, values};
use project::Project;
use roster::Roster;

pub(crate) use roster::kept_cli;
pub(super) use skills::skills_of;
pub use views::{PluginState, PluginView};

/// How many plugins are asked at once; each has a process.
const AT_ONCE: usize = 8;

/// Where what was learnt is kept.
const KEPT: &str = "plugins.jsonl";

/// Where checks that did not answer are kept.
const HUNG: &str = "hung-plugin-checks.json";

/// All plugins.
pub(crate) struct Plugins {
    home: Home,
    project: Project,
    desk: Arc<Desk>,
    around: Around,
    asking: Asking,
    /// Whether files are looked at once.
    one_moment: bool,
    state: Mutex<State>,
    known: Mutex<Known>,
    checks: Arc<HungChecks>,
    /// What an earlier start kept, while it is read beside other work.
    ahead: Ahead<Option<Roster>>,
}

/// What was read before, with the dates it was read at.
#[derive(Default)]
struct Known {
    manifests: Manifests,
    digests: BTreeMap<PathBuf, (String, String)>,
    /// Whether Python was asked where packages are.
    asked_python: bool,
}

#[derive(Default)]
struct State {
    /// What the last look was made of.
    last: Option<Seen>,
    /// Which plugins run, as it was last found out.
    survey: Option<Arc<Survey>>,
    running: Vec<Running>,
    /// Those that did not say what they offer.
    unheard: Vec<(Fresh, Unheard)>,
    /// Those that cannot even be asked, and why.
    failed: Vec<(Arc<Chosen>, Broken)>,
    /// What the configuration says, and the revision of the world that it was read at.
    wanted: Option<(u64, Arc<Wanted>)>,
    /// The revision of the world at which none of them had a say in what tools of others do.
    quiet: Option<u64>,
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
struct Seen {
    survey: Arc<Survey>,
    /// Of the world: configuration and variables.
    revision: u64,
    heard: u64,
}

impl Seen {
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.survey, &other.survey)
            && (self.revision, self.heard) == (other.revision, other.heard)
    }
}

/// A plugin that is switched on and was loaded.
pub(crate) struct Running {
    chosen: Arc<Chosen>,
    pub(crate) subject: Arc<Subject>,
    pub(crate) offer: Arc<Offer>,
    variables: Vec<(String, String)>,
    overrides: bool,
    known_by: String,
}

impl Running {
    fn key(&self) -> Cow<'_, str> {
        self.chosen.known_as()
    }

    fn manifest(&self) -> Option<&Manifest> {
        self.chosen.found.manifest.as_ref().ok()
    }

    /// What it calls itself.
    pub(crate) fn name(&self) -> &str {
        self.manifest().map_or(&self.chosen.found.key, |manifest| &manifest.name)
    }
}

impl Plugins {
    /// Those of this home and of the project with these folders. Nothing is looked at yet; with
    /// `one_moment` their files are looked at once. Somebody may have begun to read the `head` of what is kept.
    pub(crate) fn new(
        home: Home,
        project: &[PathBuf],
        around: Around,
        desk: Arc<Desk>,
        one_moment: bool,
    ) -> Self {
        let project = Project::of(&home, project);
        let asking = Asking::new(home.clone(), KEPT, around.doors.clone(), AT_ONCE);
        let (state, known) = (Mutex::default(), Mutex::default());
        let checks = Arc::new(HungChecks::new(home.clone(), HUNG));
        let ahead = Ahead::default();
        Self { home, project, desk, around, asking, one_moment, state, known, checks, ahead }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kind for Plugins {
    fn look(&self, world: &World, sake: Sake) -> Changes {
        let mut state = self.lock();
        if sake == Sake::OwnTool && self.is_quiet(&mut state, world) {
            return Changes::default();
        }
        let wanted = state.wanted(world);
        let nothing = state.running.is_empty() && state.failed.is_empty() && state.unheard.is_empty();
        if wanted.enabled.is_empty() && nothing {
            return Changes::default();
        }
        let survey = self.survey(&mut state, &wanted);
        let seen = Seen { survey, revision: world.revision(), heard: self.asking.heard() };
        if state.last.as_ref().is_some_and(|last| last.is(&seen)) {
            return Changes::default();
        }
        let mut changes = self.change(&mut state, &seen.survey.chosen, world);
        changes.problems.get_or_insert_default().extend(absent(&seen.survey));
        self.keep_roster(&seen.survey, &state.running, world);
        state.last = Some(seen);
        changes
    }
}

impl Plugins {
    /// Whether none of them has a say in what tools of others do, by what is kept of them, and nobody has looked
    /// at them yet.
    fn is_quiet(&self, state: &mut State, world: &World) -> bool {
        if state.survey.is_none() && state.quiet != Some(world.revision()) {
            let wanted = state.wanted(world);
            state.quiet = self.are_quiet(&wanted, world).then(|| world.revision());
        }
        state.quiet == Some(world.revision())
    }

    fn change(&self, state: &mut State, chosen: &[Arc<Chosen>], world: &World) -> Changes {
        let State { running, unheard, failed, .. } = state;
        let mut changes = Changes::default();
        let (mut before, mut kept, mut fresh) = (std::mem::take(running), Vec::new(), Vec::new());
        let (was_unheard, was_failed) = (std::mem::take(unheard), std::mem::take(failed));
        let mut shut: Vec<String> = Vec::new();
        shut.extend(was_unheard.iter().filter(|(it, _)| it.is_policy()).map(|(it, _)| it.key().into_owned()));
        let broken = was_failed.iter().filter(|(_, broken)| broken.policy);
        shut.extend(broken.map(|(it, _)| it.known_as().into_owned()));
        let entries = world.config("plugins.entries").unwrap_or_default();
        for chosen in chosen {
            match asked(chosen, &before, &entries, world) {
                Err(broken) => {
                    changes.installed.extend(shut_out(chosen, &broken));
                    if let Some(at) = until_heard(chosen, broken.policy, &before) {
                        let is_new = !was_failed.iter().any(|(_, was)| *was == broken);
                        self.tell_of_reload(chosen, Some(&broken.why).filter(|_| is_new));
                        kept.push(before.swap_remove(at));
                    }
                    failed.push((Arc::clone(chosen), broken));
                }
                Ok(asked) => match before.iter().position(|it| asked.is(it) && self.says_so_still(it)) {
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
            match self.asking.standing(&it.known_by).unwrap_or(Err(Unheard::Late)) {
                Ok(offer) => {
                    let loaded = self.loaded(it, offer, world);
                    changes.installed.push(self.scope(&loaded));
                    kept.push(loaded);
                }
                Err(why) => {
                    changes.installed.extend(self.shut(&it, &why));
                    if let Some(at) = until_heard(&it.chosen, it.is_policy(), &before) {
                        let was =
                            |(was, said): &(Fresh, Unheard)| was.known_by == it.known_by && *said == why;
                        let is_new = why != Unheard::Late && !was_unheard.iter().any(was);
                        self.tell_of_reload(&it.chosen, Some(&told(&it, &why)).filter(|_| is_new));
                        kept.push(before.swap_remove(at));
                    }
                    unheard.push((it, why));
                }
            }
        }
        let stays = |key: &str| {
            let shut = |(it, _): &(Fresh, Unheard)| it.key() == key && it.is_policy();
            let broken = |(it, broken): &(Arc<Chosen>, Broken)| it.known_as() == key && broken.policy;
            kept.iter().any(|it| it.key() == key) || unheard.iter().any(shut) || failed.iter().any(broken)
        };
        let gone = before.iter().map(|it| it.key().into_owned()).chain(shut).filter(|key| !stays(key));
        changes.removed.extend(gone.map(Source::Plugin));
        let noted = |it: &Running| -> Vec<String> {
            notes(it).into_iter().map(|note| format!("plugin {}: {note}", it.key())).collect()
        };
        let mut problems: Vec<String> = kept.iter().flat_map(noted).collect();
        problems.extend(unheard.iter().map(|(it, why)| format!("plugin {}: {}", it.key(), told(it, why))));
        problems
            .extend(failed.iter().map(|(it, broken)| format!("plugin {}: {}", it.known_as(), broken.why)));
        *running = kept;
        changes.problems = Some(problems);
        changes
    }
}

impl Plugins {
    /// Whether a plugin that runs offers what it did: somebody may have asked it again.
    fn says_so_still(&self, running: &Running) -> bool {
        matches!(self.asking.standing(&running.known_by), Some(Ok(offer)) if *offer == *running.offer)
    }

    /// Leaves word for whoever is in the conversation that a plugin goes on as it was, and why.
    fn tell_of_reload(&self, chosen: &Chosen, why: Option<&String>) {
        if let Some(why) = why {
            let key = chosen.known_as();
            let note = format!(
                "plugin {key}: it changed and cannot be used so: {why}; until then it goes on as it was"
            );
            self.around.observers.note(&note);
        }
    }
}

/// Which of those that run goes on until the plugin that it was can be heard; none where one has a say in what
/// may run, for then nothing does.
fn until_heard(chosen: &Chosen, policy: bool, before: &[Running]) -> Option<usize> {
    let same = before.iter().position(|it| it.chosen.is_at(&chosen.found) && it.chosen.aside == chosen.aside);
    same.filter(|_| !policy)
}

/// Why a plugin could not be heard, and what can be done.
fn told(fresh: &Fresh, why: &Unheard) -> String {
    match why {
        Unheard::Failed(why) => why.clone(),
        _ => format!("{}; `hermes plugins enable {}` waits for it", why.words(), fresh.chosen.found.key),
    }
}

/// What is to run for a plugin that is switched on, or why it cannot.
fn asked(chosen: &Arc<Chosen>, before: &[Running], entries: &Value, world: &World) -> Result<Fresh, Broken> {
    let found = &chosen.found;
    let manifest = found.manifest.as_ref().map_err(Clone::clone)?;
    if let PluginKind::Other(kind) = &manifest.kind {
        let why = format!("plugins of kind `{kind}` are not run");
        return Err(Broken { why, policy: manifest.policy, name: None });
    }
    if let Some(word) = manifest.leads_out().filter(|_| found.origin == Origin::Project) {
        let why = format!(
            "`run` says `{word}`, which is not in the plugin's folder and could change unnoticed; programs \
             of the system are named without a path"
        );
        return Err(Broken { why, policy: manifest.policy, name: None });
    }
    let overrides = entries.get(&found.key).and_then(|entry| entry.get("allow_tool_override")?.as_bool());
    Ok(Fresh {
        variables: values(&needs(found, before), world),
        known_by: known_by(chosen, manifest, world),
        chosen: Arc::clone(chosen),
        overrides: overrides.unwrap_or_default(),
    })
}

impl Fresh {
    /// Whether it is what runs already.
    fn is(&self, running: &Running) -> bool {
        self.chosen.is(&running.chosen)
            && running.known_by == self.known_by
            && running.variables == self.variables
            && running.overrides == self.overrides
    }
}

/// What the configuration says of plugins that comes to nothing, and names that several have.
fn absent(survey: &Survey) -> Vec<String> {
    let missing = survey.missing.iter();
    let missing = missing.map(|name| format!("plugin {name}: it is switched on, and is not there"));
    let clashes = survey.clashes.iter().filter_map(Clash::problem);
    missing.chain(clashes).collect()
}

/// What a plugin asked for and does not get, and what is odd about it.
fn notes(running: &Running) -> Vec<String> {
    let unheard = running.offer.hooks.iter().filter(|event| hook::event(event).is_none());
    let unheard = unheard.map(|event| format!("the event `{event}` is not raised"));
    let odd = running.manifest().into_iter().flat_map(|manifest| manifest.odd.iter().cloned());
    let wanting = running.offer.tools.iter().filter(|tool| tool.overrides && !running.overrides);
    let setting = format!("plugins.entries.{}.allow_tool_override", running.key());
    let wanting = wanting.map(|tool| {
        format!("`{}` wants to stand in for a tool of others; `{setting}: true` allows it", tool.name)
    });
    let own = running.offer.notes.iter().cloned();
    unheard.chain(own).chain(odd).chain(wanting).chain(skills::notes(running)).collect()
}
