//! The MCP servers of a runtime at one moment: what the configuration says of them, and what the registry was told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use hermes_core::registry::Source;
use hermes_extend::mcp::client::{Late, Mark, Misread, Outside, Read, Server, ServerConfig, Status};
use hermes_store::foreign::Stamp;
use hermes_store::witness::Witnesses;
use serde_json::Value;

use super::Changes;
use super::ahead::Ahead;
use super::mcp_briefs::{Brief, BriefOffer, Briefs, Section};
use super::mcp_vault::HomeVault;
use crate::world::World;

/// The servers of a runtime, and what was told of them.
#[derive(Default)]
pub(super) struct State {
    /// The revision of the world that this was made from.
    pub(super) revision: Option<u64>,
    pub(super) servers: BTreeMap<String, Slot>,
    section: Section,
    /// What the configuration says of servers that do not run; read when somebody asks.
    others: Option<Others>,
    /// What is wrong with the configuration, in words.
    pub(super) complaints: Vec<String>,
    pub(super) wait: Option<Duration>,
    /// The folder of what is known, as it was when it was last looked at.
    pub(super) seen: Option<Stamp>,
    /// What servers were known by when all of them were read, until it is kept for the next start.
    pub(super) to_keep: Option<Witnesses>,
}

/// Servers of the configuration that do not run.
pub(super) struct Others {
    pub(super) switched_off: Vec<ServerConfig>,
    pub(super) misread: Vec<Misread>,
    /// What is wrong with the section itself.
    pub(super) problems: Vec<String>,
}

/// A server that is switched on.
pub(super) struct Slot {
    pub(super) server: Late,
    /// What was told to the registry last: what it offers, and what is to be said about it.
    pub(super) told: Option<(u64, Option<Status>)>,
    /// What it was known by when it was told so, for one that nobody has made yet.
    pub(super) mark: Option<Mark>,
    pub(super) problems: Vec<String>,
}

impl Slot {
    fn of(server: Server) -> Self {
        Self { server: server.into(), told: None, mark: None, problems: Vec::new() }
    }

    /// One of which the registry is told without it.
    fn unmade(server: Late, mark: Option<Mark>, problems: Vec<String>) -> Self {
        Self { server, told: Some((1, None)), mark, problems }
    }

    /// How it stands, as far as a registry and people want to know.
    pub(super) fn standing(&self) -> (u64, Option<Status>) {
        match self.server.made() {
            Some(server) => (server.generation(), server.trouble()),
            None => (1, None),
        }
    }
}

impl State {
    /// The servers that have not said yet what they offer, as they were last told.
    pub(super) fn unheard(&self) -> Vec<String> {
        let quiet = |(name, slot): (&String, &Slot)| {
            let (_, trouble) = slot.told.as_ref()?;
            matches!(trouble, Some(Status::New | Status::Starting)).then(|| name.clone())
        };
        self.servers.iter().filter_map(quiet).collect()
    }

    pub(super) fn others(&mut self) -> &Others {
        let section = &self.section;
        self.others.get_or_insert_with(|| {
            let Read { servers, misread, problems } = section.read();
            let switched_off = servers.into_iter().filter(|config| !config.enabled).collect();
            Others { switched_off, misread, problems }
        })
    }

    /// Takes over what the configuration says now; what went, and what is known of servers without making them.
    /// `ahead` is what an earlier start kept of them, if somebody reads that or has.
    pub(super) fn reread(
        &mut self,
        world: &World,
        vault: &HomeVault,
        ahead: &Ahead<Option<Briefs>>,
        outside: &Arc<Outside>,
    ) -> Changes {
        let is_first = self.revision.is_none();
        self.section = Section::of(world);
        self.others = None;
        self.wait = world
            .config("mcp_discovery_timeout")
            .as_ref()
            .and_then(Value::as_f64)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        if is_first
            && self.section.is_there()
            && let Some(briefs) = ahead.take().unwrap_or_else(|| Briefs::read(vault))
            && briefs.are_of(&self.section)
        {
            return self.take(briefs, outside);
        }
        // Before anything is read: what is written in between is then noticed.
        self.seen = vault.stamp();
        let read = self.section.read();
        self.complaints = read.complaints();
        let Read { servers, misread, problems } = read;
        let (on, switched_off): (Vec<_>, Vec<_>) = servers.into_iter().partition(|config| config.enabled);
        self.others = Some(Others { switched_off, misread, problems });
        if is_first && !on.is_empty() {
            let names: BTreeSet<&str> = on.iter().map(|config| config.name.as_str()).collect();
            self.to_keep = vault.home().map(|home| home.seen(names));
        }
        let mut before = std::mem::take(&mut self.servers);
        for config in on {
            let name = config.name.clone();
            let slot = match before.remove(&name) {
                Some(slot) if *slot.server.get().config() == config => slot,
                _ => Slot::of(Server::new(config, Arc::clone(outside))),
            };
            self.servers.insert(name, slot);
        }
        outside.ring.keep(|name| self.servers.contains_key(name));
        let gone = before.into_keys().filter(|name| !self.servers.contains_key(name));
        Changes { removed: gone.map(Source::Mcp).collect(), ..Changes::default() }
    }

    /// Takes over what an earlier start has kept.
    fn take(&mut self, briefs: Briefs, outside: &Arc<Outside>) -> Changes {
        let mut changes = Changes::default();
        (self.seen, self.complaints) = (briefs.seen, briefs.complaints);
        // Nobody else has it.
        let _ = briefs.ground.set((self.section.clone(), Arc::clone(outside)));
        let mut read = None;
        for Brief { name, mark, told } in briefs.servers {
            let slot = if let Some(BriefOffer { server, scope, problems }) = told {
                changes.installed.push(scope);
                Slot::unmade(server, mark, problems)
            } else {
                // It may work by now, or somebody may have logged in.
                let read: &Read = read.get_or_insert_with(|| self.section.read());
                let Some(config) = read.servers.iter().find(|it| it.name == name) else { continue };
                Slot::of(Server::new(config.clone(), Arc::clone(outside)))
            };
            self.servers.insert(name, slot);
        }
        changes
    }

    /// Keeps for the next start what there is to say of all servers.
    pub(super) fn keep(&self, seen: Witnesses, vault: &HomeVault) {
        let servers = self.servers.iter().map(|(name, slot)| (name.as_str(), slot.server.get()));
        Briefs::keep(&self.section, servers, &self.complaints, seen, vault);
    }
}
