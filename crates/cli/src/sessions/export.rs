//! `hermes sessions export`: sessions as JSON lines or markdown, on standard output.

use hermes::store::sessions::Listing;

use crate::command::{Failure, Run};
use crate::sessions::existing;
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Export {
    /// Ids, beginnings of ids, or titles; all sessions when left out
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// How they are written
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// Only sessions from this source
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Also messages that were taken back
    #[arg(long)]
    history: bool,
}

/// How a session is written.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// One line of JSON per session
    Jsonl,
    /// A document per session
    Markdown,
}

impl Run for Export {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let Some(store) = existing(shell)? else {
            return self.sessions.first().map_or(Ok(()), |name| crate::sessions::with(shell, name).map(drop));
        };
        let ids = if self.sessions.is_empty() {
            let all = Listing { source: self.source, archived: true, limit: u32::MAX, ..Listing::default() };
            store.list(&all)?.into_iter().map(|session| session.id).collect()
        } else {
            let found = self.sessions.iter().map(|name| Ok(store.find(name)?.id));
            found.collect::<Result<Vec<String>, Failure>>()?
        };
        for id in ids {
            let export = store.export(&id, self.history)?;
            match self.format {
                Format::Jsonl => shell.out.line(&export.jsonl()?)?,
                Format::Markdown => shell.out.text(&export.markdown())?,
            }
        }
        Ok(())
    }
}
