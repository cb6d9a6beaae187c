//! Accessibility trees as the protocol tells them.

use serde::Deserialize;
use serde_json::Value;

use crate::browser::refs::Element;

/// A node of an accessibility tree, as the protocol tells it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Node {
    #[serde(rename = "nodeId")]
    pub(crate) id: String,
    /// Whether it is of no use to those who cannot see the page.
    #[serde(default)]
    pub(crate) ignored: bool,
    role: Option<Told>,
    name: Option<Told>,
    value: Option<Told>,
    #[serde(default)]
    properties: Vec<Property>,
    /// The nodes in it, by their names.
    #[serde(default)]
    pub(crate) child_ids: Vec<String>,
    /// The element that it stands for, by its number in the browser.
    #[serde(rename = "backendDOMNodeId")]
    pub(crate) element: Option<i64>,
}

#[derive(Debug, Clone, Deserialize)]
struct Told {
    #[serde(default)]
    value: Value,
}

#[derive(Debug, Clone, Deserialize)]
struct Property {
    name: String,
    value: Told,
}

/// The tree of one frame.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Its root as an element; the number counts for nothing.
    pub(crate) place: Element,
    /// The frame element around it: which tree it is in, and its number.
    pub(crate) within: Option<(usize, i64)>,
    /// Its nodes, the root first.
    pub(crate) nodes: Vec<Node>,
}

impl Tree {
    /// Whether the element with this number is in it.
    pub(crate) fn holds(&self, node: i64) -> bool {
        self.nodes.iter().any(|known| known.element == Some(node))
    }
}

impl Node {
    /// What kind of thing it is, in small letters.
    pub(crate) fn role(&self) -> String {
        told(self.role.as_ref()).to_ascii_lowercase()
    }

    /// What it is called.
    pub(crate) fn name(&self) -> String {
        told(self.name.as_ref())
    }

    /// What it holds.
    pub(crate) fn value(&self) -> String {
        told(self.value.as_ref())
    }

    fn property(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find(|known| known.name == name).map(|known| &known.value.value)
    }

    /// Whether it has a property.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.property(name).and_then(Value::as_bool) == Some(true)
    }

    /// What is to be known about its state.
    pub(crate) fn marks(&self, all: bool) -> Vec<String> {
        let mut marks = Vec::new();
        for property in &self.properties {
            let name = property.name.as_str();
            let value = match &property.value.value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            match (name, value.as_str()) {
                (
                    "busy" | "checked" | "disabled" | "focused" | "modal" | "pressed" | "readonly"
                    | "required" | "selected",
                    "true",
                ) => marks.push(name.to_owned()),
                ("level" | "expanded", _) | ("checked" | "pressed", "mixed") => {
                    marks.push(format!("{name}={value}"));
                }
                ("invalid", reason) if reason != "false" => marks.push("invalid".to_owned()),
                ("url", _) if all => marks.push(format!("url={value}")),
                _ => {}
            }
        }
        marks
    }
}

/// A told value as text.
fn told(value: Option<&Told>) -> String {
    match value.map(|told| &told.value) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    }
}
