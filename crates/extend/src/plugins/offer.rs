//! What a foreign program offers: tools, hooks, commands, skills. Said once, when it is loaded, and
//! kept for the next start under the digest of its content.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use hermes_core::json::{FIT_RULES, JsonText, is_fit};
use hermes_core::tool::{Definition, Fit, LazyDefinition};

use crate::is_default;

/// Everything one program, file or plugin offers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Offer {
    /// Its tools.
    #[serde(skip_serializing_if = "is_default")]
    pub tools: Vec<OfferedTool>,
    /// Events it wants to hear of.
    #[serde(skip_serializing_if = "is_default")]
    pub hooks: Vec<String>,
    /// Its slash commands.
    #[serde(skip_serializing_if = "is_default")]
    pub commands: Vec<OfferedCommand>,
    /// Its commands of the command line.
    #[serde(skip_serializing_if = "is_default")]
    pub cli: Vec<OfferedCli>,
    /// Its skills.
    #[serde(skip_serializing_if = "is_default")]
    pub skills: Vec<OfferedSkill>,
    /// What it asked for and does not get, in words.
    #[serde(skip_serializing_if = "is_default")]
    pub notes: Vec<String>,
}

impl Offer {
    /// The same with definitions as a model is told them, as far as they are fit for that: whoever reads it later
    /// has no more to do with them.
    #[must_use]
    pub(crate) fn settled(mut self) -> Self {
        let odd: Vec<String> = self.tools.iter().filter_map(OfferedTool::odd).collect();
        self.notes.extend(odd);
        for tool in &mut self.tools {
            let Definition { description, parameters } = tool.definition();
            if is_fit(&parameters) {
                (tool.description, tool.schema, tool.fit) = (description, parameters.into(), FIT_RULES);
            }
        }
        self
    }

    /// What was kept, if it can be read.
    pub fn read(kept: &Value) -> Option<Self> {
        Self::deserialize(kept).ok()
    }
}

/// A tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OfferedTool {
    /// Its name on the wire.
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    /// The toolset it wants to be in.
    #[serde(skip_serializing_if = "is_default")]
    pub toolset: String,
    /// What it is for.
    #[serde(skip_serializing_if = "is_default")]
    pub description: String,
    /// `{name, description, parameters}`, or the parameters alone.
    #[serde(skip_serializing_if = "is_default")]
    pub schema: JsonText,
    /// The rules by which the schema is fit to be handed on as it is, and the description to stand beside it.
    #[serde(skip_serializing_if = "is_default")]
    pub fit: u32,
    /// Variables it needs.
    #[serde(skip_serializing_if = "is_default")]
    pub requires_env: Vec<String>,
    /// A picture.
    #[serde(skip_serializing_if = "is_default")]
    pub emoji: String,
    /// How large its results may be, in characters.
    #[serde(skip_serializing_if = "is_default")]
    pub max_result_size_chars: Option<f64>,
    /// Whether it can be asked if it is available.
    #[serde(skip_serializing_if = "is_default")]
    pub check: bool,
    /// Whether its handler is a coroutine; for people only.
    #[serde(skip_serializing_if = "is_default")]
    pub is_async: bool,
    /// Whether it is meant to stand in for another one.
    #[serde(rename = "override")]
    #[serde(skip_serializing_if = "is_default")]
    pub overrides: bool,
}

/// A slash command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OfferedCommand {
    /// Without the slash.
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    /// What it does.
    #[serde(skip_serializing_if = "is_default")]
    pub description: String,
    /// What may follow its name.
    #[serde(skip_serializing_if = "is_default")]
    pub usage: String,
}

/// A command of the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OfferedCli {
    /// The word behind `hermes`.
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    /// What it does, in a line.
    #[serde(skip_serializing_if = "is_default")]
    pub help: String,
    /// What it does, at length.
    #[serde(skip_serializing_if = "is_default")]
    pub description: String,
}

/// A skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OfferedSkill {
    /// Its name, without that of the plugin.
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    /// Its `SKILL.md`, or the folder that holds it.
    #[serde(skip_serializing_if = "is_default")]
    pub path: String,
    /// What it is for.
    #[serde(skip_serializing_if = "is_default")]
    pub description: String,
}

impl OfferedTool {
    /// The same as [`OfferedTool::definition`], made when somebody looks at it.
    pub(crate) fn lazy_definition(&self) -> LazyDefinition {
        if self.fit == FIT_RULES {
            return LazyDefinition::written(self.description.as_str(), self.schema.clone(), Fit::AsWritten);
        }
        self.definition().into()
    }

    /// Description and parameters as a model is told them.
    pub fn definition(&self) -> Definition {
        let schema = self.schema.value();
        let text = |value: &Value| value.get("description").and_then(Value::as_str).map(str::to_owned);
        let description = match self.description.as_str() {
            "" => text(schema).unwrap_or_default(),
            own => own.to_owned(),
        };
        let parameters = parameters(schema).cloned().unwrap_or_else(|| json!({}));
        Definition { description, parameters }
    }

    /// Why its schema says nothing of its arguments, where it is not meant to have none.
    fn odd(&self) -> Option<String> {
        let schema = self.schema.value();
        let why = match (schema, parameters(schema)) {
            (Value::Object(_), Some(Value::Object(found))) => match found.get("type") {
                None => return None,
                Some(Value::String(kind)) if kind == "object" => return None,
                Some(_) => "`parameters` in the schema of `{}` are not of type `object`, and not used",
            },
            (Value::Object(_), Some(_)) => {
                "`parameters` in the schema of `{}` are not a mapping, and not used"
            }
            (Value::Object(fields), None) if fields.keys().any(|key| !ABOUT.contains(&key.as_str())) => {
                "the schema of `{}` has no `parameters`"
            }
            (Value::Null, _) | (Value::Object(_), None) => return None,
            _ => "the schema of `{}` is not an object, and is not used",
        };
        Some(why.replace("{}", &self.name))
    }
}

/// What a schema says beside the arguments.
const ABOUT: [&str; 2] = ["name", "description"];

/// The schema of the arguments: under one of the names that are usual for it, or without anything around it.
fn parameters(schema: &Value) -> Option<&Value> {
    let named = ["parameters", "input_schema", "inputSchema"].iter().find_map(|key| schema.get(*key));
    named.or_else(|| schema.get("type").is_some().then_some(schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_is_none_is_told() {
        let offer = json!({ "tools": [{ "name": "odd", "schema": 5 }, { "name": "bare" }] });

        let notes = Offer::read(&offer).unwrap().settled().notes;

        assert_eq!(notes, ["the schema of `odd` is not an object, and is not used"]);
        let told = |schema: Value| {
            OfferedTool { name: "x".to_owned(), schema: schema.into(), ..OfferedTool::default() }.odd()
        };
        for fine in [json!({}), json!({ "name": "x" }), json!({ "parameters": { "properties": {} } })] {
            assert_eq!(told(fine.clone()), None, "{fine}");
        }
        for (odd, why) in [
            (
                json!({ "parameters": ["a"] }),
                "`parameters` in the schema of `x` are not a mapping, and not used",
            ),
            (
                json!({ "type": "objekt" }),
                "`parameters` in the schema of `x` are not of type `object`, and not used",
            ),
            (json!({ "name": "x", "params": {} }), "the schema of `x` has no `parameters`"),
        ] {
            assert_eq!(told(odd).as_deref(), Some(why));
        }
    }

    #[test]
    fn parameters_are_found_with_and_without_their_envelope() {
        let parameters = json!({ "type": "object", "properties": { "x": { "type": "string" } } });
        let whole = json!({ "name": "a", "description": "A.", "parameters": parameters });
        let tool =
            |schema: Value| OfferedTool { schema: schema.into(), ..OfferedTool::default() }.definition();

        assert_eq!(tool(whole), Definition { description: "A.".to_owned(), parameters: parameters.clone() });
        assert_eq!(tool(parameters.clone()).parameters, parameters);
        assert_eq!(tool(json!({ "name": "a", "input_schema": parameters })).parameters, parameters);
        assert_eq!(tool(json!({ "name": "a" })).parameters, json!({}));
    }
}
