//! `project_list`: the folders that have a name.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::projects::{SLOT, given, told, with};
use crate::toolsets::project;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<ProjectList>("project_list", &project::TOOLSET).gate(given).read_only();

/// List the projects: folders with a name, and which of them the session stands in.
#[derive(Deserialize, JsonSchema)]
struct ProjectList {}

impl Tool for ProjectList {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::ReadSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let all = with(cx, |projects| projects.list()).await?;
        let here = cx.place();
        // The innermost folder that the session is in.
        let current = all
            .projects
            .iter()
            .filter(|project| project.environment.is_none() && here.cwd.starts_with(&project.path))
            .max_by_key(|project| project.path.components().count());
        let list: Vec<Value> = all.projects.iter().map(told).collect();
        Ok(json!({
            "projects": list,
            "count": list.len(),
            "current": current.map(|project| &project.name),
            "last_switched_to": all.active,
            "cwd": here.cwd.display().to_string(),
        }))
    }
}
