//! Which plugins run: those that are switched on, and of a project those that were accepted.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use futures::future::{Either, select};
use hermes_core::wait::wait;
use hermes_extend::plugins::start::Code;
use hermes_extend::python::paths;
use hermes_store::{Trust, foreign};
use serde_json::Value;

use super::{FIRST, Plugins};
use crate::foreign::find_plugins::{Found, Origin, in_folder, in_packages};
use crate::world::World;

/// Where Python looks for packages, kept.
const PATHS: &str = "python-paths.json";

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
        let mut found = in_folder(&self.home.plugins(), Origin::User, &mut known.manifests);
        if self.project != self.home.plugins() {
            found.extend(in_folder(&self.project, Origin::Project, &mut known.manifests));
        }
        found
    }

    /// The plugins among installed Python packages, looked for once.
    fn in_packages(&self, known: &mut Option<Vec<Found>>) -> Vec<Found> {
        let places = || {
            let kept = foreign::learnt(&self.home, PATHS).and_then(|text| serde_json::from_str(&text).ok());
            kept.unwrap_or_else(|| self.python_paths())
        };
        known.get_or_insert_with(|| in_packages(&places())).clone()
    }

    /// The same, for somebody who wants to know them all: Python is asked again.
    pub(super) fn in_packages_now(&self, known: &mut Option<Vec<Found>>) -> Vec<Found> {
        known.insert(in_packages(&self.python_paths())).clone()
    }

    /// Where Python looks for packages, by asking it; kept for the next time.
    fn python_paths(&self) -> Vec<PathBuf> {
        let asked = Box::pin(paths(&self.doors, &self.desk, self.home.path()));
        let found = match wait(select(asked, self.doors.host.sleep(FIRST))) {
            Either::Left((found, _)) => found,
            Either::Right(_) => return Vec::new(),
        };
        if let Ok(text) = serde_json::to_string(&found) {
            // What cannot be kept is asked again.
            let _ = foreign::learn(&self.home, PATHS, &text);
        }
        found
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
        let front = foreign::front_stamp(folder, &["plugin.yaml", "plugin.yml", "__init__.py"]);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, stamp)) = known.stamps.get(folder).filter(|(before, _)| *before == front) {
            return stamp.clone();
        }
        let stamp = foreign::tree_stamp(folder);
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
