//! `hermes tools call NAME 'JSON'`: one call on the road, under the same rules as a model's.

use std::io::Read;
use std::sync::Arc;

use hermes::core::toolset::Selection;
use hermes::{Outcome, Status, ToolCall};
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::shell::Shell;
use crate::tools::no_such_tool;

/// Most bytes of arguments read from standard input.
const MAX_INPUT: u64 = 64 * 1024 * 1024;

#[derive(clap::Args)]
pub(crate) struct Call {
    /// Name of the tool
    name: String,
    /// Its arguments as JSON; `-` reads them from standard input
    #[arg(default_value = "{}", value_name = "JSON")]
    arguments: String,
    /// Only these toolsets or tools can be called
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    toolsets: Option<Vec<String>>,
}

impl Run for Call {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let selection = self.toolsets.map_or_else(Selection::everything, Selection::of);
        let arguments = if self.arguments == "-" { from_stdin()? } else { self.arguments };
        let session = runtime.session().select(selection).open()?;
        let outcome = session.call_blocking(ToolCall::new(&self.name, arguments));
        for note in &outcome.notes {
            shell.out.warn(note);
        }
        if outcome.status == Status::Unknown && runtime.tools().tool(&self.name).is_none() {
            return Err(no_such_tool(&self.name, &Arc::clone(&runtime.tools())));
        }
        if shell.out.wants_json() {
            shell.out.json(&described(&outcome))?
        } else {
            shell.out.json_text(&outcome.body)?
        }
        if outcome.status.is_ok() { Ok(()) } else { Err(Failure::Told) }
    }
}

fn from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_INPUT).read_to_string(&mut text);
    read.map_err(|wrong| Failure::usage(format!("cannot read the arguments from standard input: {wrong}")))?;
    Ok(text)
}

fn described(outcome: &Outcome) -> Value {
    json!({
        "id": outcome.id.as_str(),
        "tool": outcome.tool.as_ref(),
        "status": outcome.status.word(),
        "duration_ms": outcome.took.as_secs_f64() * 1000.0,
        "saved_to": outcome.spilled,
        "result": serde_json::from_str::<Value>(&outcome.body).unwrap_or_else(|_| json!(outcome.body)),
    })
}
