//! `hermes mcp serve`: the tools of this program for any MCP client.

use hermes::McpServer;
use tokio_util::sync::CancellationToken;

use crate::command::{Failure, Run};
use crate::interrupt::Interrupt;
use crate::shell::Shell;
use crate::tools::Choice;

/// Below the options.
const AFTER_HELP: &str = "\
Without --http the client is at the other end of standard input and output, and the server ends with it.

Examples:
  hermes mcp serve
  hermes mcp serve --toolsets file,terminal";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Serve {
    #[command(flatten)]
    choice: Choice,
}

impl Run for Serve {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.recording_runtime()?;
        let server = McpServer::new(&runtime, self.choice.selection(&runtime)?)?.record_sessions();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        // Where signals cannot be listened to, Ctrl-C still ends the program, only less politely.
        let interrupt = Interrupt::watch(move || stopped.cancel()).ok();
        server.stdio(stop).map_err(Failure::failed)?;
        match interrupt.as_ref().and_then(Interrupt::exit_code) {
            None => Ok(()),
            Some(code) => Err(Failure::Told(code)),
        }
    }
}
