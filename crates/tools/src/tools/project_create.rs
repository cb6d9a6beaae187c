//! `project_create`: a folder gets a name, and the session goes there.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::project::Project;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::projects::{SLOT, given, go, told, with};
use crate::toolsets::project;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<ProjectCreate>("project_create", &project::TOOLSET).gate(given).placed();

/// Give a folder a name, so that it can be gone back to later, and go there: relative paths and commands
/// start in it from now on. The folder must be there already.
#[derive(Deserialize, JsonSchema)]
struct ProjectCreate {
    /// Name of the project, as a person says it
    name: String,
    /// Its folder; where the session stands if left out
    path: Option<String>,
}

impl ProjectCreate {
    fn folder(&self) -> &str {
        self.path.as_deref().map(str::trim).filter(|path| !path.is_empty()).unwrap_or(".")
    }
}

impl Tool for ProjectCreate {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        vec![Effect::WriteSlot(SLOT), Effect::Read(place.resolve(self.folder()))]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let before = cx.place();
        let path = before.resolve(self.folder());
        go(cx, &path).await?;
        let environment = cx.is_elsewhere().then(|| cx.environment().to_owned());
        let project = Project { name: self.name, path, environment };
        let made = with(cx, move |projects| {
            let made = projects.create(project)?;
            projects.switched(&made.name)?;
            Ok(made)
        });
        match made.await {
            Ok(made) => Ok(json!({
                "success": true,
                "project": told(&made),
                "cwd": made.path.display().to_string(),
            })),
            Err(why) => {
                // Nothing came of it, so the session stays where it was.
                cx.move_to(&before.cwd);
                Err(why)
            }
        }
    }
}
