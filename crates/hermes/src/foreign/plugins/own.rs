//! Plugins of the home with a say in what may run that are switched on and are not there any more.
//!
//! Whoever removes the folder of such a plugin has not said that things may run without it: an agent could. So it
//! is remembered which ones have a say, in the list of what was accepted. One that is gone stands among the plugins
//! as one that cannot be asked, until it is back or a person switches it off. The home is the person's own: a
//! manifest that does not ask for a say any more counts as it is, and so does another plugin of the same name.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_extend::plugins::start::Code;
use hermes_store::{Named, OwnPolicy, Trust};

use super::Plugins;
use super::choose::{Chosen, Wanted, is_named};
use crate::foreign::find_plugins::{Broken, Found, Origin};

/// What there is to know of plugins of the home with a say.
#[derive(Default)]
pub(super) struct Own {
    /// Those that were seen, and are gone.
    pub(super) lost: Vec<Arc<Chosen>>,
    /// Why nobody knows which ones were seen.
    pub(super) unread: Option<String>,
}

impl Plugins {
    /// Remembers which of those that were found in the home have a say, and tells which of them are gone.
    pub(super) fn own_policies(&self, wanted: &Wanted, found: &mut [Found]) -> Own {
        let trust = match Trust::read(&self.home) {
            Ok(trust) => trust,
            Err(wrong) => return Own { unread: Some(wrong.to_string()), ..Own::default() },
        };
        recall(found, trust.own());
        let (now, lost) = sorted_out(trust.own(), wanted, found);
        if now != trust.own() {
            // Where nothing can be written they count as long as they are there.
            let _ = Trust::remember_own(&self.home, now);
        }
        Own { lost: lost.into_iter().map(gone).collect(), unread: None }
    }

    /// A plugin that is switched on and not there, and of which nobody can tell whether it had a say.
    pub(super) fn may_be_policy(&self, name: &str, why: &str) -> Arc<Chosen> {
        let why = format!("it is not there, and nobody can tell whether it had a say in what may run: {why}");
        let (key, path) = (name.to_owned(), self.home.plugins().join(name));
        absent(Named { key, name: name.to_owned() }, path, why)
    }
}

/// Of a manifest that cannot be read it is known what it was.
fn recall(found: &mut [Found], own: &[OwnPolicy]) {
    for found in found {
        let Code::Folder(folder) = &found.code else { continue };
        let before = own.iter().find(|it| it.path == *folder);
        if let (Err(broken), Some(before)) = (&mut found.manifest, before) {
            broken.policy = true;
            broken.name.get_or_insert_with(|| before.named.name.clone());
            found.key.clone_from(&before.named.key);
        }
    }
}

/// Which plugins are to be remembered from now on, and which of those that were are gone. What is not switched on
/// is forgotten: whoever switches it on again has it seen again.
fn sorted_out(own: &[OwnPolicy], wanted: &Wanted, found: &[Found]) -> (Vec<OwnPolicy>, Vec<OwnPolicy>) {
    let runs: Vec<&Found> = found.iter().filter(|it| wanted.wants(it)).collect();
    let mut now: Vec<OwnPolicy> = runs.iter().filter_map(|it| policy(it)).collect();
    let mut lost = Vec::new();
    for it in own.iter().filter(|it| wanted.wants_any(&[&it.named.key, &it.named.name])) {
        let same = |other: &&&Found| is_named(other, &it.named.key) || is_named(other, &it.named.name);
        match runs.iter().find(same).map(|other| &other.manifest) {
            Some(Ok(_)) => {}
            Some(Err(_)) => now.push(it.clone()),
            None => {
                now.push(it.clone());
                lost.push(it.clone());
            }
        }
    }
    now.sort();
    now.dedup();
    (now, lost)
}

fn policy(found: &Found) -> Option<OwnPolicy> {
    let (Code::Folder(path), Ok(manifest)) = (&found.code, &found.manifest) else { return None };
    let named = Named { key: found.key.clone(), name: manifest.name.clone() };
    manifest.policy.then(|| OwnPolicy { path: path.clone(), named })
}

fn gone(policy: OwnPolicy) -> Arc<Chosen> {
    let OwnPolicy { path, named } = policy;
    let why = format!(
        "{} had a say in what may run and is not there any more; put it back if it was not you who removed it",
        path.display()
    );
    absent(named, path, why)
}

/// One that stands among the plugins and cannot be asked.
fn absent(named: Named, path: PathBuf, why: String) -> Arc<Chosen> {
    let manifest = Err(Broken { why, policy: true, name: Some(named.name) });
    let found =
        Found { key: named.key, origin: Origin::User, code: Code::Folder(path), place: None, manifest };
    Chosen::new(found, String::new())
}
