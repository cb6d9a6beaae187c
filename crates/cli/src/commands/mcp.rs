//! `hermes mcp`: the tools of others, and our tools for others, over the Model Context Protocol.

use crate::command::{CommandDef, Failure, Run};
use crate::mcp::serve;
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Mcp>("mcp", "Use MCP servers, and serve these tools to MCP clients");

#[derive(clap::Args)]
struct Mcp {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Serve the tools to an MCP client: an editor, another agent, a program
    Serve(serve::Serve),
}

impl Run for Mcp {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        match self.action {
            Action::Serve(serve) => serve.run(shell),
        }
    }
}
