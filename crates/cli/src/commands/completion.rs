//! `hermes completion SHELL`: a completion script for the user's shell.

use std::io;

use clap_complete::Shell as Kind;
use serde_json::json;

use crate::command::{CommandDef, Failure, Run};
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Completion>("completion", "Print a completion script for your shell");

/// Below the options.
const AFTER_HELP: &str = "\
Examples:
  hermes completion bash > ~/.local/share/bash-completion/completions/hermes
  hermes completion zsh > \"${fpath[1]}/_hermes\"
  hermes completion fish > ~/.config/fish/completions/hermes.fish";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
struct Completion {
    /// The shell the script is for
    shell: Kind,
}

impl Run for Completion {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::command_line(), "hermes", &mut script);
        let script = String::from_utf8(script).map_err(|wrong| io::Error::other(wrong.to_string()))?;
        if shell.out.wants_json() {
            return shell.out.json(&json!({ "shell": self.shell.to_string(), "script": script }));
        }
        shell.out.line(script.trim_end())
    }
}
