//! What a session has chosen: an environment, and what was changed in its configuration.

use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use hermes_core::session::Slot;
use hermes_core::suggest::suggest;
use serde_json::{Map, Value};

use super::fields::{self, Field, meant};
use super::grounds::{Found, Grounds};

/// The choice's name among the effects of a call.
pub(crate) const CHOICE: &str = "training configuration";

/// The session's choice.
#[derive(Debug, Clone, Default)]
pub(crate) struct Desk {
    chosen: Option<Found>,
    edits: Map<String, Value>,
}

impl Slot for Desk {
    const NAME: &'static str = CHOICE;
}

/// An environment, and what was changed.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    pub(crate) found: Found,
    pub(crate) fields: Vec<Field>,
    pub(crate) edits: Map<String, Value>,
}

/// Chooses an environment; what was changed before is forgotten.
pub(crate) async fn choose(cx: &ToolCx, name: &str) -> Result<Found, ToolError> {
    let (all, _) = Grounds::of(cx)?.found(cx).await?;
    let wanted = name.trim();
    let Some(found) = all.iter().find(|found| found.environment.name == wanted) else {
        let names: Vec<&str> = all.iter().map(|found| found.environment.name.as_str()).collect();
        let near = suggest(wanted, names.iter().copied(), 3);
        let near = meant(&near);
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(ToolError::Arguments(format!(
            "there is no environment `{wanted}`{near} There are: {known}"
        )));
    };
    let chosen = found.clone();
    cx.with_slot(|desk: &mut Desk| *desk = Desk { chosen: Some(chosen), edits: Map::new() })?;
    Ok(found.clone())
}

/// What was chosen, or that nothing was.
pub(crate) fn chosen(cx: &ToolCx) -> Result<Chosen, ToolError> {
    let Desk { chosen, edits } = cx.with_slot(|desk: &mut Desk| desk.clone())?;
    let found = chosen.ok_or_else(|| {
        ToolError::Arguments("no environment is selected; rl_select_environment selects one".to_owned())
    })?;
    let fields = fields::fields(&found.environment);
    Ok(Chosen { found, fields, edits })
}

/// Changes a field of what was chosen; the value it has now.
pub(crate) fn edit(cx: &ToolCx, name: &str, value: &Value) -> Result<(Value, Map<String, Value>), ToolError> {
    let chosen = chosen(cx)?;
    let fitting = fields::fitting(&chosen.fields, name, value).map_err(ToolError::Arguments)?;
    let edits = cx.with_slot(|desk: &mut Desk| {
        desk.edits.insert(name.to_owned(), fitting.clone());
        desk.edits.clone()
    })?;
    Ok((fitting, edits))
}
