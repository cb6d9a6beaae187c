//! The argument by which a call chooses where it works, shown only where there is a choice.

use hermes_core::environment::{ARGUMENT, DEFAULT};
use hermes_core::tool::{Definition, SchemaCx};
use serde_json::{Value, json};

/// The key under which more environments than one are configured.
const CONFIGURED: &str = "terminal.environments";

/// Adds the argument when more than one environment is configured.
#[expect(clippy::unnecessary_wraps, reason = "a dynamic schema may leave its tool out")]
pub(crate) fn choosable(mut definition: Definition, cx: &SchemaCx<'_>) -> Option<Definition> {
    let names = match (cx.config)(CONFIGURED) {
        Some(Value::Object(named)) => named.keys().cloned().collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    if !names.is_empty()
        && let Some(properties) = definition.parameters.get_mut("properties").and_then(Value::as_object_mut)
    {
        let all: Vec<&str> = [DEFAULT].into_iter().chain(names.iter().map(String::as_str)).collect();
        let what = "Where to work; each environment has its own files, processes and directory \
                    (without it: where the session works)";
        properties.insert(ARGUMENT.to_owned(), json!({ "type": "string", "enum": all, "description": what }));
    }
    Some(definition)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(configured: &Value) -> Value {
        let definition = Definition {
            description: String::new(),
            parameters: json!({ "type": "object", "properties": {} }),
        };
        let config = |key: &str| (key == CONFIGURED).then(|| configured.clone());
        let cx = SchemaCx { offered: &[], config: &config };
        choosable(definition, &cx).unwrap().parameters["properties"][ARGUMENT]["enum"].clone()
    }

    #[test]
    fn the_choice_is_shown_only_where_there_is_one() {
        assert_eq!(shown(&json!({ "lab": { "backend": "ssh" } })), json!(["default", "lab"]));
        assert_eq!(shown(&json!({})), Value::Null);
        assert_eq!(shown(&Value::Null), Value::Null);
    }
}
