//! `rl_list_environments`: what a model can be trained on.

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::set;
use crate::rl;
use crate::rl::grounds::{Found, Grounds};
use crate::toolsets::rl as rl_set;

pub(crate) const TOOL: ToolDef = ToolDef::of::<ListEnvironments>("rl_list_environments", &rl_set::TOOLSET)
    .emoji("🧪")
    .gate(rl::gate)
    .requires_env(rl::KEYS)
    .variables(rl::variables)
    .read_only();

/// List the environments that a model can be trained on: the name, the Python file and what it is about. An
/// environment gives questions and scores answers; read its file to see how. A file that is put beside the
/// others and has a class that derives from `BaseEnv` is listed too.
#[derive(Deserialize, JsonSchema)]
struct ListEnvironments {}

impl Tool for ListEnvironments {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        Grounds::declared(services, place).iter().map(Grounds::reads_checkout).collect()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let grounds = Grounds::of(cx)?;
        let (found, unreadable) = grounds.found(cx).await?;
        let environments: Vec<Value> = found.iter().map(told).collect();
        let mut answer = json!({
            "environments": environments,
            "count": environments.len(),
            "folder": grounds.environments(),
            "tips": [
                "rl_select_environment selects one by its name",
                "load_dataset, get_next_item and the functions that score are the places to read first",
            ],
        });
        if !unreadable.is_empty() {
            set(&mut answer, "unreadable", json!(unreadable));
        }
        Ok(answer)
    }
}

fn told(found: &Found) -> Value {
    json!({
        "name": found.environment.name,
        "class_name": found.environment.class,
        "file_path": found.file,
        "description": found.environment.description,
    })
}
