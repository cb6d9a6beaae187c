//! `project_switch`: the session goes to another project.

use std::sync::Arc;

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::project::Projects;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::projects::{SLOT, given, go, told, with};
use crate::toolsets::project;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<ProjectSwitch>("project_switch", &project::TOOLSET).gate(given).placed();

/// Go to the folder of another project: relative paths and commands start in it from now on.
#[derive(Deserialize, JsonSchema)]
struct ProjectSwitch {
    /// Name of the project, or its folder
    project: String,
}

impl Tool for ProjectSwitch {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::WriteSlot(SLOT)]
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        let known = services.service::<Arc<dyn Projects>>().and_then(|all| all.find(&self.project).ok());
        let mut effects = self.effects(place);
        effects.extend(known.map(|project| Effect::Read(project.path)));
        effects
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let named = self.project;
        let project = with(cx, move |projects| projects.find(&named)).await?;
        let elsewhere = cx.is_elsewhere().then(|| cx.environment());
        if elsewhere != project.environment.as_deref() {
            let (name, place) = (&project.name, project.environment.as_deref().unwrap_or("this machine"));
            return Err(ToolError::Failed(format!(
                "`{name}` is in {place}, and this session works elsewhere"
            )));
        }
        go(cx, &project.path).await?;
        let name = project.name.clone();
        with(cx, move |projects| projects.switched(&name)).await?;
        let cwd = project.path.display().to_string();
        Ok(json!({ "success": true, "project": told(&project), "cwd": cwd }))
    }
}
