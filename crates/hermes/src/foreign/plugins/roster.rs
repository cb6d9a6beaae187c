//! The roster: the plugins that are switched on and what each of them offers, kept from one start to the
//! next in one file. A start that finds the dates of their files as they were reads nothing else.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_extend::plugins::offer::Offer;
use hermes_store::witness::{Kept, forget};
use serde::{Deserialize, Serialize};

use super::choose::{Chosen, Lasting, Survey, Wanted};
use super::{Plugins, Running};
use crate::world::World;

/// Where it is kept.
const ROSTER: &str = "plugin-roster.json";

/// Changes with what is written.
const VERSION: u32 = 5;

/// What is to be known of all plugins together.
#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    wanted: Wanted,
    missing: Vec<String>,
    /// Where plugins of projects lie that were accepted with a say in what may run.
    policies: Vec<PathBuf>,
    /// Whether none of them has a say in what tools of others do: no hooks, no tools that stand in for others.
    is_quiet: bool,
    /// The variables that plugins asked for, and whether they were set: with others set a plugin may offer
    /// something else.
    variables: Vec<(String, bool)>,
}

impl Plugins {
    /// What an earlier start kept, if it is still so. What the plugins offer is then known.
    pub(super) fn read_roster(&self, wanted: &Wanted) -> Option<Lasting> {
        let Kept { witnesses, head, body } = self.kept_roster(wanted)?;
        let plugins: Vec<(Chosen, Option<String>, Offer)> = serde_json::from_str(&body).ok()?;
        let mut chosen = Vec::with_capacity(plugins.len());
        for (plugin, known_by, offer) in plugins {
            self.asking.remember(known_by.as_ref().unwrap_or(&plugin.identity), offer);
            chosen.push(Arc::new(plugin));
        }
        let Head { missing, policies, .. } = head;
        Some(Lasting { witnesses, chosen, is_kept: true, is_open: false, missing, policies })
    }

    /// Whether it is known, without looking at each of them, that no plugin has a say in what tools of others
    /// do.
    pub(super) fn are_quiet(&self, wanted: &Wanted, world: &World) -> bool {
        let as_before = |(name, was_set): &(String, bool)| world.variable(name).is_some() == *was_set;
        let is_quiet = |head: Head| {
            head.is_quiet && !self.has_policy(&head.policies) && head.variables.iter().all(as_before)
        };
        !self.has_project() && self.kept_roster(wanted).is_some_and(|kept| is_quiet(kept.head))
    }

    fn kept_roster(&self, wanted: &Wanted) -> Option<Kept<Head>> {
        if wanted.enabled.is_empty() {
            return None;
        }
        let kept = Kept::<Head>::read(&self.home, ROSTER)?;
        (kept.head.version == VERSION && kept.head.wanted == *wanted).then_some(kept)
    }

    /// Keeps what was found for starts to come. A roster in which somebody is missing is no use: whoever is
    /// late or failed is asked again one day, and what comes of that is kept elsewhere.
    pub(super) fn keep_roster(&self, survey: &Survey, running: &[Running], world: &World) {
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
                let (witnesses, body) = (lasting.witnesses.clone(), body(&all));
                let head = head(survey, &all, world);
                Kept { witnesses, head, body }.keep(&self.home, ROSTER)
            }
            None => forget(&self.home, ROSTER),
        };
    }
}

/// Each plugin, by what its offer is remembered where that is not what the plugin is known by, and the offer.
fn body(all: &[&Running]) -> String {
    let lines: Vec<(&Chosen, Option<&String>, &Offer)> = all
        .iter()
        .map(|it| (&*it.chosen, Some(&it.known_by).filter(|by| **by != it.chosen.identity), &*it.offer))
        .collect();
    serde_json::to_string(&lines).unwrap_or_default()
}

fn head(survey: &Survey, all: &[&Running], world: &World) -> Head {
    let has_a_say = |it: &&Running| {
        let policy = it.manifest().is_none_or(|manifest| manifest.policy);
        policy || !it.offer.hooks.is_empty() || it.offer.tools.iter().any(|tool| tool.overrides)
    };
    let mut asked: Vec<&String> = all.iter().flat_map(|it| it.chosen.found.requires_env()).collect();
    asked.sort();
    asked.dedup();
    Head {
        version: VERSION,
        wanted: survey.wanted().clone(),
        missing: survey.lasting.missing.clone(),
        policies: survey.lasting.policies.clone(),
        is_quiet: !all.iter().any(has_a_say),
        variables: asked.into_iter().map(|name| (name.clone(), world.variable(name).is_some())).collect(),
    }
}
