//! `hermes fence`: what commands of this machine are kept from, and the proof of it.

use crate::command::{CommandDef, Failure, Run};
use crate::fence::{status, test};
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<FenceCommand>("fence", "Show what commands are kept from, and prove it");

#[derive(clap::Args)]
struct FenceCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Show what the fence lets through here, and what this kernel supports
    Status(status::Status),
    /// Try what the fence forbids, behind it; exits 1 when a demanded protection does not hold
    Test(test::Test),
}

impl Run for FenceCommand {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        match self.action {
            Action::Status(status) => status.run(shell),
            Action::Test(test) => test.run(shell),
        }
    }
}
