//! `hermes config explain KEY`: what it is for, what may stand there, and where its value comes from.

use hermes::store::config::{KeyPath, Standing, keys, standing};
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::config::{hidden, key_path, plain, read, set::value_of};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

#[derive(clap::Args)]
pub(crate) struct Explain {
    /// Dotted path; without one every key is listed
    #[arg(value_parser = key_path)]
    key: Option<KeyPath>,
}

impl Run for Explain {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        match &self.key {
            Some(key) => one(shell, key),
            None => all(shell),
        }
    }
}

/// Variables that count where the file is silent.
fn variable_for(key: &str) -> Option<&'static str> {
    match key {
        "model.default" => Some("HERMES_INFERENCE_MODEL"),
        "model.provider" => Some("HERMES_INFERENCE_PROVIDER"),
        _ => None,
    }
}

fn one(shell: &Shell, key: &KeyPath) -> Result<(), Failure> {
    let config = read(shell)?;
    let def = match standing(key) {
        Standing::Used(def) => Some(def),
        Standing::Unknown { near } => {
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(Failure::usage(format!("`{key}` is not a known key{hint}")));
        }
        Standing::Above | Standing::LeftAlone => None,
    };
    let text = key.to_string();
    let last = key.keys().last().map(String::as_str).unwrap_or_default();
    let variable = variable_for(&text).filter(|name| shell.variable(name).is_some_and(|it| !it.is_empty()));
    let (value, from) = match (config.get(key), variable) {
        (Some(value), _) => {
            let line = config.line(key).map(|line| format!(", line {line}")).unwrap_or_default();
            (hidden(last, &value), format!("{}{line}", config.path().display()))
        }
        (None, Some(name)) => (json!(shell.variable(name)), format!("the variable {name}")),
        (None, None) => match def.filter(|def| !def.default.is_empty()) {
            Some(def) => (value_of(def.kind, def.default), "the default".to_owned()),
            None => (Value::Null, "nowhere: it is not set".to_owned()),
        },
    };
    if shell.out.wants_json() {
        return shell.out.json(&json!({
            "key": text, "value": value, "from": from, "used": def.is_some(),
            "about": def.map(|def| def.about), "type": def.map(|def| def.kind.words()),
            "default": def.filter(|def| !def.default.is_empty()).map(|def| value_of(def.kind, def.default)),
        }));
    }
    let about = match def {
        Some(def) => format!("{}; {}", def.about, def.kind.words()),
        None if matches!(standing(key), Standing::Above) => "a map of settings".to_owned(),
        None => "known, and not used by this version".to_owned(),
    };
    shell.out.text(&format!("{text}: {about}\nvalue: {}\nfrom:  {from}", plain(&value)))
}

fn all(shell: &Shell) -> Result<(), Failure> {
    if shell.out.wants_json() {
        let list: Vec<Value> = keys()
            .map(|def| {
                json!({ "key": def.path, "type": def.kind.words(), "default": def.default, "about": def.about })
            })
            .collect();
        return shell.out.json(&list);
    }
    let rows: Vec<Vec<Cell>> = keys()
        .map(|def| {
            vec![
                Cell::new(def.path).tone(Tone::Strong),
                Cell::new(def.default).tone(Tone::Faint),
                Cell::new(def.about),
            ]
        })
        .collect();
    shell.out.table(&["KEY", "DEFAULT", "WHAT FOR"], &rows)
}
