//! `hermes config`: look at, change, check and explain the configuration.

use crate::command::{CommandDef, Failure, Run};
use crate::config::{check, edit, explain, get, path, set, show, unset};
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Config>("config", "Look at, change, check and explain the configuration");

#[derive(clap::Args)]
struct Config {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Print the whole configuration, keys hidden
    Show(show::Show),
    /// Print one value
    Get(get::Get),
    /// Set a value; comments stay
    Set(set::Set),
    /// Remove a value
    Unset(unset::Unset),
    /// Open the file in your editor, and check it afterwards
    Edit(edit::Edit),
    /// Find everything that is wrong, unknown or not used
    Check(check::Check),
    /// Say what a key is for and where its value comes from
    Explain(explain::Explain),
    /// Print where the configuration is
    Path(path::ConfigPath),
    /// Print where the secrets are
    EnvPath(path::EnvPath),
}

impl Run for Config {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        match self.action {
            Action::Show(show) => show.run(shell),
            Action::Get(get) => get.run(shell),
            Action::Set(set) => set.run(shell),
            Action::Unset(unset) => unset.run(shell),
            Action::Edit(edit) => edit.run(shell),
            Action::Check(check) => check.run(shell),
            Action::Explain(explain) => explain.run(shell),
            Action::Path(path) => path.run(shell),
            Action::EnvPath(path) => path.run(shell),
        }
    }
}
