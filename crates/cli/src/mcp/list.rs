//! `hermes mcp list`: the servers and how each stands. Nothing is started.

use hermes::extend::mcp::client::{Misread, Server, ServerConfig, Status};
use hermes::guard::redact::Redactor;
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
        if let Some(wrong) = mcp.wrong_section().first() {
            return Err(Failure::usage(format!("{wrong} in config.yaml")));
        }
        let mut rows: Vec<Row> = mcp.servers().iter().map(Row::of).collect();
        rows.extend(mcp.switched_off().iter().map(|config| Row::bare(config, Status::Disabled.word())));
        rows.extend(mcp.misread().into_iter().map(|Misread { name, why }| Row {
            name,
            state: "wrong",
            why: Some(why),
            ..Row::default()
        }));
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        if shell.out.wants_json() {
            return shell.out.json(&rows.iter().map(Row::json).collect::<Vec<_>>());
        }
        if rows.is_empty() {
            return shell.out.nothing("There are no MCP servers; `hermes mcp add NAME -- COMMAND` adds one.");
        }
        let cells: Vec<Vec<Cell>> = rows.iter().map(Row::cells).collect();
        shell.out.table(&["SERVER", "KIND", "STATE", "TOOLS", "WHERE"], &cells)?;
        rows.iter().filter_map(Row::advice).try_for_each(|line| shell.out.text(&line))?;
        let notes = rows.iter().flat_map(|row| row.notes.iter().map(|note| (&row.name, note)));
        notes.into_iter().try_for_each(|(name, note)| shell.out.text(&format!("note: `{name}`: {note}")))
    }
}

#[derive(Default)]
struct Row {
    name: String,
    kind: &'static str,
    place: String,
    state: &'static str,
    why: Option<String>,
    tools: Option<usize>,
    changed: usize,
    new: usize,
    notes: Vec<String>,
}

impl Row {
    fn bare(config: &ServerConfig, state: &'static str) -> Self {
        // A key that nothing tells is one may have the look of one.
        let place = Redactor::default().redact(&config.place).into_owned();
        let (name, notes) = (config.name.clone(), config.notes.clone());
        Self { name, kind: config.kind(), place, state, notes, ..Self::default() }
    }

    fn of(server: &Server) -> Self {
        let (known, standing) = (server.known(), server.standing());
        let why = match &standing {
            Status::Failed(why) | Status::NeedsLogin(why) => {
                Some(Redactor::default().redact(why).into_owned())
            }
            _ => None,
        };
        Self {
            why,
            tools: server.is_known().then_some(known.tools.len()),
            changed: known.changed().count(),
            new: known.unseen().count(),
            notes: server.notes(),
            ..Self::bare(server.config(), standing.word())
        }
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "transport": Some(self.kind).filter(|kind| !kind.is_empty()),
            "where": Some(&self.place).filter(|place| !place.is_empty()),
            "status": self.state,
            "why": self.why,
            "tools": self.tools,
            "held_back": self.changed,
            "new": self.new,
            "notes": self.notes,
        })
    }

    /// What went wrong and what helps.
    fn advice(&self) -> Option<String> {
        let (name, why) = (&self.name, self.why.as_ref()?);
        Some(match self.state {
            "needs login" => format!("`{name}` needs a login: {why}; run `hermes mcp login {name}`"),
            "failed" => {
                format!("`{name}` did not work the last time: {why}; `hermes mcp test {name}` tries again")
            }
            _ => format!("`{name}` is wrong in config.yaml: {why}; `hermes mcp remove {name}` removes it"),
        })
    }

    fn cells(&self) -> Vec<Cell> {
        let tone = match self.state {
            "connected" | "ready" => Tone::Good,
            "failed" | "needs login" | "wrong" => Tone::Bad,
            _ => Tone::Faint,
        };
        let mut tools = self.tools.map_or_else(|| "-".to_owned(), |count| count.to_string());
        for (count, word) in [(self.changed, "held back"), (self.new, "new")] {
            if self.tools.is_some() && count > 0 {
                tools = format!("{tools}, {count} {word}");
            }
        }
        vec![
            Cell::new(&self.name).tone(Tone::Strong),
            Cell::new(self.kind),
            Cell::new(self.state).tone(tone),
            Cell::new(tools),
            Cell::new(&self.place),
        ]
    }
}
