//! Small tools for tests.

use std::sync::Arc;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolError;
use hermes_core::tool::{Definition, Reply, ToolEntry};
use serde_json::{Map, Value, json};

use crate::Latch;

/// A definition that takes an object with these properties; those that end in `!` are required.
pub fn object(properties: &Value) -> Definition {
    let mut fields = Map::new();
    let mut required = Vec::new();
    for (name, schema) in properties.as_object().into_iter().flatten() {
        let bare = name.trim_end_matches('!');
        if bare.len() < name.len() {
            required.push(Value::from(bare));
        }
        fields.insert(bare.to_owned(), schema.clone());
    }
    let parameters = json!({ "type": "object", "properties": fields, "required": required });
    Definition { description: "A tool of a test.".to_owned(), parameters }
}

/// A definition that takes any object.
pub fn any_object() -> Definition {
    object(&json!({}))
}

/// A trusted tool of the toolset `test` that has no effects and takes any object.
pub fn tool<Fut, Said>(
    name: &str,
    run: impl Fn(Map<String, Value>, ToolCx) -> Fut + Send + Sync + 'static,
) -> ToolEntry
where
    Fut: Future<Output = Result<Said, ToolError>> + Send + 'static,
    Said: Into<Reply>,
{
    ToolEntry::from_fn(name, "test", any_object(), |_, _| Vec::new(), run).trusted()
}

/// A tool that answers with its arguments.
pub fn echo(name: &str) -> ToolEntry {
    tool(name, |arguments, _| async move { Ok(Value::Object(arguments)) })
}

/// A tool with these effects that waits at the latch before it answers.
pub fn stuck(name: &str, effects: Vec<Effect>, latch: &Arc<Latch>) -> ToolEntry {
    let latch = Arc::clone(latch);
    let run = move |_, _| {
        let latch = Arc::clone(&latch);
        async move {
            latch.wait().await;
            Ok(json!({ "ok": true }))
        }
    };
    ToolEntry::from_fn(name, "test", any_object(), move |_, _| effects.clone(), run).trusted()
}
