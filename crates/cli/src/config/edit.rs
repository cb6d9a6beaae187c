//! `hermes config edit`: the file in the person's own editor, checked when it is closed.

use crate::command::{Failure, Run};
use crate::config::check::Check;
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Edit {}

impl Run for Edit {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let home = shell.home()?;
        let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| shell.variable(name)).unwrap_or("vi");
        home.create()?;
        hermes::env::editor::edit(editor, &home.config()).map_err(Failure::failed)?;
        Check {}.run(shell)
    }
}
