//! `hermes config unset KEY`: removes one value of `config.yaml`, or one variable of `.env`.

use hermes::store::{ConfigFile, Secrets};
use serde_json::json;

use crate::command::{Failure, Run};
use crate::config::{is_variable, key_path};
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Unset {
    /// Dotted path, or a variable
    key: String,
}

impl Run for Unset {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let home = shell.home()?;
        let was_there = if is_variable(&self.key) {
            Secrets::remove(&home, &self.key)?
        } else {
            let key = key_path(&self.key).map_err(Failure::usage)?;
            !ConfigFile::update(&home, |file| file.unset(&key).map(drop))?.is_empty()
        };
        if shell.out.wants_json() {
            return shell.out.json(&json!({ "key": self.key, "changed": was_there }));
        }
        let how = if was_there { "is no longer set" } else { "was not set" };
        shell.out.text(&format!("{} {how}", self.key))
    }
}
