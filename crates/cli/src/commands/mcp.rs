//! `hermes mcp`: the tools of others, and our tools for others, over the Model Context Protocol.

use crate::command::{CommandDef, Failure, Run};
use crate::mcp::{add, list, login, remove, serve, test, tools};
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Mcp>("mcp", "Use MCP servers, and serve these tools to MCP clients");

/// Below the options.
const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 the server does not work, 2 there is no such server or the words are wrong, \
3 the server wants a login.";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
struct Mcp {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the servers and how each stands
    List(list::List),
    /// Add a server to config.yaml
    Add(add::Add),
    /// Remove a server, and all that is known of it
    Remove(remove::Remove),
    /// Start a server and tell what it offers
    Test(test::Test),
    /// Log in to a server
    Login(login::Login),
    /// Show a server's tools and what changed in them, or agree to the changes
    Tools(tools::Tools),
    /// Serve the tools to an MCP client: an editor, another agent, a program
    Serve(serve::Serve),
}

impl Run for Mcp {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        match self.action {
            Action::List(list) => list.run(shell),
            Action::Add(add) => add.run(shell),
            Action::Remove(remove) => remove.run(shell),
            Action::Test(test) => test.run(shell),
            Action::Login(login) => login.run(shell),
            Action::Tools(tools) => tools.run(shell),
            Action::Serve(serve) => serve.run(shell),
        }
    }
}
