//! `plugin.yaml`: what a plugin says about itself before anything of it runs.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::offer::is_default;

/// What a manifest says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Its name.
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    /// Its version, as written.
    #[serde(skip_serializing_if = "is_default")]
    pub version: String,
    /// What it is for.
    #[serde(skip_serializing_if = "is_default")]
    pub description: String,
    /// Who made it.
    #[serde(skip_serializing_if = "is_default")]
    pub author: String,
    /// What kind of plugin it is.
    #[serde(skip_serializing_if = "is_default")]
    pub kind: PluginKind,
    /// Variables it needs, beyond those of its tools.
    #[serde(skip_serializing_if = "is_default")]
    pub requires_env: Vec<String>,
    /// How an executable is started; nothing for Python.
    #[serde(skip_serializing_if = "is_default")]
    pub run: Vec<String>,
    /// Whether a failure of its hooks denies the call.
    #[serde(skip_serializing_if = "is_default")]
    pub policy: bool,
    /// What is odd in it but usable, in words.
    #[serde(skip_serializing_if = "is_default")]
    pub odd: Vec<String>,
}

/// What kind of plugin it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum PluginKind {
    /// Tools, hooks, commands: what runs here.
    #[default]
    Standalone,
    /// Something that another part of the original loads by itself (`backend`, `exclusive`, `platform`,
    /// `model-provider`).
    Other(String),
}

impl Manifest {
    /// Reads a manifest; `folder` names a plugin that does not name itself.
    pub fn read(value: &Value, folder: &str) -> Result<Self, String> {
        let Some(fields) = value.as_object() else { return Err("it is not a mapping".to_owned()) };
        if fields.get("manifest_version").and_then(Value::as_f64).is_some_and(|version| version > 1.0) {
            return Err("its manifest_version is newer than this program".to_owned());
        }
        let mut odd = Vec::new();
        let name = match text(fields.get("name")) {
            Some(name) => name,
            None => folder.to_owned(),
        };
        let kind = match text(fields.get("kind")).as_deref() {
            None | Some("" | "standalone") => PluginKind::Standalone,
            Some(other @ ("backend" | "exclusive" | "platform" | "model-provider")) => {
                PluginKind::Other(other.to_owned())
            }
            Some(unknown) => {
                odd.push(format!("kind `{unknown}` is not known and taken as `standalone`"));
                PluginKind::Standalone
            }
        };
        let run = match fields.get("run") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(program)) => vec![program.clone()],
            Some(Value::Array(words)) => {
                let words: Option<Vec<String>> = words.iter().map(|word| text(Some(word))).collect();
                words.ok_or("`run` is a program, or a list of a program and its arguments")?
            }
            Some(_) => return Err("`run` is a program, or a list of a program and its arguments".to_owned()),
        };
        Ok(Self {
            name,
            version: text(fields.get("version")).unwrap_or_default(),
            description: text(fields.get("description")).unwrap_or_default(),
            author: text(fields.get("author")).unwrap_or_default(),
            kind,
            requires_env: variables(fields.get("requires_env")),
            run,
            policy: fields.get("policy").and_then(Value::as_bool).unwrap_or_default(),
            odd,
        })
    }

    /// As the plugin itself is told it.
    pub fn told(&self, key: &str) -> Value {
        json!({
            "name": self.name,
            "key": key,
            "version": self.version,
            "description": self.description,
            "author": self.author,
            "requires_env": self.requires_env,
        })
    }
}

/// A text, or a number as one: `version: 1.0` is a number in YAML.
fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Names, or mappings that hold one.
fn variables(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| text(Some(item)).or_else(|| text(item.get("name")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_read_with_what_may_be_left_out() {
        let whole = json!({
            "name": "calc", "version": 1.5, "description": "Sums.", "author": "Ann", "kind": "standalone",
            "requires_env": ["A", { "name": "B", "prompt": "B?" }], "run": ["./calc", "-v"], "policy": true,
        });

        let read = Manifest::read(&whole, "folder").unwrap();

        assert_eq!((read.name.as_str(), read.version.as_str()), ("calc", "1.5"));
        assert_eq!(
            (read.requires_env, read.run),
            (vec!["A".to_owned(), "B".to_owned()], vec!["./calc".to_owned(), "-v".to_owned()])
        );
        assert!(read.policy && read.odd.is_empty());
        assert_eq!(Manifest::read(&json!({}), "folder").unwrap().name, "folder");
    }

    #[test]
    fn what_cannot_be_used_is_told() {
        assert!(Manifest::read(&json!([]), "x").is_err());
        assert!(Manifest::read(&json!({ "manifest_version": 2 }), "x").is_err());
        assert!(Manifest::read(&json!({ "run": { "a": 1 } }), "x").is_err());
        let odd = Manifest::read(&json!({ "kind": "strange" }), "x").unwrap();
        assert_eq!((odd.kind, odd.odd.len()), (PluginKind::Standalone, 1));
        let platform = Manifest::read(&json!({ "kind": "platform" }), "x").unwrap();
        assert_eq!(platform.kind, PluginKind::Other("platform".to_owned()));
    }
}
