//! Tools as MCP lists them. Pure.

use std::sync::Arc;

use hermes_core::clarify;
use hermes_core::definitions::{Offered, Toolbox};
use hermes_core::tool::{ToolEntry, Trust};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::client::Abilities;

/// Every tool of the box that this client has a use for, with the names and schemas that models get.
/// Who cannot show forms is offered nothing that asks.
pub(super) fn tools(toolbox: &Toolbox, client: Abilities) -> Vec<Tool> {
    let asks = clarify::gate();
    let of_use = |offered: &&Offered| client.forms || *offered.entry().gate_value() != asks;
    toolbox.offered().iter().chain(toolbox.deferred()).filter(of_use).map(tool).collect()
}

fn tool(offered: &Offered) -> Tool {
    let schema = Arc::new(object_schema(offered.parameters()));
    Tool::new(offered.name().to_string(), offered.description().to_owned(), schema)
        .with_annotations(annotations(offered.entry()))
}

/// A schema of an object, whatever was written: clients refuse anything else.
fn object_schema(parameters: &Value) -> Map<String, Value> {
    let mut schema = parameters.as_object().cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| json!("object"));
    schema
}

/// Hints for clients. What depends on the arguments is not promised: a tool that may write is not
/// called harmless because some of its calls are.
fn annotations(entry: &ToolEntry) -> ToolAnnotations {
    let hints = ToolAnnotations::new().read_only(entry.is_read_only());
    match (entry.trust(), entry.is_read_only()) {
        (Trust::Untrusted, _) => hints.open_world(true),
        (Trust::Trusted, true) => hints.destructive(false).idempotent(true).open_world(false),
        (Trust::Trusted, false) => hints,
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::tool::Definition;

    use super::*;

    fn entry() -> ToolEntry {
        let definition = Definition { description: "Say it.".to_owned(), parameters: json!({}) };
        ToolEntry::from_fn("say", "demo", definition, |_, _| Vec::new(), |_, _| async { Ok(Value::Null) })
    }

    #[test]
    fn a_tool_that_only_looks_is_harmless_and_can_be_repeated() {
        let hints = annotations(&entry().trusted().read_only());

        assert_eq!(hints.read_only_hint, Some(true));
        assert_eq!(hints.destructive_hint, Some(false));
        assert_eq!(hints.idempotent_hint, Some(true));
        assert_eq!(hints.open_world_hint, Some(false));
    }

    #[test]
    fn a_tool_that_may_write_promises_nothing() {
        let hints = annotations(&entry().trusted());

        assert_eq!(hints.read_only_hint, Some(false));
        assert!(hints.is_destructive());
        assert_eq!(hints.open_world_hint, None);
    }

    #[test]
    fn what_strangers_say_is_an_open_world() {
        assert_eq!(annotations(&entry().read_only()).open_world_hint, Some(true));
    }

    #[test]
    fn a_schema_without_a_type_is_that_of_an_object() {
        assert_eq!(object_schema(&json!({}))["type"], "object");
        assert_eq!(object_schema(&Value::Null)["type"], "object");
        assert_eq!(object_schema(&json!({ "type": "object", "x": 1 }))["x"], 1);
    }
}
