//! `hermes sessions stats`: how much is stored, and what it cost.

use hermes::store::sessions;

use crate::command::{Failure, Run};
use crate::sessions::existing;
use crate::shell::Shell;
use crate::table::{Cell, Tone};

#[derive(clap::Args)]
pub(crate) struct Stats {}

impl Run for Stats {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let stats = match existing(shell)? {
            Some(store) => store.stats()?,
            None => sessions::Stats::default(),
        };
        if shell.out.wants_json() {
            return shell.out.json(&stats);
        }
        let tokens = &stats.tokens;
        let mut lines = vec![
            ("sessions", stats.sessions.to_string()),
            ("messages", stats.messages.to_string()),
            ("tool calls", stats.calls.to_string()),
            ("interrupted", stats.interrupted_calls.to_string()),
            ("model calls", tokens.api_calls.to_string()),
            ("tokens in", tokens.input_tokens.to_string()),
            ("tokens out", tokens.output_tokens.to_string()),
            ("cost", format!("${:.4}", tokens.cost_usd)),
            ("file", format!("{} KB", stats.bytes / 1024)),
        ];
        lines.extend(stats.by_source.iter().map(|(source, count)| (source.as_str(), count.to_string())));
        let rows: Vec<Vec<Cell>> = lines
            .into_iter()
            .map(|(name, value)| vec![Cell::new(name).tone(Tone::Faint), Cell::new(value)])
            .collect();
        shell.out.table(&["WHAT", "HOW MUCH"], &rows)
    }
}
