//! `hermes config get KEY`: one value, from the file or the default.

use hermes::store::config::{KeyPath, Standing, standing};
use serde_json::Value;

use crate::command::{Failure, Run};
use crate::config::{hidden, key_path, plain, read};
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Get {
    /// Dotted path, such as `agent.max_turns`
    #[arg(value_parser = key_path)]
    key: KeyPath,
    /// Print it even if it is a secret
    #[arg(long)]
    reveal: bool,
}

impl Run for Get {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let config = read(shell)?;
        let value = match config.get(&self.key) {
            Some(value) => value,
            None => default_of(&self.key)?,
        };
        let last = self.key.keys().last().map(String::as_str).unwrap_or_default();
        let value = if self.reveal { value } else { hidden(last, &value) };
        if shell.out.wants_json() {
            return shell.out.json(&value);
        }
        shell.out.text(&plain(&value))
    }
}

/// What is used where the file is silent.
fn default_of(key: &KeyPath) -> Result<Value, Failure> {
    match standing(key) {
        Standing::Used(def) if !def.default.is_empty() => Ok(super::set::value_of(def.kind, def.default)),
        Standing::Used(_) | Standing::Above => Err(Failure::failed(format!("`{key}` is not set"))),
        Standing::LeftAlone => {
            Err(Failure::failed(format!("`{key}` is not set, and this version does not use it")))
        }
        Standing::Unknown { near: Some(near) } => {
            Err(Failure::usage(format!("`{key}` is not a known key; did you mean `{near}`?")))
        }
        Standing::Unknown { near: None } => Err(Failure::usage(format!("`{key}` is not a known key"))),
    }
}
