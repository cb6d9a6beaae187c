//! `hermes tools explain [NAME]`: why each tool is in or out, by the code that decides it.

use hermes::core::definitions::Toolbox;
use hermes::core::toolset::Story;
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::output::{Cell, Tone};
use crate::shell::Shell;
use crate::tools::{Choice, whole_toolbox};

#[derive(clap::Args)]
pub(crate) struct Explain {
    /// Only this tool
    name: Option<String>,
    #[command(flatten)]
    choice: Choice,
}

impl Run for Explain {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let selection = self.choice.selection(&runtime)?;
        let toolbox = whole_toolbox(&runtime, &selection)?;
        let explanation = selection.explain(toolbox.snapshot().catalog())?;
        if let Some(name) = &self.name {
            let story = explanation.of(name).map_err(Failure::usage)?;
            let line = Line::of(story, &toolbox);
            return if shell.out.wants_json() {
                shell.out.json(&line.json())
            } else {
                shell.out.line(&format!("{}: {}", line.name, line.why))
            };
        }
        let lines: Vec<Line> = explanation.tools.iter().map(|story| Line::of(story, &toolbox)).collect();
        if shell.out.wants_json() {
            let missing: Vec<&str> = explanation.missing.iter().map(|member| member.tool.as_ref()).collect();
            let tools: Vec<Value> = lines.iter().map(Line::json).collect();
            return shell.out.json(&json!({ "tools": tools, "not_built": missing }));
        }
        let rows: Vec<Vec<Cell>> = lines.iter().map(Line::cells).collect();
        shell.out.table(&["TOOL", "", "WHY"], &rows)
    }
}

struct Line {
    name: String,
    offered: bool,
    why: String,
}

impl Line {
    fn of(story: &Story, toolbox: &Toolbox) -> Self {
        let closed = toolbox.unavailable().iter().find(|tool| tool.name == story.tool);
        let why = match closed {
            Some(closed) => format!("{story}, but it is not available: {}", closed.why),
            None => story.to_string(),
        };
        Self { name: story.tool.to_string(), offered: story.verdict.is_in() && closed.is_none(), why }
    }

    fn json(&self) -> Value {
        json!({ "name": self.name, "offered": self.offered, "why": self.why })
    }

    fn cells(&self) -> Vec<Cell> {
        let state =
            if self.offered { Cell::new("in").tone(Tone::Good) } else { Cell::new("out").tone(Tone::Bad) };
        vec![Cell::new(&self.name).tone(Tone::Strong), state, Cell::new(&self.why)]
    }
}
