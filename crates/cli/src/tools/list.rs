//! `hermes tools list`: every tool, and whether the agent has it.

use std::collections::BTreeSet;

use hermes::core::definitions::Toolbox;
use hermes::core::registry::Snapshot;
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::output;
use crate::shell::Shell;
use crate::table::{Cell, Tone};
use crate::tools::{Choice, first_sentence, source_word, whole_toolbox};

#[derive(clap::Args)]
pub(crate) struct List {
    #[command(flatten)]
    choice: Choice,
}

impl Run for List {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let toolbox = whole_toolbox(&runtime, &self.choice.looked_at(&runtime)?)?;
        for problem in runtime.foreign_problems() {
            output::warn(&problem);
        }
        let rows = rows(toolbox.snapshot(), &toolbox);
        if shell.out.wants_json() {
            return shell.out.json(&rows.iter().map(Row::json).collect::<Vec<_>>());
        }
        let cells: Vec<Vec<Cell>> = rows.iter().map(Row::cells).collect();
        shell.out.table(&["TOOL", "TOOLSET", "STATE", "WHAT FOR"], &cells)
    }
}

struct Row {
    name: String,
    toolset: String,
    emoji: String,
    description: String,
    source: String,
    state: State,
}

enum State {
    On,
    Off,
    Unavailable(String),
}

fn rows(snapshot: &Snapshot, toolbox: &Toolbox) -> Vec<Row> {
    let on: BTreeSet<&str> = toolbox.offered().iter().map(|tool| tool.name().as_ref()).collect();
    let closed = |name: &str| toolbox.unavailable().iter().find(|tool| tool.name.as_ref() == name);
    let state = |name: &str| {
        if on.contains(name) {
            State::On
        } else if let Some(tool) = closed(name) {
            State::Unavailable(tool.why.to_string())
        } else {
            State::Off
        }
    };
    snapshot
        .tools()
        .map(|tool| Row {
            name: tool.name().to_string(),
            toolset: tool.toolset().to_string(),
            emoji: tool.emoji_text().to_owned(),
            description: tool.definition().description.clone(),
            source: source_word(snapshot.source(tool.name())),
            state: state(tool.name()),
        })
        .collect()
}

impl Row {
    fn json(&self) -> Value {
        let mut value = json!({
            "name": self.name,
            "toolset": self.toolset,
            "emoji": self.emoji,
            "source": self.source,
            "enabled": !matches!(self.state, State::Off),
            "available": matches!(self.state, State::On),
            "description": self.description,
        });
        if let (State::Unavailable(why), Some(fields)) = (&self.state, value.as_object_mut()) {
            fields.insert("reason".to_owned(), json!(why));
        }
        value
    }

    fn cells(&self) -> Vec<Cell> {
        let what = first_sentence(&self.description);
        let (state, what) = match &self.state {
            State::On => (Cell::new("on").tone(Tone::Good), Cell::new(what)),
            State::Off => (Cell::new("off").tone(Tone::Faint), Cell::new(what)),
            State::Unavailable(why) => {
                (Cell::new("not available").tone(Tone::Bad), Cell::new(format!("{why}: {what}")))
            }
        };
        vec![Cell::new(&self.name).tone(Tone::Strong), Cell::new(&self.toolset), state, what]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Look;

    fn row(state: State) -> Row {
        Row {
            name: "web_search".to_owned(),
            toolset: "web".to_owned(),
            emoji: "🔍".to_owned(),
            description: "Search the web. Use short queries.".to_owned(),
            source: "builtin".to_owned(),
            state,
        }
    }

    #[test]
    fn what_is_missing_stands_before_what_it_would_be_for() {
        let closed = row(State::Unavailable("needs WEB_KEY".to_owned()));

        let text = Look { colour: false, columns: None }.table(&["", "", "", ""], &[closed.cells()]);

        assert_eq!(text, "web_search  web  not available  needs WEB_KEY: Search the web\n");
        assert_eq!(closed.json()["reason"], "needs WEB_KEY");
        assert_eq!((&closed.json()["enabled"], &closed.json()["available"]), (&json!(true), &json!(false)));
        assert_eq!(row(State::Off).json().get("reason"), None);
    }
}
