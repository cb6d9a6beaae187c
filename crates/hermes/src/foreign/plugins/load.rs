//! Loading plugins: each in a process of its own, described once, remembered.

use std::borrow::Cow;
use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::hook::{Before, CallEnd, CallView, EventKind, Hook, HookEvent, HookFailure, Reaction};
use hermes_core::registry::{Scope, Source};
use hermes_core::toolset::UnknownName;
use hermes_extend::launch::Consent;
use hermes_extend::plugins::entry::{Owner, scope};
use hermes_extend::plugins::hook::PluginHook;
use hermes_extend::plugins::manifest::Manifest;
use hermes_extend::plugins::offer::{Offer, OfferedTool};
use hermes_extend::plugins::start::{Code, Plugin, plugin};
use hermes_extend::plugins::subject::Subject;
use hermes_store::Home;
use serde_json::Value;

use super::choose::Chosen;
use super::{Plugins, Running, told};
use crate::foreign::asking::{Asking, Thing, Unheard};
use crate::foreign::find_plugins::{Broken, Found, Origin};
use crate::world::World;

/// One plugin that is to be loaded.
pub(super) struct Fresh {
    pub(super) chosen: Arc<Chosen>,
    pub(super) variables: Vec<(String, String)>,
    pub(super) overrides: bool,
    /// What its offer is remembered by: changes with the plugin, and with the variables that are there.
    pub(super) known_by: String,
}

impl Fresh {
    pub(super) fn key(&self) -> Cow<'_, str> {
        self.chosen.known_as()
    }

    /// Whether it has a say in what may run.
    pub(super) fn is_policy(&self) -> bool {
        self.chosen.found.is_policy()
    }
}

impl Plugins {
    /// The scope of a plugin.
    pub(super) fn scope(&self, running: &Running) -> Scope {
        let owner = Owner {
            subject: Arc::clone(&running.subject),
            desk: Arc::clone(&self.desk),
            toolset: running.key().into_owned(),
            may_override: running.overrides,
            reads: Vec::new(),
            checks: Some((self.checks.clone(), running.known_by.clone())),
        };
        // What the plugin needs, each of its tools does.
        let asked = running.manifest().map(|manifest| manifest.requires_env.as_slice()).unwrap_or_default();
        let source = Source::Plugin(running.key().into_owned());
        let tools: Cow<'_, [OfferedTool]> = match (running.chosen.aside, asked) {
            (true, _) => Cow::default(),
            (false, []) => running.offer.tools.as_slice().into(),
            (false, asked) => running.offer.tools.iter().map(|tool| needing(tool, asked)).collect(),
        };
        let scope = scope(source, &tools, &owner);
        let (key, events, subject) = (running.key(), &running.offer.hooks, &running.subject);
        let policy = running.manifest().is_some_and(|manifest| manifest.policy);
        let hook = PluginHook::of(&key, events, policy, subject, &self.desk, &self.around);
        let mistaken = mistaken(running)
            .map(|why| -> Arc<dyn Hook> { Arc::new(Shut { name: format!("plugin {key}"), why }) });
        hook.into_iter().chain(mistaken).fold(scope, Scope::hook)
    }

    /// What a plugin without an answer leaves in the registry: nothing, unless it has a say in what may
    /// run. One that is only late is waited for by every call, and without any other nothing runs.
    pub(super) fn shut(&self, fresh: &Fresh, why: &Unheard) -> Option<Scope> {
        let key = fresh.key();
        let hook = match why {
            _ if !fresh.is_policy() => return None,
            Unheard::Late => {
                let events = EventKind::ALL.into_iter().filter(|kind| !kind.is_observed());
                let events: Vec<String> = events.map(|kind| kind.name().to_owned()).collect();
                PluginHook::of(&key, &events, true, &self.subject(fresh), &self.desk, &self.around)?
            }
            _ => Arc::new(Shut { name: format!("plugin {key}"), why: told(fresh, why) }),
        };
        Some(Scope::new(Source::Plugin(key.into_owned())).hook(hook))
    }

    /// Whether nobody has asked it yet.
    pub(super) fn is_new(&self, fresh: &Fresh) -> bool {
        !self.asking.knows(&fresh.known_by) && !self.asking.is_under_way(&fresh.known_by)
    }

    /// A plugin, to be asked what it offers.
    pub(super) fn thing(&self, fresh: &Fresh) -> Thing {
        Thing { digest: fresh.known_by.clone(), subject: self.subject(fresh), alone: None }
    }

    fn subject(&self, fresh: &Fresh) -> Arc<Subject> {
        let (chosen, variables) = (Arc::clone(&fresh.chosen), fresh.variables.clone());
        let home = self.home.clone();
        plugin(&fresh.key(), &self.around.doors, &self.desk, move || made(&chosen, variables, &home))
    }

    /// The plugins that could not be heard and that are meant, to be asked again.
    pub(crate) fn again(&self, meant: impl Fn(&str, &Unheard) -> bool) -> Vec<Thing> {
        let state = self.lock();
        let unheard = state.unheard.iter().filter(|(it, why)| meant(&it.chosen.found.key, why));
        unheard.map(|(it, _)| self.thing(it)).collect()
    }

    /// These plugins, whether or not they were heard before this program began, to be asked again.
    pub(crate) fn anew(&self, keys: &[String]) -> Vec<Thing> {
        let mut things = self.again(|key, _| keys.iter().any(|it| it == key));
        let state = self.lock();
        let is_named = |it: &Running| keys.contains(&it.chosen.found.key);
        let meant = |it: &&Running| is_named(it) && !self.asking.heard_lately(&it.known_by);
        let meant = state.running.iter().filter(meant);
        things.extend(meant.map(|it| {
            let fresh = Fresh {
                chosen: Arc::clone(&it.chosen),
                variables: it.variables.clone(),
                overrides: it.overrides,
                known_by: it.known_by.clone(),
            };
            self.thing(&fresh)
        }));
        things
    }

    /// Where these are asked.
    pub(crate) fn asking(&self) -> &Asking {
        &self.asking
    }

    /// Why plugins that are switched on are not there: any of them may have the tool somebody misses.
    pub(crate) fn why_missing(&self) -> Vec<String> {
        let state = self.lock();
        let unheard = state.unheard.iter();
        unheard.map(|(it, why)| format!("plugin {}: {}", it.key(), told(it, why))).collect()
    }

    /// A plugin that said what it offers. Its tools may need more than its manifest told: then it is
    /// started with that as well.
    pub(super) fn loaded(&self, fresh: Fresh, offer: Arc<Offer>, world: &World) -> Running {
        let asked = offer.tools.iter().flat_map(|tool| tool.requires_env.iter());
        let names = sorted(fresh.chosen.found.requires_env().chain(asked));
        let fresh = Fresh { variables: values(&names, world), ..fresh };
        let subject = self.subject(&fresh);
        let Fresh { chosen, variables, overrides, known_by, .. } = fresh;
        Running { chosen, subject, offer, variables, overrides, known_by }
    }
}

/// What it takes to start a plugin.
fn made(chosen: &Chosen, variables: Vec<(String, String)>, home: &Home) -> Plugin {
    let Chosen { found, identity, .. } = chosen;
    let consent = match &found.code {
        Code::Folder(folder) if found.origin == Origin::Project => {
            Consent::Accepted { what: folder.display().to_string(), digest: identity.clone() }
        }
        Code::Folder(folder) => Consent::Home(folder.clone()),
        Code::EntryPoint(_) => Consent::Configured("plugins.enabled".to_owned()),
    };
    Plugin {
        key: chosen.known_as().into_owned(),
        // One that cannot be read is not started.
        manifest: found.manifest.clone().unwrap_or_default(),
        code: found.code.clone(),
        consent,
        variables,
        home: home.path().to_path_buf(),
        profile: home.profile().unwrap_or("default").to_owned(),
    }
}

/// Why a plugin cannot have the say that it is meant to have: it wants to hear of what never happens, so that it
/// would be passed over.
pub(super) fn mistaken(running: &Running) -> Option<String> {
    let policy = running.manifest().is_some_and(|manifest| manifest.policy);
    let unknown = running.offer.hooks.iter().find(|event| EventKind::named(event).is_none())?;
    let unknown = UnknownName::among(unknown, EventKind::ALL.map(EventKind::name));
    let way_out = format!("`hermes plugins disable {}` is the way out", running.key());
    policy.then(|| format!("it has a hook for an event that there is not: {unknown}; {way_out}"))
}

/// What a plugin that cannot even be asked leaves in the registry: nothing, unless it is meant to have a say.
pub(super) fn shut_out(chosen: &Chosen, broken: &Broken) -> Option<Scope> {
    let why = format!("{}; `hermes plugins disable {}` is the way out", broken.why, chosen.found.key);
    let key = chosen.known_as().into_owned();
    let hook = || Arc::new(Shut { name: format!("plugin {key}"), why });
    broken.policy.then(|| Scope::new(Source::Plugin(key.clone())).hook(hook()))
}

/// Stands where a plugin should have a say, and lets nothing through: nobody knows which events it would
/// have wanted to decide about, so it fails at all of them.
struct Shut {
    name: String,
    why: String,
}

impl Shut {
    fn failed<T>(&self) -> BoxFuture<'_, Result<T, HookFailure>>
    where
        T: Send + 'static,
    {
        Box::pin(std::future::ready(Err(HookFailure(self.why.clone()))))
    }
}

impl Hook for Shut {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_policy(&self) -> bool {
        true
    }

    fn before<'a>(&'a self, _: &'a CallView) -> BoxFuture<'a, Result<Before, HookFailure>> {
        self.failed()
    }

    fn transform<'a>(
        &'a self,
        _: &'a CallView,
        _: &'a CallEnd,
    ) -> BoxFuture<'a, Result<Option<Value>, HookFailure>> {
        self.failed()
    }

    fn hears(&self, kind: EventKind) -> bool {
        !kind.is_observed()
    }

    fn told<'a>(&'a self, _: &'a HookEvent) -> BoxFuture<'a, Result<Option<Reaction>, HookFailure>> {
        self.failed()
    }
}

/// A tool that needs these variables too.
fn needing(tool: &OfferedTool, asked: &[String]) -> OfferedTool {
    let mut tool = tool.clone();
    let more = asked.iter().filter(|name| !tool.requires_env.contains(name)).cloned().collect::<Vec<_>>();
    tool.requires_env.extend(more);
    tool
}

/// What an offer is remembered by: a plugin may offer more once a variable that it asked for is there.
pub(super) fn known_by(chosen: &Chosen, manifest: &Manifest, world: &World) -> String {
    let set: Vec<&String> =
        manifest.requires_env.iter().filter(|name| world.variable(name).is_some()).collect();
    if set.is_empty() { chosen.identity.clone() } else { format!("{} {set:?}", chosen.identity) }
}

/// The variables a plugin asked for: in its manifest, or by its tools when it was last loaded.
pub(super) fn needs(found: &Found, running: &[Running]) -> Vec<String> {
    let loaded = running.iter().filter(|it| it.chosen.is_at(found)).flat_map(|it| it.offer.tools.iter());
    sorted(found.requires_env().chain(loaded.flat_map(|tool| tool.requires_env.iter())))
}

/// Each name once, in order.
fn sorted<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = names.cloned().collect();
    names.sort();
    names.dedup();
    names
}

pub(super) fn values(names: &[String], world: &World) -> Vec<(String, String)> {
    names.iter().filter_map(|name| Some((name.clone(), world.variable(name)?.to_owned()))).collect()
}
