//! `hermes mcp login NAME`: takes the person to the page where they agree.

use std::io::{IsTerminal as _, stdin};

use hermes::core::host;
use hermes::extend::mcp::oauth::{OAuthError, Pasted};
use serde_json::json;

use crate::command::{Failure, Run};
use crate::mcp::{NEEDS_LOGIN, server, trouble};
use crate::output;
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Login {
    /// Which server
    name: String,
}

impl Run for Login {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let server = server(&runtime, &self.name)?;
        let show = Box::new(|page: &str| {
            output::say(&format!(
                "Open this page and agree:\n\n{page}\n\nWhere the browser runs on another machine, paste the address it ends at here."
            ));
        });
        let host = runtime.host();
        let pasted: Option<Pasted> = stdin().is_terminal().then(|| -> Pasted {
            Box::pin(async move {
                let line = host::blocking(&host, || {
                    let mut line = String::new();
                    stdin().read_line(&mut line).ok().filter(|count| *count > 0).map(|_| line)
                });
                line.await.ok().flatten().map(|line| line.trim().to_owned()).filter(|line| line.contains('?'))
            })
        });
        runtime.mcp().login_blocking(server.config(), show, pasted).map_err(|error| match error {
            OAuthError::Refused(_) | OAuthError::NeedsPerson => {
                Failure::Coded(NEEDS_LOGIN, error.to_string())
            }
            other => Failure::failed(other),
        })?;
        let status = runtime.mcp().start_blocking(&server);
        if let Some(failure) = trouble(&server, &status) {
            return Err(failure);
        }
        if shell.out.wants_json() {
            return shell.out.json(&json!({ "name": self.name, "status": status.word() }));
        }
        shell.out.text(&format!("You are logged in to MCP server `{}`", self.name))
    }
}
