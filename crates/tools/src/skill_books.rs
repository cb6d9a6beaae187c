//! What the tools for skills share: where the skills are, what reading them touches, and errors as
//! the model reads them.

use std::sync::Arc;

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::ToolError;
use hermes_core::skills::{Beside, SkillError, Skills};
use serde_json::{Value, json};

/// Most names in an error.
const MAX_NAMES: usize = 20;

/// The skills of this runtime.
pub(crate) fn books(cx: &ToolCx) -> Result<&Arc<dyn Skills>, ToolError> {
    let none = || ToolError::Failed("there is no state folder that could keep skills".to_owned());
    cx.service::<Arc<dyn Skills>>().ok_or_else(none)
}

/// What looking at skills touches.
pub(crate) fn reads(services: &Services) -> Vec<Effect> {
    services.service::<Arc<dyn Skills>>().map(|skills| Effect::Read(skills.folder())).into_iter().collect()
}

/// The tools that the caller has.
pub(crate) fn beside(cx: &ToolCx) -> Beside {
    let offered = cx.offered();
    Beside {
        tools: offered.iter().map(|(tool, _)| (*tool).into()).collect(),
        toolsets: offered.iter().map(|(_, toolset)| (*toolset).into()).collect(),
    }
}

/// An error as the model reads it, with what may help.
pub(crate) fn failure(why: &SkillError) -> Value {
    let mut answer = json!({ "success": false, "error": why.to_string() });
    let more = match why {
        SkillError::NoFile { there, .. } => Some(("available_files", json!(there))),
        SkillError::Ambiguous { found, .. } => Some(("matches", json!(found))),
        SkillError::Unsupported { .. } => Some(("readiness_status", json!("unsupported"))),
        SkillError::Unknown { near, .. } if !near.is_empty() => {
            Some(("suggestions", json!(near.iter().take(MAX_NAMES).collect::<Vec<_>>())))
        }
        _ => None,
    };
    if let (Some(fields), Some((key, value))) = (answer.as_object_mut(), more) {
        fields.insert(key.to_owned(), value);
    }
    if let SkillError::NoFile { more, .. } = why {
        beyond(&mut answer, *more);
    }
    answer
}

/// Says how many more files there are than an answer names, where it does not name all.
pub(crate) fn beyond(answer: &mut Value, more: usize) {
    if let Some(fields) = answer.as_object_mut().filter(|_| more > 0) {
        fields.insert("more_files".to_owned(), json!(more));
    }
}
