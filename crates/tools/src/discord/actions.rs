//! Which actions the person allows: `discord.server_actions`, a list of names, or names with commas
//! between them. Without it all are allowed; an action that is not is neither offered nor done.

use hermes_core::error::ToolError;
use hermes_core::keys::Keys;
use hermes_core::tool::{Definition, SchemaCx};
use serde_json::Value;

const SETTING: &str = "discord.server_actions";

/// The names in the setting, if it says anything.
fn allowed(setting: Option<&Value>) -> Option<Vec<String>> {
    let names: Vec<String> = match setting? {
        Value::String(text) => text.split(',').map(str::to_owned).collect(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => return None,
    };
    let names: Vec<String> =
        names.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    (!names.is_empty()).then_some(names)
}

/// Refuses what is not allowed.
pub(super) fn check(keys: &dyn Keys, action: &str) -> Result<(), ToolError> {
    match allowed(keys.setting(SETTING).as_ref()) {
        Some(names) if !names.iter().any(|name| name == action) => {
            Err(ToolError::Failed(format!("{SETTING} in config.yaml does not name {action}")))
        }
        _ => Ok(()),
    }
}

/// Leaves out of a definition what is not allowed; a tool with nothing left is not offered.
pub(crate) fn trimmed(mut definition: Definition, cx: &SchemaCx<'_>) -> Option<Definition> {
    let Some(names) = allowed((cx.config)(SETTING).as_ref()) else { return Some(definition) };
    let known = |name: &str| names.iter().any(|allowed| allowed == name);
    let actions = definition.parameters.pointer_mut("/properties/action/enum")?.as_array_mut()?;
    actions.retain(|action| action.as_str().is_some_and(known));
    if actions.is_empty() {
        return None;
    }
    let stays = |line: &&str| match line.strip_prefix("- `") {
        Some(item) => item.split(['(', '`']).next().is_some_and(known),
        None => true,
    };
    let lines: Vec<&str> = definition.description.lines().filter(stays).collect();
    definition.description = lines.join("\n");
    Some(definition)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn offered(setting: &Value) -> Option<Definition> {
        let definition = Definition {
            description: "Things.\n- `a(x)`: one\n- `b()`: two".to_owned(),
            parameters: json!({ "properties": { "action": { "enum": ["a", "b"] } } }),
        };
        let config = |_: &str| Some(setting.clone());
        trimmed(definition, &SchemaCx { offered: &[], config: &config })
    }

    #[test]
    fn only_what_is_allowed_is_offered() {
        let one = offered(&json!(["b", "z"])).unwrap();

        assert_eq!(one.description, "Things.\n- `b()`: two");
        assert_eq!(one.parameters["properties"]["action"]["enum"], json!(["b"]));
        assert_eq!(offered(&json!("a, b")).unwrap().description, "Things.\n- `a(x)`: one\n- `b()`: two");
        assert_eq!(
            offered(&json!("")).unwrap().parameters["properties"]["action"]["enum"],
            json!(["a", "b"])
        );
        assert!(offered(&json!(["z"])).is_none());
    }
}
