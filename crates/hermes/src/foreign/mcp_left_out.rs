//! In place of the MCP servers of the configuration, where none is to be offered or started.
//!
//! Their toolsets stay, empty, so that a selection which names one means the same everywhere.

use std::sync::{Mutex, PoisonError};

use hermes_core::registry::{Scope, Source};
use hermes_core::toolset::DynamicToolset;
use serde_json::Value;

use super::{Changes, Kind, Sake};
use crate::world::World;

/// The servers that are left out, by the revision of the world that named them.
#[derive(Default)]
pub(crate) struct LeftOut(Mutex<Option<(u64, Vec<String>)>>);

impl Kind for LeftOut {
    fn look(&self, world: &World, _: Sake) -> Changes {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.as_ref().is_some_and(|(revision, _)| *revision == world.revision()) {
            return Changes::default();
        }
        let names: Vec<String> = match world.config_as_written("mcp_servers") {
            Some(Value::Object(servers)) => servers.keys().cloned().collect(),
            _ => Vec::new(),
        };
        let (_, before) = seen.replace((world.revision(), names.clone())).unwrap_or_default();
        let empty = |name: &String| {
            Scope::new(Source::Mcp(name.clone())).toolset(DynamicToolset::mcp(name, Vec::new()))
        };
        Changes {
            removed: before.into_iter().filter(|name| !names.contains(name)).map(Source::Mcp).collect(),
            installed: names.iter().map(empty).collect(),
            problems: Some(told(&names).into_iter().collect()),
            ..Changes::default()
        }
    }
}

/// That they are left out, if there are any.
fn told(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| {
        format!(
            "MCP servers of the configuration are left out here ({}): another hermes has started this one, and has \
             them itself",
            names.join(", ")
        )
    })
}
