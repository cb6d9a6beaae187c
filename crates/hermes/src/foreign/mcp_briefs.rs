//! What a start is told of MCP servers without reading their configuration or what is known of them: what they
//! offer is kept, ready to be told to the registry.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use hermes_core::digest::{digest, digest_pair};
use hermes_core::packed::{Packer, Unpacker};
use hermes_core::registry::Scope;
use hermes_extend::mcp::client::{
    Late, Mark, Outside, Read, Server, Told, absent, expanded, names_any, read_servers,
};
use hermes_store::foreign::Stamp;
use hermes_store::witness::Witnesses;
use serde_json::Value;

use super::mcp_vault::HomeVault;
use crate::world::World;

/// Changes with what is packed, and with what is made of what is written.
const VERSION: u64 = 3;

/// `mcp_servers` as it is written, and what the variables are that it names.
#[derive(Clone, Default)]
pub(super) struct Section {
    // What is written is shown to people, without what its variables stand for.
    written: Option<Arc<Value>>,
    variables: Arc<BTreeMap<String, String>>,
    fingerprint: u64,
}

impl Section {
    /// That of this moment; none where everything foreign is switched off.
    pub(super) fn of(world: &World) -> Self {
        let on = |name: &str| {
            world.variable(name).is_some_and(|it| !matches!(it, "" | "0" | "false" | "no" | "off"))
        };
        let written = world.config_as_written("mcp_servers").filter(|_| !on("HERMES_SAFE_MODE"));
        let Some(written) = written else { return Self::default() };
        let mut fingerprint = digest_pair(VERSION, digest(&written));
        let variables = RefCell::new(BTreeMap::new());
        if names_any(&written) {
            let value = |name: &str| {
                let value = world.variable(name)?.to_owned();
                variables.borrow_mut().insert(name.to_owned(), value.clone());
                Some(value)
            };
            fingerprint = digest_pair(fingerprint, digest(&expanded(&written, &value)));
        }
        Self { written: Some(Arc::new(written)), variables: Arc::new(variables.into_inner()), fingerprint }
    }

    /// Whether there is one.
    pub(super) fn is_there(&self) -> bool {
        self.written.is_some()
    }

    /// All servers in it.
    pub(super) fn read(&self) -> Read {
        read_servers(self.written.as_deref(), &|name| self.variables.get(name).cloned())
    }
}

/// What servers are made from. What they offer may be known before it.
pub(super) type Ground = OnceLock<(Section, Arc<Outside>)>;

/// A server that is made when it is first needed.
fn late(name: &str, mark: Option<Mark>, ground: &Arc<Ground>) -> Late {
    let (name, ground) = (name.to_owned(), Arc::clone(ground));
    Late::new(move || {
        let (section, outside) = ground.wait();
        let found = section.read().servers.into_iter().find(|config| config.name == name);
        // It was there when this was kept, and the section is the same.
        Server::expected(found.unwrap_or_else(|| absent(&name)), Arc::clone(outside), mark)
    })
}

/// What was kept of all servers.
pub(super) struct Briefs {
    /// What was known of any server, before this was read.
    pub(super) seen: Option<Stamp>,
    /// Fingerprint of the section that it was kept for.
    section: u64,
    pub(super) complaints: Vec<String>,
    pub(super) servers: Vec<Brief>,
    /// To be laid before anybody is told of them.
    pub(super) ground: Arc<Ground>,
}

/// What was kept of one that is switched on.
pub(super) struct Brief {
    pub(super) name: String,
    /// What it was known by then.
    pub(super) mark: Option<Mark>,
    /// What it offers; nothing where that is still to be found out.
    pub(super) told: Option<BriefOffer>,
}

/// What it offers, and what is wrong with that.
pub(super) struct BriefOffer {
    pub(super) server: Late,
    pub(super) scope: Scope,
    pub(super) problems: Vec<String>,
}

impl Briefs {
    /// What an earlier start kept, if nothing else is known by now.
    pub(super) fn read(vault: &HomeVault) -> Option<Self> {
        let seen = vault.stamp();
        let kept = vault.home()?.briefs()?;
        let (mut packed, mut marks) = (Unpacker::new(&kept.body), kept.marks.into_iter());
        let ground = Arc::default();
        let servers = packed.list(|packed| {
            let (name, mark) = (packed.text()?.to_owned(), marks.next()?.map(|stamp| stamp.words()));
            let server = || late(&name, mark, &ground);
            let told = if packed.flag()? { Some(BriefOffer::unpack(packed, server())?) } else { None };
            Some(Brief { name, mark, told })
        })?;
        Some(Self { seen, section: kept.configuration, complaints: kept.complaints, servers, ground })
    }

    /// Whether it was kept for this section.
    pub(super) fn are_of(&self, section: &Section) -> bool {
        self.section == section.fingerprint
    }

    /// Keeps what there is to say of servers. `seen` tells what they were known by, in the same order.
    pub(super) fn keep<'a>(
        section: &Section,
        servers: impl ExactSizeIterator<Item = (&'a str, &'a Server)>,
        complaints: &[String],
        seen: Witnesses,
        vault: &HomeVault,
    ) {
        let Some(home) = vault.home() else { return };
        let mut packer = Packer::default();
        packer.list(servers, |packer, (name, server)| {
            packer.text(name);
            match server.brief() {
                Some((told, problems)) => {
                    told.pack(packer.flag(true));
                    packer.list(problems.iter(), |packer, problem| _ = packer.text(problem));
                }
                None => _ = packer.flag(false),
            }
        });
        home.keep_briefs(section.fingerprint, complaints, seen, packer.packed());
    }
}

impl BriefOffer {
    fn unpack(packed: &mut Unpacker<'_>, server: Late) -> Option<Self> {
        let scope = Told::unpack(packed)?.scope(&server);
        let problems = packed.list(|packed| packed.text().map(str::to_owned))?;
        Some(Self { server, scope, problems })
    }
}
