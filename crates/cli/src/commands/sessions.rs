//! `hermes sessions`: look at, find, name, export and delete conversations.

use crate::command::{CommandDef, Failure, Run};
use crate::sessions::{delete, export, list, prune, rename, search, show, stats};
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Sessions>("sessions", "List, search, show, rename, export and delete sessions");

#[derive(clap::Args)]
struct Sessions {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List sessions, those last used first
    List(list::List),
    /// Find messages by what they say
    Search(search::Search),
    /// Show a session
    Show(show::Show),
    /// Give a session a title
    Rename(rename::Rename),
    /// Print sessions as JSON lines or markdown
    Export(export::Export),
    /// Delete sessions
    Delete(delete::Delete),
    /// Delete old sessions
    Prune(prune::Prune),
    /// Show how much is stored, and what it cost
    Stats(stats::Stats),
}

impl Run for Sessions {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        match self.action {
            Action::List(list) => list.run(shell),
            Action::Search(search) => search.run(shell),
            Action::Show(show) => show.run(shell),
            Action::Rename(rename) => rename.run(shell),
            Action::Export(export) => export.run(shell),
            Action::Delete(delete) => delete.run(shell),
            Action::Prune(prune) => prune.run(shell),
            Action::Stats(stats) => stats.run(shell),
        }
    }
}
