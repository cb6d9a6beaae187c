//! `hermes setup`: brings a home to life, by questions or by `NAME=VALUE`.

use crate::command::{CommandDef, Failure, Run};
use crate::setup::{known, values};
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Setup>("setup", "Set up model, keys and settings, by questions or by NAME=VALUE");

/// Set up model, keys and settings.
///
/// A name in capitals is a variable and goes into `.env`; a dotted name is a setting and goes into
/// `config.yaml`. All values are checked before the first is written.
#[derive(clap::Args)]
struct Setup {
    /// Ask nothing: set these values and end
    #[arg(long)]
    non_interactive: bool,
    /// List the variables there are, and which are set
    #[arg(long, conflicts_with = "values")]
    list: bool,
    /// What to set; a value of `-` is read from standard input
    #[arg(value_name = "NAME=VALUE")]
    values: Vec<String>,
}

impl Run for Setup {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        if self.list {
            return known::list(shell);
        }
        if !self.values.is_empty() {
            return values::set(shell, &self.values);
        }
        if self.non_interactive {
            return Err(Failure::usage(
                "nothing to set: give NAME=VALUE; `hermes setup --list` shows the names",
            ));
        }
        crate::setup::ask::questions(shell)
    }
}
