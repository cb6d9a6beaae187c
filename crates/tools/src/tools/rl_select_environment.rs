//! `rl_select_environment`: what the next run trains on.

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::rl;
use crate::rl::desk::{CHOICE, choose};
use crate::rl::grounds::Grounds;
use crate::toolsets::rl as rl_set;

pub(crate) const TOOL: ToolDef = ToolDef::of::<SelectEnvironment>("rl_select_environment", &rl_set::TOOLSET)
    .emoji("🧪")
    .gate(rl::gate)
    .requires_env(rl::KEYS)
    .variables(rl::variables);

/// Select the environment that the next training run or tryout uses. Its configuration starts from the defaults:
/// `rl_get_current_config` shows it, `rl_edit_config` changes it.
#[derive(Deserialize, JsonSchema)]
struct SelectEnvironment {
    /// Name of the environment, as `rl_list_environments` tells it
    name: String,
}

impl Tool for SelectEnvironment {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        let reads = Grounds::declared(services, place).map(|grounds| grounds.reads_checkout());
        reads.into_iter().chain([Effect::WriteSlot(CHOICE)]).collect()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let found = choose(cx, &self.name).await?;
        Ok(json!({
            "message": format!("selected {}; rl_get_current_config shows its configuration", found.environment.name),
            "environment": found.environment.name,
            "class_name": found.environment.class,
            "config_class": found.environment.config_class,
            "file_path": found.file,
        }))
    }
}
