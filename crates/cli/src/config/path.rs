//! `hermes config path` and `hermes config env-path`: where the files are, whether or not they exist.

use serde_json::json;

use crate::command::{Failure, Run};
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct ConfigPath {}

#[derive(clap::Args)]
pub(crate) struct EnvPath {}

impl Run for ConfigPath {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        told(shell, &shell.home()?.config())
    }
}

impl Run for EnvPath {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        told(shell, &shell.home()?.env())
    }
}

fn told(shell: &Shell, path: &std::path::Path) -> Result<(), Failure> {
    if shell.out.wants_json() {
        return shell.out.json(&json!({ "path": path }));
    }
    shell.out.text(&path.display().to_string())
}
