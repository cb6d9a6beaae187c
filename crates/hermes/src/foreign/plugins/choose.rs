//! Which plugins run: those that are switched on, and of a project those that were accepted.
//!
//! What was found is kept with the dates it was found by. A look asks for those dates, and only when one of
//! them is another are folders listed and manifests read again; so does a start, which finds what an
//! earlier one kept (`roster.rs`).

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{Either, select};
use hermes_extend::plugins::start::Code;
use hermes_extend::python::paths;
use hermes_store::witness::Witnesses;
use hermes_store::{Home, Trust, foreign};
use serde_json::{Value, json};

use super::clash::{Clash, settled};
use super::{Plugins, State};
use crate::foreign::asking::{MOMENT, PATIENCE};
use crate::foreign::find_plugins::{FRONT, Found, Origin, in_folder, in_packages};
use crate::foreign::tool_files::is_safe;
use crate::host::wait_aside;
use crate::world::World;

/// Where Python looks for packages, kept.
const PATHS: &str = "python-paths.json";

/// What the configuration says.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) enabled: Vec<String>,
    pub(super) disabled: Vec<String>,
}

impl Wanted {
    pub(super) fn of(world: &World) -> Self {
        if is_safe(world) {
            return Self::default();
        }
        let said = world.plugins().cloned().unwrap_or_default();
        Self { enabled: said.enabled, disabled: said.disabled }
    }

    /// Whether a plugin is switched on, by its key or its name.
    pub(super) fn wants(&self, found: &Found) -> bool {
        let named = |list: &[String]| list.iter().any(|it| is_named(found, it));
        named(&self.enabled) && !named(&self.disabled)
    }

    /// The same for one that goes by these names.
    pub(super) fn wants_any(&self, names: &[&String]) -> bool {
        let named = |list: &[String]| list.iter().any(|it| names.contains(&it));
        named(&self.enabled) && !named(&self.disabled)
    }
}

/// Whether somebody who says this name means the plugin.
pub(super) fn is_named(found: &Found, name: &str) -> bool {
    let called = match &found.manifest {
        Ok(manifest) => Some(&manifest.name),
        Err(broken) => broken.name.as_ref(),
    };
    // Nobody knows what a manifest that cannot be read calls its plugin: it may be as its folder.
    let of_folder = || found.manifest.is_err() && found.last() == name;
    found.key == name || called.is_some_and(|called| called == name) || of_folder()
}

/// A plugin that is to run.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    pub(super) found: Found,
    /// What it is known by: changes when the plugin does.
    pub(super) identity: String,
    /// Whether another one has its name, and only its say in what may run counts.
    pub(super) aside: bool,
}

impl Chosen {
    pub(super) fn new(found: Found, identity: String) -> Arc<Self> {
        Arc::new(Self { found, identity, aside: false })
    }

    /// What it goes by among all that run: its key, unless that is another one's.
    pub(super) fn known_as(&self) -> Cow<'_, str> {
        let Found { key, origin, .. } = &self.found;
        if self.aside {
            format!("{key} ({} {})", origin.word(), self.found.last()).into()
        } else {
            key.into()
        }
    }

    /// Whether the other one is the same plugin, unchanged.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.is_at(&other.found) && self.aside == other.aside && self.identity == other.identity
    }

    /// Whether that is the same plugin, changed or not.
    pub(super) fn is_at(&self, found: &Found) -> bool {
        self.found.origin == found.origin && self.found.code == found.code
    }
}

/// The plugins that are to run, and what that was found out from.
pub(super) struct Survey {
    wanted: Arc<Wanted>,
    /// Of what depends on where the program stands.
    witnesses: Witnesses,
    /// One of each key, and those whose say counts beside it.
    pub(super) chosen: Vec<Arc<Chosen>>,
    /// Those of them that do not depend on where the program stands.
    pub(super) lasting: Lasting,
    /// Names that are switched on and that nobody has.
    pub(super) missing: Vec<String>,
    /// Names that several have.
    pub(super) clashes: Vec<Clash>,
}

impl Survey {
    /// Whether everything is as it was.
    fn holds(&self) -> bool {
        self.witnesses.hold() && self.lasting.witnesses.hold()
    }

    /// What the configuration said.
    pub(super) fn wanted(&self) -> &Wanted {
        &self.wanted
    }
}

/// What holds wherever the program stands.
#[derive(Clone, Default)]
pub(super) struct Lasting {
    pub(super) witnesses: Witnesses,
    pub(super) chosen: Vec<Arc<Chosen>>,
    /// Whether it was kept by an earlier start.
    pub(super) is_kept: bool,
    /// Whether somebody who was asked has not answered yet.
    pub(super) is_open: bool,
    /// Names that are switched on and that nobody has there.
    pub(super) missing: Vec<String>,
    /// Where plugins of projects lie that were accepted with a say in what may run.
    pub(super) policies: Vec<PathBuf>,
    /// Why nobody knows which plugins of the home had a say.
    pub(super) unread: Option<String>,
}

impl Plugins {
    /// What runs now. The same survey is given out as long as nothing changed.
    pub(super) fn survey(&self, state: &mut State, wanted: &Arc<Wanted>) -> Arc<Survey> {
        if let Some(known) = &state.survey
            && known.wanted == *wanted
            && (self.one_moment || known.holds())
        {
            return Arc::clone(known);
        }
        let kept = if state.survey.is_none() { self.read_roster(wanted) } else { None };
        let earlier = state.survey.as_deref().map(|survey| survey.chosen.as_slice()).unwrap_or_default();
        let lasting = kept.unwrap_or_else(|| self.lasting(wanted, earlier));
        let (mut chosen, mut witnesses) = (lasting.chosen.clone(), Witnesses::default());
        let mut missing = lasting.missing.clone();
        chosen.extend(self.of_project(wanted, &lasting.policies, &mut missing, &mut witnesses));
        if let Some(why) = &lasting.unread {
            chosen.extend(missing.drain(..).map(|name| self.may_be_policy(&name, why)));
            // Somebody may mend the list at any time.
            Trust::look_at(&self.home, &mut witnesses);
        }
        witnesses.settle();
        let (wanted, (chosen, clashes)) = (Arc::clone(wanted), settled(chosen));
        let survey = Arc::new(Survey { wanted, witnesses, chosen, lasting, missing, clashes });
        state.survey = Some(Arc::clone(&survey));
        survey
    }

    /// Looks through the home and, where it does not have all, through installed packages.
    fn lasting(&self, wanted: &Wanted, earlier: &[Arc<Chosen>]) -> Lasting {
        let mut lasting = Lasting::default();
        if wanted.enabled.is_empty() {
            return lasting;
        }
        let witnesses = &mut lasting.witnesses;
        let mut found = self.in_home(witnesses);
        for found in &mut found {
            remember(found, earlier);
        }
        let own = self.own_policies(wanted, &mut found);
        // After that list was written to: it is what the next start finds.
        lasting.policies = Trust::policies(&self.home, witnesses);
        if !wanted.enabled.iter().all(|name| found.iter().any(|it| is_named(it, name))) {
            match self.in_packages(witnesses) {
                Some(packages) => found.extend(packages),
                None => lasting.is_open = true,
            }
        }
        let is_lost = |name: &String| own.lost.iter().any(|it| is_named(&it.found, name));
        let is_missing = |name: &&String| {
            !wanted.disabled.contains(name) && !found.iter().any(|it| is_named(it, name)) && !is_lost(name)
        };
        if !lasting.is_open {
            lasting.missing = wanted.enabled.iter().filter(is_missing).cloned().collect();
        }
        for found in found.into_iter().filter(|found| wanted.wants(found)) {
            if let Some(identity) = self.identity(&found, &Trust::default(), witnesses) {
                lasting.chosen.push(Chosen::new(found, identity));
            }
        }
        lasting.chosen.extend(own.lost);
        lasting.is_open |= own.unread.is_some();
        lasting.unread = own.unread;
        witnesses.settle();
        lasting
    }

    fn in_home(&self, witnesses: &mut Witnesses) -> Vec<Found> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        in_folder(&self.home.plugins(), Origin::User, &mut known.manifests, witnesses)
    }

    /// The plugins in folders, whether or not they run.
    pub(super) fn in_folders(&self) -> Vec<Found> {
        let mut unused = Witnesses::default();
        let mut found = self.in_home(&mut unused);
        let policies = Trust::policies(&self.home, &mut unused);
        found.extend(self.in_project(&policies, &mut unused));
        found
    }

    /// The plugins among installed Python packages. Whoever has to ask Python first where they are waits a
    /// moment, and once in the life of a home; nothing when it has not answered by then.
    fn in_packages(&self, witnesses: &mut Witnesses) -> Option<Vec<Found>> {
        // Changes when Python answers.
        witnesses.see(&self.home.cache().join(PATHS));
        let kept = foreign::learnt(&self.home, PATHS).and_then(|text| serde_json::from_str(&text).ok());
        let places: Option<Vec<PathBuf>> = match kept {
            Some(Value::Array(places)) => {
                Some(places.iter().filter_map(Value::as_str).map(PathBuf::from).collect())
            }
            // It was late before: nobody waits again.
            Some(_) => self.python_paths(Duration::ZERO),
            None => {
                keep(&self.home, &Value::Null);
                self.python_paths(MOMENT)
            }
        };
        places.map(|places| in_packages(&places, witnesses))
    }

    /// The same, for somebody who wants to know them all: Python is asked again.
    pub(super) fn in_packages_now(&self) -> Vec<Found> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).asked_python = false;
        let places = self.python_paths(PATIENCE).unwrap_or_default();
        in_packages(&places, &mut Witnesses::default())
    }

    /// Where Python looks for packages, by asking it beside everything else, once; kept for the next
    /// time. Nothing when it does not answer within the limit.
    fn python_paths(&self, limit: Duration) -> Option<Vec<PathBuf>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut known.asked_python, true) {
            return None;
        }
        drop(known);
        let (tell, answer) = oneshot::channel();
        let (doors, desk, home) = (self.around.doors.clone(), Arc::clone(&self.desk), self.home.clone());
        self.around.doors.tasks.start(Box::pin(async move {
            let asked = Box::pin(paths(&doors, &desk, home.path()));
            if let Either::Left((places, _)) = select(asked, doors.host.sleep(PATIENCE)).await {
                keep(&home, &json!(places));
                // Whoever asked may have gone.
                let _ = tell.send(places);
            }
        }));
        match wait_aside(select(answer, self.around.doors.host.sleep(limit))) {
            Either::Left((places, _)) => places.ok(),
            Either::Right(_) => None,
        }
    }

    /// What a plugin is known by; nothing for one of a project that nobody accepted.
    pub(super) fn identity(&self, found: &Found, trust: &Trust, witnesses: &mut Witnesses) -> Option<String> {
        match (&found.code, found.origin) {
            (Code::Folder(folder), Origin::Project) => {
                let digest = self.digest(folder, witnesses)?;
                trust.accepts(folder, &digest).then_some(digest)
            }
            // Every file of it counts when the program starts, and while it runs those that every plugin has.
            (Code::Folder(folder), _) => Some(foreign::tree_stamp(folder, Some(&FRONT), witnesses)),
            (Code::EntryPoint(target), _) => {
                let stamp = |place: &PathBuf| {
                    if foreign::is_folder(place) {
                        return foreign::tree_stamp(place, Some(&FRONT), witnesses);
                    }
                    format!("{:?}", witnesses.see(place))
                };
                let stamp = found.place.as_ref().map(stamp);
                Some(format!("{target} {:?} {}", found.manifest, stamp.unwrap_or_default()))
            }
        }
    }

    /// The digest of a folder; read again only when something in it has other dates.
    fn digest(&self, folder: &Path, witnesses: &mut Witnesses) -> Option<String> {
        let stamp = foreign::tree_stamp(folder, None, witnesses);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, digest)) = known.digests.get(folder).filter(|(before, _)| *before == stamp) {
            return Some(digest.clone());
        }
        let digest = foreign::tree_digest(folder).ok()?;
        known.digests.insert(folder.to_owned(), (stamp, digest.clone()));
        Some(digest)
    }
}

/// Of a manifest that cannot be read any more it is known what it was: half a file does not take away a name,
/// or a say in what may run.
fn remember(found: &mut Found, earlier: &[Arc<Chosen>]) {
    let before = earlier.iter().find(|it| it.is_at(found)).map(|it| &it.found);
    if let (Err(broken), Some(before)) = (&mut found.manifest, before) {
        broken.policy |= before.is_policy();
        found.key.clone_from(&before.key);
    }
}

/// Keeps where Python looks for packages; what cannot be kept is asked again.
fn keep(home: &Home, places: &Value) {
    let _ = foreign::learn(home, PATHS, &places.to_string());
}
