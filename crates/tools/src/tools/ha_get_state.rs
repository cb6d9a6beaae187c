//! `ha_get_state`: everything about one entity.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::suggest::suggest;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::api::{Api, Ask, picked};
use crate::homeassistant::{self as ha, EntityId, SERVICE};
use crate::toolsets::homeassistant;

pub(crate) const TOOL: ToolDef = ToolDef::of::<GetState>("ha_get_state", &homeassistant::TOOLSET)
    .emoji("🏠")
    .gate(ha::gate)
    .variables(ha::variables)
    .untrusted()
    .read_only();

/// Most ids that are offered for one that does not exist.
const OFFERED: usize = 5;

/// Look at one entity of Home Assistant: its state, all of its attributes (brightness, temperature, what
/// is playing, …) and when it last changed.
#[derive(Deserialize, JsonSchema)]
struct GetState {
    /// Which, such as light.kitchen or climate.thermostat
    entity_id: EntityId,
}

impl Tool for GetState {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![SERVICE.connects()]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let api = ha::connect(cx)?;
        let id = self.entity_id.as_str();
        match api.ask(Ask::get(&["api", "states", id])).await {
            Ok(state) => {
                let fields = ["entity_id", "state", "attributes", "last_changed", "last_updated"];
                Ok(json!({ "result": picked(&state, &fields) }))
            }
            Err(error) if error.status() == Some(404) => Err(unknown(&api, id).await),
            Err(error) => Err(error.into()),
        }
    }
}

/// There is no such entity; which might have been meant.
async fn unknown(api: &Api<'_>, id: &str) -> ToolError {
    let all = api.ask(Ask::get(&["api", "states"])).await.unwrap_or_default();
    let ids = all.as_array().into_iter().flatten().filter_map(|state| state.get("entity_id")?.as_str());
    let near = suggest(id, ids, OFFERED);
    let hint = if near.is_empty() { String::new() } else { format!("; near to it: {}", near.join(", ")) };
    ToolError::Failed(format!("{} has no entity {id}{hint}", SERVICE.name))
}
