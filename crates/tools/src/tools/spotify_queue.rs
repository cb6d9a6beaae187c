//! `spotify_queue`: what will play next.

use hermes_core::cx::ToolCx;
use hermes_core::effect::{ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::{Ask, Plan, needed};
use crate::spotify::{self as lib, SERVICE, names};
use crate::toolsets::spotify;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Queue>("spotify_queue", &spotify::TOOLSET)
    .emoji("📻")
    .gate(lib::gate)
    .variables(lib::variables)
    .untrusted();

/// What will play next on Spotify: look at the queue, or add a track or an episode to it.
#[derive(Deserialize, JsonSchema)]
struct Queue {
    /// What to do
    action: Action,
    /// What to add, such as spotify:track:…
    uri: Option<String>,
    /// Where; the active device if left out
    device_id: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Get,
    Add,
}

impl Tool for Queue {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.plan())
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        lib::run(cx, self.plan(), "add").await
    }
}

impl Queue {
    fn plan(&self) -> Result<Plan, ToolError> {
        let path = ["me", "player", "queue"];
        if let Action::Get = self.action {
            return Ok(Plan::look(Ask::get(&path)));
        }
        let uri = names::uri(needed(self.uri.as_deref(), "uri", "add")?, "track")?;
        let detail = format!("add {uri} to the queue");
        let ask = Ask::post(&path).query("uri", Some(&uri)).query("device_id", self.device_id.as_deref());
        Ok(Plan::act(ActKind::Control, detail, ask))
    }
}
