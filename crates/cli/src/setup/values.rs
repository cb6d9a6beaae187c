//! `hermes setup NAME=VALUE…`: all values are checked, then all are written.

use hermes::store::config::{KeyPath, Standing, standing};
use hermes::store::{Config, ConfigFile, Secrets, secrets, variables};
use serde_json::{Value, json};

use crate::command::Failure;
use crate::config::set::wanted;
use crate::config::{is_variable, key_path};
use crate::output;
use crate::shell::Shell;

/// Something to set, understood.
enum Item {
    Variable { name: String, value: String },
    Setting { key: KeyPath, value: Value },
}

pub(crate) fn set(shell: &Shell, values: &[String]) -> Result<(), Failure> {
    let items = values.iter().map(|text| understood(shell, text)).collect::<Result<Vec<Item>, Failure>>()?;
    let home = shell.home()?;
    // Everything that can be wrong is found before anything is written.
    let mut trial = ConfigFile::open(&home)?;
    for item in &items {
        match item {
            Item::Variable { name, .. } => secrets::check_writable(name)?,
            Item::Setting { key, value } => drop(trial.set(key, value)?),
        }
    }
    Config::parse(&home.config(), trial.text(), &|_| None)?;
    let settings: Vec<(&KeyPath, &Value)> = items
        .iter()
        .filter_map(|item| match item {
            Item::Setting { key, value } => Some((key, value)),
            Item::Variable { .. } => None,
        })
        .collect();
    if !settings.is_empty() {
        ConfigFile::update(&home, |file| {
            settings.iter().try_for_each(|(key, value)| file.set(key, value).map(drop))
        })?;
    }
    for item in &items {
        if let Item::Variable { name, value } = item {
            Secrets::write(&home, name, value)?;
        }
    }
    told(shell, &home, &items)
}

fn told(shell: &Shell, home: &hermes::store::Home, items: &[Item]) -> Result<(), Failure> {
    let named = |item: &Item| match item {
        Item::Variable { name, .. } => (name.clone(), home.env()),
        Item::Setting { key, .. } => (key.to_string(), home.config()),
    };
    if shell.out.wants_json() {
        let list: Vec<Value> =
            items.iter().map(named).map(|(name, file)| json!({ "name": name, "file": file })).collect();
        return shell.out.json(&json!({ "set": list }));
    }
    for (name, file) in items.iter().map(named) {
        shell.out.text(&format!("{name} is set in {}", file.display()))?;
    }
    Ok(())
}

fn understood(shell: &Shell, text: &str) -> Result<Item, Failure> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| Failure::usage(format!("`{text}` is not NAME=VALUE")))?;
    let value = match value {
        "-" => crate::input::text("-", shell.cwd())?.trim_end_matches(['\n', '\r']).to_owned(),
        other => other.to_owned(),
    };
    if is_variable(name) {
        if variables::find(name).is_none() && !is_of_a_tool(shell, name) {
            let hint =
                variables::nearest(name).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            output::warn(&format!("{name} is not a variable Hermes knows{hint}"));
        }
        return Ok(Item::Variable { name: name.to_owned(), value });
    }
    let key = key_path(name).map_err(|why| Failure::usage(format!("`{name}`: {why}")))?;
    if let Standing::Unknown { near } = standing(&key) {
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(Failure::usage(format!("`{key}` is not a known key{hint}")));
    }
    let value = wanted(&key, &value);
    Ok(Item::Setting { key, value })
}

/// Whether a tool can use a variable that nobody else has described.
fn is_of_a_tool(shell: &Shell, name: &str) -> bool {
    // Settings that cannot be read are no reason to doubt a name, but neither to trust it.
    shell.runtime().is_ok_and(|runtime| runtime.tools().tools().any(|tool| tool.variables().contains(&name)))
}
