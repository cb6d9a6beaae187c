//! `hermes sessions delete SESSION… --yes`: gone for good.

use serde_json::json;

use crate::command::{Failure, Run};
use crate::sessions::with;
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Delete {
    /// Ids, beginnings of ids, or titles
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,
    /// Really do it
    #[arg(long, short)]
    yes: bool,
}

impl Run for Delete {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let store = with(shell, self.sessions.first().map_or("", String::as_str))?;
        let mut meant = Vec::new();
        for name in &self.sessions {
            let session = store.find(name)?;
            meant.push((session.id, session.title));
        }
        if !self.yes {
            let names: Vec<String> = meant
                .iter()
                .map(|(id, title)| title.as_ref().map_or(id.clone(), |title| format!("{id} ({title})")))
                .collect();
            return Err(Failure::usage(format!(
                "this would delete {}; add --yes to do it",
                names.join(", ")
            )));
        }
        for (id, _) in &meant {
            store.delete(id)?;
        }
        let ids: Vec<&String> = meant.iter().map(|(id, _)| id).collect();
        if shell.out.wants_json() {
            return shell.out.json(&json!({ "deleted": ids }));
        }
        shell.out.line(&format!("deleted {}", ids.into_iter().cloned().collect::<Vec<_>>().join(", ")))
    }
}
