//! `hermes sessions prune --older-than DAYS`: deletes what nobody has used for long.

use std::time::Duration;

use hermes::store::sessions;
use serde_json::json;

use crate::command::{Failure, Run};
use crate::sessions::existing;
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Prune {
    /// Sessions not used for so many days
    #[arg(long, default_value_t = 90, value_name = "DAYS")]
    older_than: u32,
    /// Only sessions from this source
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Really do it; without this they are only counted
    #[arg(long, short)]
    yes: bool,
}

impl Run for Prune {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let mut ids = Vec::new();
        if let Some(store) = existing(shell)? {
            let age = Duration::from_secs(u64::from(self.older_than) * 24 * 60 * 60);
            let which = sessions::Prune { before: store.now().before(age), source: self.source };
            ids = if self.yes { store.prune(&which)? } else { store.prunable(&which)? };
        }
        if shell.out.wants_json() {
            return shell.out.json(&json!({ "sessions": ids, "deleted": self.yes }));
        }
        shell.out.line(&match (ids.len(), self.yes) {
            (0, _) => "no session is that old".to_owned(),
            (count, true) => format!("deleted {count} sessions"),
            (count, false) => format!("{count} sessions would be deleted; add --yes to do it"),
        })
    }
}
