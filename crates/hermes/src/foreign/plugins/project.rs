//! Plugins of the project: those that run because they were accepted, and those without which nothing does.
//!
//! A plugin with a say in what may run that was accepted is not simply gone when it is another one by now, or
//! none at all: an agent could change its files, or its manifest, or remove them. It stands among the plugins as
//! one that cannot be asked, until it is as it was or a person accepts it anew, takes that back or switches it
//! off. A project that has nothing of this kind costs no look at the list of what was accepted.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use hermes_extend::plugins::start::Code;
use hermes_store::trust::Accepted;
use hermes_store::witness::Witnesses;
use hermes_store::{Home, Named, Trust, foreign};

use super::Plugins;
use super::choose::{Chosen, Wanted, is_named};
use crate::foreign::find_plugins::{Broken, Found, Origin, in_folder};

/// Where plugins of the project are.
pub(super) struct Project {
    /// In the folder one stands in, then in those above it. The home's own is not among them: whoever stands in
    /// their own home folder has no project there.
    folders: Vec<PathBuf>,
    /// In the folders above the project. There only what was accepted with a say counts: it must not end where
    /// somebody makes a repository below it, or takes away the one that it is in.
    above: Vec<PathBuf>,
}

impl Project {
    /// The one with these folders.
    pub(super) fn of(home: &Home, folders: &[PathBuf]) -> Self {
        let above = folders.last().map_or(Path::new(""), PathBuf::as_path).ancestors().skip(1);
        let plugins =
            |folder: &Path| (!foreign::is_home(folder, home)).then(|| folder.join(".hermes/plugins"));
        Self {
            folders: folders.iter().filter_map(|folder| plugins(folder)).collect(),
            above: above.filter_map(plugins).collect(),
        }
    }

    /// Whether it may have plugins.
    pub(super) fn is_there(&self) -> bool {
        self.folders.iter().any(|folder| foreign::is_folder(folder))
    }

    /// Whether one of these is of the project.
    pub(super) fn has_policy(&self, policies: &[impl AsRef<Path>]) -> bool {
        policies.iter().any(|path| self.holds(path.as_ref()))
    }

    fn holds(&self, path: &Path) -> bool {
        self.folders.iter().chain(&self.above).any(|folder| path.starts_with(folder))
    }

    /// Those of the folders above in which one of these is.
    fn above_with<'a>(&'a self, policies: &'a [impl AsRef<Path>]) -> impl Iterator<Item = &'a PathBuf> {
        self.above.iter().filter(|folder| policies.iter().any(|path| path.as_ref().starts_with(folder)))
    }
}

impl Plugins {
    /// Those of the project that were accepted. `policies` is where plugins lie that were accepted with a say.
    pub(super) fn of_project(
        &self,
        wanted: &Wanted,
        policies: &[impl AsRef<Path>],
        missing: &mut Vec<String>,
        witnesses: &mut Witnesses,
    ) -> Vec<Arc<Chosen>> {
        if wanted.enabled.is_empty() {
            return Vec::new();
        }
        // All of them are looked at: one may come that was not there.
        let there = self.project.folders.iter().filter(|folder| witnesses.see(folder).is_some()).count();
        if there == 0 && !self.project.has_policy(policies) {
            return Vec::new();
        }
        let (trust, unread) = match Trust::seen(&self.home, witnesses) {
            Ok(trust) => (trust, None),
            Err(wrong) => (Trust::default(), Some(wrong.to_string())),
        };
        let found = self.in_project(policies, witnesses);
        missing.retain(|name| !found.iter().any(|it| is_named(it, name)));
        let mut chosen = Vec::new();
        for found in found.into_iter().filter(|found| wanted.wants(found)) {
            match (self.identity(&found, &trust, witnesses), &unread) {
                (Some(identity), _) => {
                    self.remember_policy(&found, &identity, &trust);
                    chosen.push(Chosen::new(found, identity));
                }
                (None, Some(why)) => chosen.push(unclear(found, why)),
                (None, None) => {}
            }
        }
        let lost = self.lost(wanted, &trust, &chosen);
        missing.retain(|name| !lost.iter().any(|it| is_named(&it.found, name)));
        chosen.extend(lost);
        chosen
    }

    /// Those of the project, and those above it that were accepted with a say and lie where `policies` tells.
    pub(super) fn in_project(&self, policies: &[impl AsRef<Path>], witnesses: &mut Witnesses) -> Vec<Found> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let manifests = &mut known.manifests;
        let mut look = |folder: &PathBuf| in_folder(folder, Origin::Project, manifests, witnesses);
        let mut found: Vec<Found> = self.project.folders.iter().flat_map(&mut look).collect();
        let has_say = |it: &Found| match &it.code {
            Code::Folder(folder) => policies.iter().any(|path| path.as_ref() == folder),
            Code::EntryPoint(_) => false,
        };
        found.extend(self.project.above_with(policies).flat_map(look).filter(has_say));
        found
    }

    /// Of what was accepted when lists did not tell, it is remembered now that it has a say.
    fn remember_policy(&self, found: &Found, digest: &str, trust: &Trust) {
        let (Code::Folder(folder), Ok(manifest)) = (&found.code, &found.manifest) else { return };
        let is_told = |it: &Accepted| it.path == *folder && it.policy.is_some();
        if manifest.policy && !trust.accepted().iter().any(is_told) {
            let named = Named { key: found.key.clone(), name: manifest.name.clone() };
            // Where nothing can be written it counts as long as it is there.
            let _ = Trust::remember_policy(&self.home, folder, digest, &named);
        }
    }

    /// The plugins that were accepted with a say, are switched on, and are not as they were.
    fn lost(&self, wanted: &Wanted, trust: &Trust, chosen: &[Arc<Chosen>]) -> Vec<Arc<Chosen>> {
        let here = trust.accepted().iter().filter(|it| self.project.holds(&it.path));
        let lost = here.filter_map(|it| {
            let named = it.policy.as_ref()?;
            let code = Code::Folder(it.path.clone());
            let runs = chosen.iter().any(|other| other.found.code == code);
            if runs || !wanted.wants_any(&[&named.key, &named.name]) {
                return None;
            }
            let broken = Broken { why: why(&it.path), policy: true, name: Some(named.name.clone()) };
            let key = named.key.clone();
            let found = Found { key, origin: Origin::Project, code, place: None, manifest: Err(broken) };
            Some(Chosen::new(found, it.digest.clone()))
        });
        lost.collect()
    }
}

/// A plugin of which nobody can tell whether it was accepted: it does not run, and without one that has a say nothing
/// does.
fn unclear(found: Found, why: &str) -> Arc<Chosen> {
    let (why, policy) = (format!("nobody can tell whether it was accepted: {why}"), found.is_policy());
    let name = found.manifest.as_ref().ok().map(|manifest| manifest.name.clone());
    let manifest = Err(Broken { why, policy, name });
    Chosen::new(Found { manifest, ..found }, String::new())
}

/// What became of a plugin that was accepted in this folder, and what can be done.
fn why(folder: &Path) -> String {
    let shown = folder.display();
    if foreign::is_folder(folder) {
        format!(
            "{shown} has a say in what may run and changed since it was accepted; a person who looked at it \
             accepts it as it is now with `hermes plugins trust {shown}`"
        )
    } else {
        format!(
            "{shown} was accepted with a say in what may run and is not there any more; \
             `hermes plugins trust --revoke {shown}` takes that back"
        )
    }
}
