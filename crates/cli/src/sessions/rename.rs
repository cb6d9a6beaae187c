//! `hermes sessions rename SESSION TITLE`: a title that can be used in place of the id.

use serde_json::json;

use crate::command::{Failure, Run};
use crate::sessions::with;
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Rename {
    /// An id, the beginning of one, or a title
    session: String,
    /// The new title: at most 100 characters, unlike any other
    #[arg(required = true, value_name = "TITLE")]
    title: Vec<String>,
}

impl Run for Rename {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let store = with(shell, &self.session)?;
        let session = store.find(&self.session)?;
        let title = store.rename(&session.id, &self.title.join(" "))?;
        if shell.out.wants_json() {
            return shell.out.json(&json!({ "id": session.id, "title": title }));
        }
        shell.out.line(&format!("{} is now `{title}`", session.id))
    }
}
