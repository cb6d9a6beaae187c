//! The offered tools, read out of the definitions that go to the model.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// One offered tool.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub(crate) struct OfferedTool {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) parameters: Map<String, Value>,
}

impl OfferedTool {
    /// The schema of a parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<&Map<String, Value>> {
        self.parameters.get("properties")?.get(name)?.as_object()
    }

    /// The names of its parameters, in order.
    pub(crate) fn parameter_names(&self) -> Vec<&str> {
        let properties = self.parameters.get("properties").and_then(Value::as_object);
        properties.map(|all| all.keys().map(String::as_str).collect()).unwrap_or_default()
    }

    /// The names of the parameters it cannot do without, in order.
    pub(crate) fn required(&self) -> Vec<&str> {
        let required = self.parameters.get("required").and_then(Value::as_array);
        required.map(|all| all.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
    }
}

/// All offered tools, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offered(BTreeMap<String, OfferedTool>);

impl Offered {
    /// Reads definitions in the form of the chat wire. What is none is left out.
    pub(crate) fn read(tools: &str) -> Self {
        #[derive(Deserialize)]
        struct Definition {
            function: OfferedTool,
        }
        let all: Vec<Value> = serde_json::from_str(tools).unwrap_or_default();
        let read = |value| serde_json::from_value::<Definition>(value).ok();
        Self(
            all.into_iter()
                .filter_map(read)
                .map(|tool| (tool.function.name.clone(), tool.function))
                .collect(),
        )
    }

    /// The tool with this very name.
    pub(crate) fn get(&self, name: &str) -> Option<&OfferedTool> {
        self.0.get(name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// All of them, sorted by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = &OfferedTool> {
        self.0.values()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
