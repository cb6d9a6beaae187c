//! The offered tools, read out of the definitions that go to the model.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// One offered tool.
#[derive(Debug, Clone)]
pub(crate) struct OfferedTool {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The schema of its arguments, read when somebody asks for it.
    parameters: OnceLock<Map<String, Value>>,
    written: Box<str>,
}

impl OfferedTool {
    /// The schema of a parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<&Map<String, Value>> {
        self.parameters().get("properties")?.get(name)?.as_object()
    }

    /// The names of its parameters, in order.
    pub(crate) fn parameter_names(&self) -> Vec<&str> {
        let properties = self.parameters().get("properties").and_then(Value::as_object);
        properties.map(|all| all.keys().map(String::as_str).collect()).unwrap_or_default()
    }

    /// The names of the parameters it cannot do without, in order.
    pub(crate) fn required(&self) -> Vec<&str> {
        let required = self.parameters().get("required").and_then(Value::as_array);
        required.map(|all| all.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
    }

    fn parameters(&self) -> &Map<String, Value> {
        self.parameters.get_or_init(|| serde_json::from_str(&self.written).unwrap_or_default())
    }
}

/// All offered tools, by name. They are read when one is first asked for: with dozens of tools that
/// takes a millisecond, and most answers are never compared with them.
#[derive(Debug, Clone)]
pub(crate) struct Offered {
    written: Arc<str>,
    by_name: OnceLock<BTreeMap<String, OfferedTool>>,
}

impl Offered {
    /// The tools of definitions in the form of the chat wire. What is none is left out.
    pub(crate) fn new(written: &Arc<str>) -> Self {
        Self { written: Arc::clone(written), by_name: OnceLock::new() }
    }

    /// The tool with this very name.
    pub(crate) fn get(&self, name: &str) -> Option<&OfferedTool> {
        self.by_name().get(name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name().contains_key(name)
    }

    /// All of them, sorted by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = &OfferedTool> {
        self.by_name().values()
    }

    /// Whether there is none; told without reading them.
    pub(crate) fn is_empty(&self) -> bool {
        !self.written.contains('{')
    }

    fn by_name(&self) -> &BTreeMap<String, OfferedTool> {
        self.by_name.get_or_init(|| read(&self.written))
    }
}

fn read(tools: &str) -> BTreeMap<String, OfferedTool> {
    #[derive(Deserialize)]
    struct Definition<'a> {
        #[serde(borrow)]
        function: Function<'a>,
    }
    #[derive(Deserialize)]
    struct Function<'a> {
        name: String,
        #[serde(default)]
        description: String,
        #[serde(borrow, default)]
        parameters: Option<&'a RawValue>,
    }
    let tool = |Definition { function: Function { name, description, parameters } }: Definition<'_>| {
        let written = parameters.map_or("{}", RawValue::get).into();
        (name.clone(), OfferedTool { name, description, parameters: OnceLock::new(), written })
    };
    if let Ok(all) = serde_json::from_str::<Vec<Definition<'_>>>(tools) {
        return all.into_iter().map(tool).collect();
    }
    let all: Vec<&RawValue> = serde_json::from_str(tools).unwrap_or_default();
    all.into_iter().filter_map(|it| serde_json::from_str(it.get()).ok()).map(tool).collect()
}
