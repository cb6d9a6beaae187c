//! `hermes mcp list`: the servers and how each stands. Nothing is started.

use hermes::extend::mcp::client::{Server, Status};
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

#[derive(clap::Args)]
pub(crate) struct List {}

impl Run for List {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let mcp = runtime.mcp();
        let mut rows: Vec<Row> = mcp.servers().iter().map(Row::of).collect();
        rows.extend(mcp.switched_off().iter().map(|config| Row {
            name: config.name.clone(),
            kind: config.kind(),
            place: config.place(),
            status: Status::Disabled,
            tools: None,
            changed: 0,
        }));
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        if shell.out.wants_json() {
            return shell.out.json(&rows.iter().map(Row::json).collect::<Vec<_>>());
        }
        if rows.is_empty() {
            return shell.out.nothing("There are no MCP servers; `hermes mcp add NAME -- COMMAND` adds one.");
        }
        let cells: Vec<Vec<Cell>> = rows.iter().map(Row::cells).collect();
        shell.out.table(&["SERVER", "KIND", "STATE", "TOOLS", "WHERE"], &cells)
    }
}

struct Row {
    name: String,
    kind: &'static str,
    place: String,
    status: Status,
    tools: Option<usize>,
    changed: usize,
}

impl Row {
    fn of(server: &Server) -> Self {
        let (config, known) = (server.config(), server.known());
        Self {
            name: config.name.clone(),
            kind: config.kind(),
            place: config.place(),
            status: server.status(),
            tools: server.is_known().then_some(known.tools.len()),
            changed: known.changed().count(),
        }
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "transport": self.kind,
            "where": self.place,
            "status": self.status.word(),
            "tools": self.tools,
            "held_back": self.changed,
        })
    }

    fn cells(&self) -> Vec<Cell> {
        let tone = match self.status {
            Status::Connected | Status::Ready => Tone::Good,
            Status::Failed(_) | Status::NeedsLogin(_) => Tone::Bad,
            _ => Tone::Faint,
        };
        let tools = match (self.tools, self.changed) {
            (None, _) => "-".to_owned(),
            (Some(tools), 0) => tools.to_string(),
            (Some(tools), changed) => format!("{tools}, {changed} held back"),
        };
        vec![
            Cell::new(&self.name).tone(Tone::Strong),
            Cell::new(self.kind),
            Cell::new(self.status.word()).tone(tone),
            Cell::new(tools),
            Cell::new(&self.place),
        ]
    }
}
