//! `hermes sessions search WORDS`: messages by what they say.

use hermes::store::sessions::{self, Hit, Moment, Order};

use crate::command::{Failure, Run};
use crate::sessions::{date, existing};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

#[derive(clap::Args)]
pub(crate) struct Search {
    /// Words, "phrases in quotes", OR, NOT
    #[arg(required = true, value_name = "WORD")]
    words: Vec<String>,
    /// Most messages to show
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: u32,
    /// Leave out so many at the beginning
    #[arg(long, default_value_t = 0, value_name = "N")]
    offset: u32,
    /// Which come first
    #[arg(long, value_enum, default_value_t = Sort::Best)]
    sort: Sort,
    /// Only messages of these roles (user, assistant, tool)
    #[arg(long, value_delimiter = ',', value_name = "ROLE,…")]
    role: Vec<String>,
    /// Only sessions from these sources
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    source: Vec<String>,
    /// Only this session and those that go on from it
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only messages from this date on
    #[arg(long, value_parser = date, value_name = "DATE")]
    since: Option<Moment>,
    /// Only messages before this date
    #[arg(long, value_parser = date, value_name = "DATE")]
    until: Option<Moment>,
}

/// The order of what is found.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Sort {
    /// Whole words, then parts of words
    Best,
    /// The newest
    Newest,
    /// The oldest
    Oldest,
}

impl Run for Search {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let mut found: Vec<Hit> = Vec::new();
        if let Some(store) = existing(shell)? {
            let session = self.session.as_deref().map(|name| store.find(name)).transpose()?;
            found = store.search(&sessions::Search {
                roles: self.role,
                sources: self.source,
                family_of: session.map(|session| session.id),
                since: self.since,
                until: self.until,
                order: match self.sort {
                    Sort::Best => Order::Best,
                    Sort::Newest => Order::Newest,
                    Sort::Oldest => Order::Oldest,
                },
                limit: self.limit,
                offset: self.offset,
                ..sessions::Search::text(self.words.join(" "))
            })?;
        }
        if shell.out.wants_json() {
            return shell.out.json(&found);
        }
        if found.is_empty() {
            return shell.out.line("nothing found");
        }
        let rows: Vec<Vec<Cell>> = found
            .iter()
            .map(|hit| {
                vec![
                    Cell::new(&hit.session_id).tone(Tone::Strong),
                    Cell::new(hit.at.to_string()),
                    Cell::new(&hit.role),
                    Cell::new(&hit.snippet),
                ]
            })
            .collect();
        shell.out.table(&["SESSION", "WHEN (UTC)", "WHO", "TEXT"], &rows)
    }
}
