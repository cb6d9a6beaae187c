//! `hermes completion SHELL`: a completion script for the user's shell.

use std::io;

use clap_complete::Shell as Kind;

use crate::command::{CommandDef, Failure, Run};
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Completion>("completion", "Print a completion script for your shell");

#[derive(clap::Args)]
struct Completion {
    /// The shell the script is for
    shell: Kind,
}

impl Run for Completion {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::command_line(), "hermes", &mut script);
        let script = String::from_utf8(script).map_err(|wrong| io::Error::other(wrong.to_string()))?;
        shell.out.line(script.trim_end())
    }
}
