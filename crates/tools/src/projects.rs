//! What the tools for projects share.

use std::path::Path;
use std::sync::Arc;

use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use hermes_core::files::{FileError, PageRequest};
use hermes_core::gate::Gate;
use hermes_core::host;
use hermes_core::project::{Project, ProjectError, Projects};
use serde_json::{Value, json};

/// The projects' name among the effects of a call.
pub(crate) const SLOT: &str = "projects";

/// Opens where projects are kept.
pub(crate) fn given() -> Gate {
    Gate::given::<Arc<dyn Projects>>("a state folder that keeps projects")
}

/// Does something with the projects, on a thread that may block.
pub(crate) async fn with<T: Send + 'static>(
    cx: &ToolCx,
    work: impl FnOnce(&dyn Projects) -> Result<T, ProjectError> + Send + 'static,
) -> Result<T, ToolError> {
    let Some(projects) = cx.service::<Arc<dyn Projects>>().cloned() else {
        return Err(ToolError::Failed("there is no state folder that keeps projects".to_owned()));
    };
    host::blocking(cx.host(), move || work(projects.as_ref())).await?.map_err(|why| match why {
        ProjectError::Store(why) => ToolError::Failed(why),
        other => ToolError::Arguments(other.to_string()),
    })
}

/// Goes to a folder, if it is one in the environment of this call.
pub(crate) async fn go(cx: &ToolCx, path: &Path) -> Result<(), ToolError> {
    // The cheapest question that tells a folder from everything else, here and on other machines.
    let nothing = PageRequest { first: 1, count: 1, max_line_chars: 1, max_chars: 1 };
    match cx.files().page(&path.to_string_lossy(), nothing).await {
        Err(ToolError::File(FileError::IsDirectory(_))) => {
            cx.move_to(path);
            Ok(())
        }
        Err(other) => Err(other),
        Ok(_) => Err(ToolError::Arguments(format!("{} is a file, not a folder", path.display()))),
    }
}

/// What is told of a project.
pub(crate) fn told(project: &Project) -> Value {
    let mut told = json!({ "name": project.name, "path": project.path.display().to_string() });
    if let (Some(fields), Some(environment)) = (told.as_object_mut(), &project.environment) {
        fields.insert("environment".to_owned(), json!(environment));
    }
    told
}
