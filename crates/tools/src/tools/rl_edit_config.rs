//! `rl_edit_config`: one field of the next run's configuration.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::rl;
use crate::rl::desk::{CHOICE, edit};
use crate::toolsets::rl as rl_set;

pub(crate) const TOOL: ToolDef = ToolDef::of::<EditConfig>("rl_edit_config", &rl_set::TOOLSET)
    .emoji("🧪")
    .gate(rl::gate)
    .requires_env(rl::KEYS)
    .variables(rl::variables);

/// Change one field of the selected environment's configuration. `rl_get_current_config` lists the fields; locked
/// ones, such as the model, the addresses, the `LoRA` rank and the learning rate, stay as they are.
#[derive(Deserialize, JsonSchema)]
struct EditConfig {
    /// Name of the field
    field: String,
    /// Its new value
    value: Value,
}

impl Tool for EditConfig {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::WriteSlot(CHOICE)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let field = self.field.trim();
        let (value, changed) = edit(cx, field, &self.value)?;
        Ok(json!({
            "message": format!("{field} is {value} now"),
            "field": field,
            "value": value,
            "config": changed,
        }))
    }
}
