//! `hermes mcp test NAME`: starts a server and tells what it offers.

use hermes::extend::mcp::client::Status;
use serde_json::json;

use crate::command::{Failure, Run};
use crate::mcp::{server, trouble};
use crate::output;
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Test {
    /// Which server
    name: String,
}

impl Run for Test {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let server = server(&runtime, &self.name)?;
        if let Some(complaint) = server.config().complaint() {
            output::warn(&complaint);
        }
        let host = runtime.host();
        let began = host.now();
        let status = runtime.mcp().start_blocking(&server);
        let took = host.now().saturating_sub(began);
        let known = server.known();
        let failure = trouble(&server, &status);
        if shell.out.wants_json() {
            let why = match &status {
                Status::Failed(why) | Status::NeedsLogin(why) => Some(why),
                _ => None,
            };
            shell.out.json(&json!({
                "name": self.name,
                "status": status.word(),
                "why": why,
                "seconds": took.as_secs_f64(),
                "server": known.server,
                "protocol": known.protocol,
                "notes": server.notes(),
                "taken": server.taken(),
                "tools": known.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
                "unset": server.config().unset,
                "new": known.unseen().map(|tool| &tool.name).collect::<Vec<_>>(),
                "held_back": known.changed().map(|changed| &changed.now.name).collect::<Vec<_>>(),
                "resources": known.resources,
                "prompts": known.prompts,
            }))?;
            return match failure {
                Some(failure) => Err(Failure::Told(failure.exit_code())),
                None => Ok(()),
            };
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        let called = known.server.as_deref().unwrap_or("it");
        shell.out.text(&format!(
            "{called} works (protocol {}, {:.0} ms): {} tools{}{}",
            known.protocol,
            took.as_secs_f64() * 1000.0,
            count(server.taken(), known.tools.len()),
            if known.resources { ", resources" } else { "" },
            if known.prompts { ", prompts" } else { "" },
        ))?;
        for (count, word) in [(known.changed().count(), "held back"), (known.unseen().count(), "new")] {
            if count > 0 {
                shell.out.text(&format!("{count} {word}: see `hermes mcp tools {}`", self.name))?;
            }
        }
        server.notes().iter().try_for_each(|note| shell.out.text(&format!("note: {note}")))
    }
}

/// How many tools are taken, and of how many where those are not all.
fn count(taken: usize, all: usize) -> String {
    if taken == all { all.to_string() } else { format!("{taken} of {all}") }
}
