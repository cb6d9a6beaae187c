//! `hermes tools`: what tools there are, what the model is told about them, and calling one.

use crate::command::{CommandDef, Failure, Run};
use crate::shell::Shell;
use crate::tools::{call, cost, explain, info, list, new, pick, schema, test, toggle};

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Tools>("tools", "List, explain, switch and call tools");

/// Below the options.
const AFTER_HELP: &str = "\
Without a command: every toolset with its tools, what it costs and what is missing, to be switched with the \
keyboard. Where there is no terminal, or with --json, the same is printed.";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
struct Tools {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    pick: pick::Pick,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List every tool, and whether the agent has it
    List(list::List),
    /// Show everything about one tool
    Info(info::Info),
    /// Print the definitions as the model gets them
    Schema(schema::Schema),
    /// Call a tool, on the same road and under the same rules as a model
    Call(call::Call),
    /// Tell why each tool is in or out
    Explain(explain::Explain),
    /// Show what the definitions cost in tokens, by toolset
    Cost(cost::Cost),
    /// Switch toolsets or tools on
    Enable(toggle::Enable),
    /// Switch toolsets or tools off
    Disable(toggle::Disable),
    /// Write the template of a tool of your own, in Python
    New(new::New),
    /// Load a Python tool file, run its checks and a sample call
    Test(test::Test),
}

impl Run for Tools {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let Some(action) = self.action else { return self.pick.run(shell) };
        self.pick.stands_alone()?;
        match action {
            Action::List(list) => list.run(shell),
            Action::Info(info) => info.run(shell),
            Action::Schema(schema) => schema.run(shell),
            Action::Call(call) => call.run(shell),
            Action::Explain(explain) => explain.run(shell),
            Action::Cost(cost) => cost.run(shell),
            Action::Enable(enable) => enable.run(shell),
            Action::Disable(disable) => disable.run(shell),
            Action::New(new) => new.run(shell),
            Action::Test(test) => test.run(shell),
        }
    }
}
