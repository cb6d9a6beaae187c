//! Which plugins run: those that are switched on, and of a project those that were accepted.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{Either, select};
use hermes_core::wait::wait;
use hermes_extend::plugins::start::Code;
use hermes_extend::python::paths;
use hermes_store::{Home, KeptManifests, Trust, foreign};
use serde_json::{Value, json};

use super::Plugins;
use crate::foreign::asking::{MOMENT, PATIENCE};
use crate::foreign::find_plugins::{Found, Origin, in_folder, in_packages};
use crate::world::World;

/// Where Python looks for packages, kept.
const PATHS: &str = "python-paths.json";

/// Manifests that were read before, kept.
const MANIFESTS: &str = "plugin-manifests.json";

/// What the configuration says.
#[derive(Default)]
pub(super) struct Wanted {
    pub(super) enabled: Vec<String>,
    pub(super) disabled: Vec<String>,
}

impl Wanted {
    pub(super) fn of(world: &World) -> Self {
        let list = |key: &str| match world.config(key) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        Self { enabled: list("plugins.enabled"), disabled: list("plugins.disabled") }
    }

    /// Whether a plugin is switched on, by its key or its name.
    pub(super) fn wants(&self, found: &Found) -> bool {
        let named = |list: &[String]| {
            list.iter().any(|it| *it == found.key || found.manifest.as_ref().is_ok_and(|has| has.name == *it))
        };
        named(&self.enabled) && !named(&self.disabled)
    }
}

impl Plugins {
    /// The plugins in folders.
    pub(super) fn in_folders(&self) -> Vec<Found> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.manifests.kept.get_or_insert_with(|| KeptManifests::read(&self.home, MANIFESTS));
        let mut found = in_folder(&self.home.plugins(), Origin::User, &mut known.manifests);
        if self.project != self.home.plugins() {
            found.extend(in_folder(&self.project, Origin::Project, &mut known.manifests));
        }
        if let Some(kept) = &mut known.manifests.kept {
            kept.keep(&self.home, MANIFESTS);
        }
        found
    }

    /// The plugins among installed Python packages, looked for once. Whoever has to ask Python first where
    /// they are waits a moment, and once in the life of a home.
    fn in_packages(&self, known: &mut Option<Vec<Found>>) -> Vec<Found> {
        if let Some(known) = known {
            return known.clone();
        }
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
        places.map(|places| known.insert(in_packages(&places)).clone()).unwrap_or_default()
    }

    /// The same, for somebody who wants to know them all: Python is asked again.
    pub(super) fn in_packages_now(&self, known: &mut Option<Vec<Found>>) -> Vec<Found> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).asked_python = false;
        let places = self.python_paths(PATIENCE).unwrap_or_default();
        known.insert(in_packages(&places)).clone()
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
        let (doors, desk, home) = (self.doors.clone(), Arc::clone(&self.desk), self.home.clone());
        self.doors.tasks.start(Box::pin(async move {
            let asked = Box::pin(paths(&doors, &desk, home.path()));
            if let Either::Left((places, _)) = select(asked, doors.host.sleep(PATIENCE)).await {
                keep(&home, &json!(places));
                // Whoever asked may have gone.
                let _ = tell.send(places);
            }
        }));
        match wait(select(answer, self.doors.host.sleep(limit))) {
            Either::Left((places, _)) => places.ok(),
            Either::Right(_) => None,
        }
    }

    /// What runs: the plugins that are switched on, the last of each key.
    pub(super) fn chosen(
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
            let Some(identity) = self.identity(&found, trust) else { continue };
            chosen.retain(|(other, _)| other.key != found.key);
            chosen.push((found, identity));
        }
        chosen
    }

    /// What a plugin is known by; nothing for one of a project that nobody accepted.
    pub(super) fn identity(&self, found: &Found, trust: &Trust) -> Option<String> {
        match (&found.code, found.origin) {
            (Code::Folder(folder), Origin::Project) => {
                let digest = self.digest(folder)?;
                trust.accepts(folder, &digest).then_some(digest)
            }
            (Code::Folder(folder), _) => Some(self.stamp(folder)),
            (Code::EntryPoint(target), _) => Some(format!("{target} {:?}", found.manifest)),
        }
    }

    /// The stamp of a plugin of the home. Every file of it counts when the program starts, and while it
    /// runs those that every plugin has.
    fn stamp(&self, folder: &Path) -> String {
        let files = ["plugin.yaml", "plugin.yml", "__init__.py"];
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, stamp)) = known.stamps.get(folder)
            && *before == foreign::front_stamp(folder, &files)
        {
            return stamp.clone();
        }
        let (front, stamp) = foreign::front_and_tree(folder, &files);
        known.stamps.insert(folder.to_owned(), (front, stamp.clone()));
        stamp
    }

    /// The digest of a folder; read again only when something in it has other dates.
    fn digest(&self, folder: &Path) -> Option<String> {
        let stamp = foreign::tree_stamp(folder);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, digest)) = known.digests.get(folder).filter(|(before, _)| *before == stamp) {
            return Some(digest.clone());
        }
        let digest = foreign::tree_digest(folder).ok()?;
        known.digests.insert(folder.to_owned(), (stamp, digest.clone()));
        Some(digest)
    }
}

/// Keeps where Python looks for packages; what cannot be kept is asked again.
fn keep(home: &Home, places: &Value) {
    let _ = foreign::learn(home, PATHS, &places.to_string());
}
