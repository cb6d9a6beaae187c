//! `hermes import [PATH]`: the sessions of an existing Hermes `state.db`, which stays as it is.

use std::path::PathBuf;

use serde_json::json;

use crate::command::{CommandDef, Failure, Run};
use crate::output;
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Import>("import", "Bring in the sessions of an existing Hermes state.db");

#[derive(clap::Args)]
struct Import {
    /// The file, or a Hermes home with one; the home in use when left out
    path: Option<PathBuf>,
}

impl Run for Import {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let home = shell.home()?;
        let store = hermes::open_sessions(&home)?;
        let path = match self.path {
            Some(path) if path.extension().is_none() => shell.cwd().join(&path).join("state.db"),
            Some(path) => shell.cwd().join(&path),
            None => home.state_db(),
        };
        let done = store.import(&path)?;
        for (id, title) in &done.renamed {
            output::warn(&format!("session {id} is now titled `{title}`: its title was taken"));
        }
        for id in &done.skipped {
            output::warn(&format!("session {id} was left out: another session has this id"));
        }
        if shell.out.wants_json() {
            return shell.out.json(&json!({ "path": path, "imported": done }));
        }
        shell.out.line(&format!(
            "{} new sessions, {} known, {} new messages from {}",
            done.new_sessions,
            done.known_sessions,
            done.new_messages,
            path.display()
        ))
    }
}
