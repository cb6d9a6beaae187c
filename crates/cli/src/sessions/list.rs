//! `hermes sessions list`: the sessions, those last used first.

use hermes::store::sessions::Listing;
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::sessions::existing;
use crate::shell::Shell;
use crate::table::{Cell, Tone};

/// Characters of the first message shown where there is no title.
const PREVIEW: usize = 80;

#[derive(clap::Args)]
pub(crate) struct List {
    /// Most sessions to list
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: u32,
    /// Leave out so many at the beginning
    #[arg(long, default_value_t = 0, value_name = "N")]
    offset: u32,
    /// Only sessions from this source (cli, telegram, …)
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Also the archived ones
    #[arg(long)]
    all: bool,
}

impl Run for List {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let listing = Listing {
            source: self.source,
            archived: self.all,
            with_messages: false,
            limit: self.limit,
            offset: self.offset,
        };
        let mut found = Vec::new();
        if let Some(store) = existing(shell)? {
            for session in store.list(&listing)? {
                let preview = store.preview(&session.id, PREVIEW)?;
                found.push((session, preview));
            }
        }
        if shell.out.wants_json() {
            let list = found.iter().map(|(session, preview)| {
                let mut value = serde_json::to_value(session).map_err(Failure::failed)?;
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("preview".to_owned(), json!(preview));
                }
                Ok(value)
            });
            return shell.out.json(&list.collect::<Result<Vec<Value>, Failure>>()?);
        }
        if found.is_empty() {
            return shell.out.line("no sessions");
        }
        let rows: Vec<Vec<Cell>> = found
            .iter()
            .map(|(session, preview)| {
                let (title, tone) = match &session.title {
                    Some(title) => (title.as_str(), Tone::Plain),
                    None => (preview.as_deref().unwrap_or_default(), Tone::Faint),
                };
                vec![
                    Cell::new(&session.id).tone(Tone::Strong),
                    Cell::new(session.active_at.to_string()),
                    Cell::new(&session.source),
                    Cell::new(session.message_count.to_string()),
                    Cell::new(title).tone(tone),
                ]
            })
            .collect();
        shell.out.table(&["SESSION", "LAST USED (UTC)", "SOURCE", "MESSAGES", "TITLE"], &rows)
    }
}
