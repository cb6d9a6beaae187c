//! Plugins as they are shown.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_extend::plugins::desk::Desk;
use hermes_extend::plugins::manifest::Manifest;
use hermes_extend::plugins::offer::Offer;
use hermes_extend::plugins::start::Code;
use hermes_store::Trust;
use hermes_store::witness::Witnesses;

use super::choose::Wanted;
use super::load::mistaken;
use super::{Plugins, Running, State, told};
use crate::foreign::asking::Unheard;
use crate::foreign::find_plugins::{Found, Origin};
use crate::world::World;

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
    /// What is odd about it, in words.
    pub notes: Vec<String>,
    /// Whether another one has its name, and only its hooks count.
    pub aside: bool,
}

impl PluginView {
    /// Whether it works, as the one that has its name.
    pub fn runs(&self) -> bool {
        self.state == PluginState::On && !self.aside
    }
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
    /// It has not said yet what it offers, and joins once it has.
    Late(String),
    /// It could not be used.
    Failed(String),
}

impl Plugins {
    /// Every plugin that is there, by key.
    pub(crate) fn views(&self, world: &World) -> Vec<PluginView> {
        let state = self.lock();
        let (wanted, trust) = (Wanted::of(world), Trust::read(&self.home).unwrap_or_default());
        let mut found = self.in_folders();
        // What was accepted and is not so any more is shown as what it was.
        let failed = state.failed.iter().map(|(it, _)| it).filter(|it| it.found.origin != Origin::Package);
        found.retain(|it| !failed.clone().any(|lost| lost.is_at(it)));
        found.extend(failed.map(|it| it.found.clone()));
        found.extend(self.in_packages_now());
        let mut views: Vec<PluginView> =
            found.into_iter().map(|found| self.view(found, &state, &wanted, &trust)).collect();
        views.sort_by(|a, b| (&a.key, a.origin).cmp(&(&b.key, b.origin)));
        views
    }

    fn view(&self, found: Found, state: &State, wanted: &Wanted, trust: &Trust) -> PluginView {
        let on = state.running.iter().find(|it| it.chosen.is_at(&found));
        let failed = state.failed.iter().find(|(it, _)| it.is_at(&found));
        let unheard = state.unheard.iter().find(|(it, _)| it.chosen.is_at(&found));
        let clashes = state.survey.iter().flat_map(|survey| &survey.clashes);
        let mut notes: Vec<String> = clashes.clone().filter_map(|clash| clash.note_for(&found)).collect();
        notes.extend(on.map(super::notes).unwrap_or_default());
        let shut_out = clashes.clone().find(|clash| clash.shuts_out(&found));
        let became = match (on, failed, &found.manifest) {
            // What runs of it may be what it was before.
            _ if let Some((it, why)) = unheard => match why {
                Unheard::Late => PluginState::Late(told(it, why)),
                _ => PluginState::Failed(told(it, why)),
            },
            (_, Some((_, broken)), _) | (None, None, Err(broken)) => PluginState::Failed(broken.why.clone()),
            (Some(running), None, _) => match mistaken(running) {
                Some(why) => PluginState::Failed(why),
                None => PluginState::On,
            },
            (None, None, Ok(_)) if self.identity(&found, trust, &mut Witnesses::default()).is_none() => {
                PluginState::NotAccepted
            }
            (None, None, Ok(_)) if wanted.wants(&found) => {
                let note = shut_out.and_then(|clash| clash.note_for(&found));
                PluginState::Failed(note.unwrap_or_else(|| "another one has its name".to_owned()))
            }
            (None, None, Ok(_)) => PluginState::Off,
        };
        let folder = match found.code {
            Code::Folder(folder) => Some(folder),
            Code::EntryPoint(_) => None,
        };
        PluginView {
            manifest: found.manifest.unwrap_or_else(|broken| {
                let name = broken.name.unwrap_or_else(|| found.key.clone());
                Manifest { name, ..Manifest::default() }
            }),
            key: found.key,
            origin: found.origin,
            folder,
            state: became,
            offer: on.map(offered),
            notes,
            aside: on.is_some_and(|running| running.chosen.aside),
        }
    }

    /// Looks at the plugins that work and have their name to themselves.
    pub(crate) fn each<R>(&self, look: impl FnMut(&Running) -> Option<R>) -> Vec<R> {
        self.lock().running.iter().filter(|it| !it.chosen.aside).filter_map(look).collect()
    }

    /// Where plugins ask for more.
    pub(crate) fn desk(&self) -> &Arc<Desk> {
        &self.desk
    }
}

/// What counts of what a plugin offers.
fn offered(running: &Running) -> Offer {
    let offer = &running.offer;
    if running.chosen.aside {
        Offer { hooks: offer.hooks.clone(), ..Offer::default() }
    } else {
        Offer::clone(offer)
    }
}
