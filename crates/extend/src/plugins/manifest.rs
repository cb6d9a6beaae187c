//! `plugin.yaml`: what a plugin says about itself before anything of it runs.

use hermes_core::toolset::UnknownName;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::hooks::words;
use crate::is_default;

/// What a manifest may say, also where only the original listens.
const KEYS: [&str; 22] = [
    "name",
    "version",
    "description",
    "author",
    "kind",
    "requires_env",
    "run",
    "provides_tools",
    "provides_hooks",
    "policy",
    "manifest_version",
    "label",
    "optional_env",
    "hooks",
    "platforms",
    "pip_dependencies",
    "external_dependencies",
    "provides_web_providers",
    "provides_browser_providers",
    "provides_middleware",
    "homepage",
    "license",
];

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
    /// The tools it says it brings; told to itself.
    #[serde(skip_serializing_if = "is_default")]
    pub provides_tools: Vec<String>,
    /// The hooks it says it brings; told to itself.
    #[serde(skip_serializing_if = "is_default")]
    pub provides_hooks: Vec<String>,
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
        let mut odd: Vec<String> = fields.keys().filter_map(|key| misspelt(key)).collect();
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
            // No `~`: what a plugin runs lies in its folder, or is on the search path.
            Some(Value::String(command)) => words(command, None).map_err(|why| format!("`run`: {why}"))?,
            Some(Value::Array(words)) if !words.is_empty() => {
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
            provides_tools: names(fields.get("provides_tools")),
            provides_hooks: names(fields.get("provides_hooks").or_else(|| fields.get("hooks"))),
            policy: match fields.get("policy") {
                None | Some(Value::Null) => false,
                Some(said) => flag(said).ok_or_else(|| format!("`policy` is yes or no, and not {said}"))?,
            },
            odd,
        })
    }

    /// Whether a text that is no manifest would have had a say in what may run, as far as that can be told.
    pub fn claims_policy(text: &str) -> bool {
        let values = text.lines().flat_map(|line| written(line, "policy"));
        values.map(|value| flag(&json!(value))).any(|said| said != Some(false))
    }

    /// The name in a text that is no manifest, as far as that can be told. What can be no name, because the fault is
    /// in that very line, is none.
    pub fn claimed_name(text: &str) -> Option<&str> {
        let at_margin = |line: &&str| line.starts_with(['n', '"', '\'']);
        let is_name = |name: &&str| {
            let of_name = |c: char| c.is_alphanumeric() || " _-./".contains(c);
            !name.is_empty() && name.chars().all(of_name)
        };
        text.lines().filter(at_margin).flat_map(|line| written(line, "name")).find(is_name)
    }

    /// The word of `run` that leads out of the plugin's folder, if one does.
    pub fn leads_out(&self) -> Option<&str> {
        self.run.iter().map(String::as_str).find(|word| leads_out(word))
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
            "provides_tools": self.provides_tools,
            "provides_hooks": self.provides_hooks,
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

/// Yes or no, in the words of YAML 1.1 too.
fn flag(value: &Value) -> Option<bool> {
    let word = match value {
        Value::Bool(said) => return Some(*said),
        other => text(Some(other))?.trim().to_lowercase(),
    };
    match word.as_str() {
        "true" | "yes" | "y" | "on" | "1" => Some(true),
        "false" | "no" | "n" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// What stands behind `key:` on a line, wherever that is on it.
fn written<'a>(line: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    let line = line.split(" #").next().unwrap_or_default();
    let line = if line.trim_start().starts_with('#') { "" } else { line };
    line.match_indices(key).filter_map(move |(at, _)| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let (before, behind) = (line.get(..at)?, line.get(at + key.len()..)?);
        let value = behind.trim_start_matches(['"', '\'', ' ', '\t']).strip_prefix(':')?;
        let value = value.split([',', '}']).next().unwrap_or_default();
        (!before.ends_with(is_word)).then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// Whether a word of a command, or a part of it, is a path that leads out of where it is used.
fn leads_out(word: &str) -> bool {
    let is_path = |c: char| c.is_alphanumeric() || "/._-~+@%".contains(c);
    // `-I/path` is an option and its value in one.
    let value = |part: &str| part.strip_prefix('-').and_then(|rest| rest.get(1..)).map(str::to_owned);
    let is_far = |part: &str| part.starts_with(['/', '~']) || part.split('/').any(|it| it == "..");
    word.split(|c: char| !is_path(c)).any(|part| is_far(part) || value(part).is_some_and(|it| is_far(&it)))
}

/// Names in a list.
fn names(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| text(Some(item))).collect()
}

/// What is meant by a key that is not known, where that can be told. Others may be for somebody else.
fn misspelt(key: &str) -> Option<String> {
    let unknown = UnknownName::among(key, KEYS);
    let is_near = !KEYS.contains(&key) && !unknown.suggestions.is_empty();
    is_near.then(|| format!("the key {unknown}"))
}

/// Names, or mappings that hold one, in a list or alone.
fn variables(value: Option<&Value>) -> Vec<String> {
    let items = match value {
        Some(Value::Array(items)) => items.as_slice(),
        Some(one @ (Value::String(_) | Value::Object(_))) => std::slice::from_ref(one),
        _ => &[],
    };
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
    fn a_say_is_claimed_in_any_words_and_what_is_neither_yes_nor_no_is_an_error() {
        let policy = |value: Value| Manifest::read(&json!({ "policy": value }), "x").map(|it| it.policy);

        for yes in [json!(true), json!("true"), json!("Yes"), json!(1), json!("on")] {
            assert_eq!(policy(yes.clone()), Ok(true), "{yes}");
        }
        for no in [json!(false), json!("no"), json!(0), json!(null)] {
            assert_eq!(policy(no.clone()), Ok(false), "{no}");
        }
        assert!(
            policy(json!("strict")).is_err() && policy(json!([true])).is_err() && policy(json!(2)).is_err()
        );
    }

    #[test]
    fn a_text_that_is_no_manifest_still_tells_its_name_and_whether_it_claims_a_say() {
        for claims in
            ["name: x\npolicy: true\n: [", "{name: x, \"policy\" : yes", "policy:", "policy: strict"]
        {
            assert!(Manifest::claims_policy(claims), "{claims}");
        }
        for none in ["name: x\n: [", "# policy: true\n[", "policy: false\n: [", "my_policy: true\n["] {
            assert!(!Manifest::claims_policy(none), "{none}");
        }
        assert_eq!(Manifest::claimed_name("version: 1\nname: 'guard' # it\n: ["), Some("guard"));
        for none in ["  name: inner\n: [", "name: [guard\npolicy: true", "name: guard: x"] {
            assert_eq!(Manifest::claimed_name(none), None, "{none}");
        }
    }

    #[test]
    fn words_of_a_command_that_lead_out_of_the_folder_are_found() {
        let leads = |words: &[&str]| {
            let read = Manifest::read(&json!({ "run": words }), "x").unwrap();
            read.leads_out().map(str::to_owned)
        };

        for fine in [&["./start"][..], &["python3", "-u", "lib/main.py"], &["node", "--opt=a/b", "x..y"]] {
            assert_eq!(leads(fine), None, "{fine:?}");
        }
        for word in
            ["../start", "/usr/bin/python3", "--lib=../../x", "~/start", "sh ../x", "a/../../b", "-I/x"]
        {
            let found = leads(&["sh", word]);
            assert_eq!(found.as_deref(), Some(word));
        }
    }

    #[test]
    fn a_command_in_one_text_is_split_into_words_and_one_variable_needs_no_list() {
        let read = Manifest::read(&json!({ "run": "node 'my words.mjs' -v", "requires_env": "A" }), "x");

        let Manifest { run, requires_env, .. } = read.unwrap();
        assert_eq!(
            (run, requires_env),
            (["node", "my words.mjs", "-v"].map(str::to_owned).to_vec(), vec!["A".to_owned()])
        );
        for wrong in [json!(""), json!([]), json!("node 'x")] {
            assert!(Manifest::read(&json!({ "run": wrong }), "x").is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_key_that_is_nearly_one_is_told_and_others_are_left_alone() {
        let read = Manifest::read(&json!({ "polcy": true, "x_of_mine": 1, "label": "L" }), "x").unwrap();

        assert_eq!(read.odd, ["the key `polcy` is not known; did you mean `policy`?"]);
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
