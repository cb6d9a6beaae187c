//! The roster: the plugins that are switched on and what each of them offers, kept from one start to the
//! next in one file. A start that finds the dates of their files as they were reads nothing else.

use std::sync::Arc;

use hermes_extend::plugins::offer::Offer;
use hermes_store::witness::{Kept, forget};
use serde::{Deserialize, Serialize};

use super::choose::{Chosen, Lasting, Survey, Wanted};
use super::{Plugins, Running};

/// Where it is kept.
const ROSTER: &str = "plugin-roster.json";

/// Changes with what is written.
const VERSION: u32 = 2;

#[derive(Deserialize)]
struct Roster {
    version: u32,
    wanted: Wanted,
    missing: Vec<String>,
    plugins: Vec<(Chosen, String, Offer)>,
}

/// The same, to be written.
#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    wanted: &'a Wanted,
    missing: &'a [String],
    plugins: Vec<(&'a Chosen, &'a str, &'a Offer)>,
}

impl Plugins {
    /// What an earlier start kept, if it is still so. What the plugins offer is then known.
    pub(super) fn read_roster(&self, wanted: &Wanted) -> Option<Lasting> {
        if wanted.enabled.is_empty() {
            return None;
        }
        let Kept { witnesses, found } = Kept::<Roster>::read(&self.home, ROSTER)?;
        if found.version != VERSION || found.wanted != *wanted {
            return None;
        }
        let mut chosen = Vec::with_capacity(found.plugins.len());
        for (plugin, known_by, offer) in found.plugins {
            self.asking.remember(&known_by, offer);
            chosen.push(Arc::new(plugin));
        }
        Some(Lasting { witnesses, chosen, is_kept: true, is_open: false, missing: found.missing })
    }

    /// Keeps what was found for starts to come. A roster in which somebody is missing is no use: whoever is
    /// late or failed is asked again one day, and what comes of that is kept elsewhere.
    pub(super) fn keep_roster(&self, survey: &Survey, running: &[Running]) {
        let lasting = &survey.lasting;
        if lasting.is_kept && self.asking.heard() == 0 {
            return;
        }
        let runs = |it: &Arc<Chosen>| survey.chosen.iter().any(|other| Arc::ptr_eq(it, other));
        if !lasting.chosen.iter().all(runs) {
            // The project has one of the same key, and of the other it may never have been asked.
            return;
        }
        let heard = |it: &'_ Arc<Chosen>| running.iter().find(|other| other.chosen.is(it));
        let all: Option<Vec<&Running>> = lasting.chosen.iter().map(heard).collect();
        // Without a cache a start takes longer, and that is all.
        let _ = match all.filter(|_| !lasting.is_open) {
            Some(all) => {
                let parts = all.iter().map(|it| (&*it.chosen, it.known_by.as_str(), &*it.offer));
                let plugins = parts.collect();
                let (wanted, missing) = (survey.wanted(), lasting.missing.as_slice());
                let found = Written { version: VERSION, wanted, missing, plugins };
                Kept { witnesses: lasting.witnesses.clone(), found }.keep(&self.home, ROSTER)
            }
            None => forget(&self.home, ROSTER),
        };
    }
}
