//! Loading plugins: each in a process of its own, described once, remembered.

use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt as _;
use futures::future::select;
use hermes_core::registry::{Scope, Source};
use hermes_core::wait::wait;
use hermes_extend::launch::Consent;
use hermes_extend::plugins::entry::{Owner, scope};
use hermes_extend::plugins::hook::PluginHook;
use hermes_extend::plugins::manifest::Manifest;
use hermes_extend::plugins::offer::Offer;
use hermes_extend::plugins::start::{Code, Plugin, plugin};
use hermes_extend::plugins::subject::Subject;

use super::{FIRST, KEPT, Plugins, Running};
use crate::foreign::find_plugins::{Found, Origin};
use crate::foreign::learnt::Learnt;
use crate::world::World;

/// How many plugins are started at once.
const AT_ONCE: usize = 8;

/// One plugin that is to be loaded.
pub(super) struct Fresh {
    pub(super) found: Found,
    pub(super) manifest: Manifest,
    pub(super) identity: String,
    pub(super) variables: Vec<(String, String)>,
    pub(super) overrides: bool,
}

impl Plugins {
    pub(super) fn made(
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
    pub(super) fn scope(&self, running: &Running) -> Scope {
        let owner = Owner {
            subject: Arc::clone(&running.subject),
            desk: Arc::clone(&self.desk),
            toolset: running.key.clone(),
            may_override: running.overrides,
            reads: Vec::new(),
        };
        let scope = scope(Source::Plugin(running.key.clone()), &running.offer.tools, &owner);
        match PluginHook::of(
            &running.key,
            &running.offer.hooks,
            running.manifest.policy,
            &running.subject,
            &self.around,
        ) {
            Some(hook) => scope.hook(hook),
            None => scope,
        }
    }

    /// Hears what plugins offer, those first that are known already.
    pub(super) fn learn(
        &self,
        learnt: &mut Learnt,
        new: &[(String, Arc<Subject>)],
    ) -> Vec<Result<Offer, String>> {
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

    /// A plugin that said what it offers. Its tools may need more than its manifest told: then it is
    /// started with that as well.
    pub(super) fn loaded(&self, fresh: Fresh, subject: Arc<Subject>, offer: Offer, world: &World) -> Running {
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
}

/// The variables a plugin asked for: in its manifest, or by its tools when it was last loaded.
pub(super) fn needs(found: &Found, running: &[Running]) -> Vec<String> {
    let written = found.manifest.iter().flat_map(|manifest| manifest.requires_env.iter());
    let loaded = running.iter().filter(|it| it.key == found.key).flat_map(|it| it.offer.tools.iter());
    let mut names: Vec<String> =
        written.chain(loaded.flat_map(|tool| tool.requires_env.iter())).cloned().collect();
    names.sort();
    names.dedup();
    names
}

pub(super) fn values(names: &[String], world: &World) -> Vec<(String, String)> {
    names.iter().filter_map(|name| Some((name.clone(), world.variable(name)?.to_owned()))).collect()
}
