//! `hermes tools info NAME`: everything about one tool.

use hermes::core::definitions::{Offered, Toolbox};
use hermes::core::tool::{MaxSize, Parallel, ToolEntry, Trust};
use hermes::core::toolset::Selection;
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::output::{Cell, Tone};
use crate::shell::Shell;
use crate::tools::{no_such_tool, source_word, whole_toolbox};

#[derive(clap::Args)]
pub(crate) struct Info {
    /// Name of the tool
    name: String,
}

impl Run for Info {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let snapshot = runtime.tools();
        let tool = snapshot.tool(&self.name).ok_or_else(|| no_such_tool(&self.name, &snapshot))?;
        let toolbox = whole_toolbox(&runtime, &Selection::everything())?;
        let facts = facts(tool, &toolbox, &source_word(snapshot.source(&self.name)));
        if shell.out.wants_json() { shell.out.json(&facts) } else { shown(tool, &facts, shell) }
    }
}

fn facts(tool: &ToolEntry, toolbox: &Toolbox, source: &str) -> Value {
    let offered = toolbox.offered().iter().find(|offered| offered.name() == tool.name());
    let closed = toolbox.unavailable().iter().find(|closed| closed.name == *tool.name());
    json!({
        "name": tool.name().as_ref(),
        "toolset": tool.toolset().as_ref(),
        "emoji": tool.emoji_text(),
        "source": source,
        "description": tool.definition().description,
        "parameters": offered.map_or(&tool.definition().parameters, |offered| offered.parameters().as_ref()),
        "available": offered.is_some(),
        "reason": closed.map(|closed| closed.why.as_ref()),
        "needs": tool.gate_value().to_string(),
        "requires_env": tool.required_env().collect::<Vec<_>>(),
        "max_result": match tool.max_result_size() {
            None => json!("default"),
            Some(MaxSize::Chars(chars)) => json!(chars),
            Some(MaxSize::Unlimited) => json!("unlimited"),
        },
        "read_only": tool.is_read_only(),
        "parallel": match tool.parallel() {
            Parallel::ByEffects => "by effects",
            Parallel::Never => "never",
        },
        "trusted_output": tool.trust() == Trust::Trusted,
        "dynamic_schema": tool.dynamic_schema().is_some(),
        "tokens": offered.map(Offered::tokens),
    })
}

fn shown(tool: &ToolEntry, facts: &Value, shell: &Shell) -> Result<(), Failure> {
    let out = &shell.out;
    out.line(&format!("{} {}", tool.emoji_text(), out.paint(tool.name(), Tone::Strong)))?;
    out.line(&tool.definition().description)?;
    out.line("")?;
    let said = |key: &str| match facts.get(key) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) if items.is_empty() => "-".to_owned(),
        Some(other) => other.to_string(),
    };
    let keys = [
        "toolset",
        "source",
        "available",
        "reason",
        "needs",
        "requires_env",
        "read_only",
        "parallel",
        "trusted_output",
        "max_result",
        "tokens",
    ];
    let rows: Vec<Vec<Cell>> = keys
        .iter()
        .map(|key| vec![Cell::new(key.replace('_', " ")).tone(Tone::Faint), Cell::new(said(key))])
        .collect();
    out.table(&["", ""], &rows)?;
    out.line("")?;
    parameters(facts.get("parameters"), shell)
}

fn parameters(schema: Option<&Value>, shell: &Shell) -> Result<(), Failure> {
    let required = |name: &str| {
        let list = schema.and_then(|schema| schema.get("required")).and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|item| item == name))
    };
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let rows: Vec<Vec<Cell>> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let text = |key: &str| property.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let default = property.get("default").map(|value| format!("default {value}")).unwrap_or_default();
            let must = if required(name) { "required".to_owned() } else { default };
            vec![
                Cell::new(name).tone(Tone::Strong),
                Cell::new(text("type")),
                Cell::new(must),
                Cell::new(text("description")),
            ]
        })
        .collect();
    if rows.is_empty() {
        return shell.out.line("It takes no arguments.");
    }
    shell.out.table(&["ARGUMENT", "TYPE", "", "WHAT FOR"], &rows)
}
