//! `hermes policy`: what may run, and why.

use crate::command::{CommandDef, Failure, Run};
use crate::policy::{check, explain, rules};
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<PolicyCommand>("policy", "Explain what may run, and list the rules");

#[derive(clap::Args)]
struct PolicyCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Tell what a command would do, and whether it may run
    Explain(explain::Explain),
    /// Judge many commands: one JSON object per line on standard input, one answer per line
    Check(check::Check),
    /// List every rule, with commands it catches and commands it leaves alone
    Rules(rules::Rules),
}

impl Run for PolicyCommand {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        match self.action {
            Action::Explain(explain) => explain.run(shell),
            Action::Check(check) => check.run(shell),
            Action::Rules(rules) => rules.run(shell),
        }
    }
}
