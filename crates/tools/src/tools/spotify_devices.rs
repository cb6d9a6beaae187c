//! `spotify_devices`: where music can play, and moving it there.

use hermes_core::cx::ToolCx;
use hermes_core::effect::{ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::api::{Ask, Plan, needed, set};
use crate::spotify::{self as lib, SERVICE};
use crate::toolsets::spotify;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Devices>("spotify_devices", &spotify::TOOLSET)
    .emoji("🔈")
    .gate(lib::gate)
    .variables(lib::variables)
    .untrusted();

/// The person's Spotify devices: list those that are reachable now, or transfer what is playing to one of
/// them.
#[derive(Deserialize, JsonSchema)]
struct Devices {
    /// What to do
    action: Action,
    /// Where to play, for transfer: the id of a listed device
    device_id: Option<String>,
    /// Whether to play on after a transfer, even if nothing was playing
    play: Option<bool>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Transfer,
}

impl Tool for Devices {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.plan())
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        lib::run(cx, self.plan(), "transfer").await
    }
}

impl Devices {
    fn plan(&self) -> Result<Plan, ToolError> {
        if let Action::List = self.action {
            return Ok(Plan::look(Ask::get(&["me", "player", "devices"])));
        }
        let device = needed(self.device_id.as_deref(), "device_id", "transfer")?;
        let mut body = json!({ "device_ids": [device] });
        if let Some(play) = self.play {
            set(&mut body, "play", json!(play));
        }
        let detail = format!("play on the device {device}");
        Ok(Plan::act(ActKind::Control, detail, Ask::put(&["me", "player"]).json(body)))
    }
}
