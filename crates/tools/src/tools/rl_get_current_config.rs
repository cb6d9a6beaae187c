//! `rl_get_current_config`: how the next run would be configured.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::rl;
use crate::rl::desk::{CHOICE, chosen};
use crate::rl::fields::shown;
use crate::toolsets::rl as rl_set;

pub(crate) const TOOL: ToolDef = ToolDef::of::<GetCurrentConfig>("rl_get_current_config", &rl_set::TOOLSET)
    .emoji("🧪")
    .gate(rl::gate)
    .requires_env(rl::KEYS)
    .variables(rl::variables)
    .read_only();

/// Show the configuration of the selected environment: every field with its type, its default and its value, and
/// the fields that are locked because the run, the model and its cost depend on them.
#[derive(Deserialize, JsonSchema)]
struct GetCurrentConfig {}

impl Tool for GetCurrentConfig {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::ReadSlot(CHOICE)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let chosen = chosen(cx)?;
        let (open, locked) = shown(&chosen.fields, &chosen.edits);
        Ok(json!({
            "environment": chosen.found.environment.name,
            "configurable_fields": open,
            "locked_fields": locked,
            "changed": chosen.edits,
        }))
    }
}
