//! `hermes tools info NAME`: everything about one tool.

use std::time::Duration;

use hermes::core::definitions::{Offered, Toolbox};
use hermes::core::gate::Gate;
use hermes::core::tool::{MaxSize, Parallel, ToolEntry, Trust};
use hermes::core::toolset::Selection;
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::shell::Shell;
use crate::table::{Cell, Tone};
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
        let view = View::of(tool, &toolbox, source_word(snapshot.source(&self.name)));
        if shell.out.wants_json() { shell.out.json(&view.json()) } else { view.show(shell) }
    }
}

/// A tool, and what became of it at this moment.
struct View<'a> {
    tool: &'a ToolEntry,
    source: String,
    offered: Option<&'a Offered>,
    reason: Option<&'a str>,
    core: bool,
}

impl<'a> View<'a> {
    fn of(tool: &'a ToolEntry, toolbox: &'a Toolbox, source: String) -> Self {
        let closed = toolbox.unavailable().iter().find(|closed| closed.name == *tool.name());
        Self {
            tool,
            source,
            offered: toolbox.offered().iter().find(|offered| offered.name() == tool.name()),
            reason: closed.map(|closed| closed.why.as_ref()),
            core: toolbox.snapshot().catalog().is_core(tool.name()),
        }
    }

    /// The arguments as they are offered now.
    fn parameters(&self) -> &Value {
        self.offered.map_or(&self.tool.definition().parameters, |offered| offered.parameters())
    }

    fn json(&self) -> Value {
        let tool = self.tool;
        json!({
            "name": tool.name().as_ref(),
            "toolset": tool.toolset().as_ref(),
            "emoji": tool.emoji_text(),
            "source": self.source,
            "core": self.core,
            "description": tool.definition().description,
            "parameters": self.parameters(),
            "available": self.offered.is_some(),
            "reason": self.reason,
            "needs": tool.gate_value().to_string(),
            "requires_env": tool.required_env().collect::<Vec<_>>(),
            "variables": tool.variables(),
            "max_result": match tool.max_result_size() {
                None => json!("default"),
                Some(MaxSize::Chars(chars)) => json!(chars),
                Some(MaxSize::Unlimited) => json!("unlimited"),
            },
            "timeout_seconds": limit(tool).map(|limit| limit.as_secs_f64()),
            "read_only": tool.is_read_only(),
            "parallel": match tool.parallel() {
                Parallel::ByEffects => "by effects",
                Parallel::Never => "never",
            },
            "trusted_output": tool.trust() == Trust::Trusted,
            "dynamic_schema": tool.dynamic_schema().is_some(),
            "tokens": self.offered.map(Offered::tokens),
        })
    }

    fn show(&self, shell: &Shell) -> Result<(), Failure> {
        let out = &shell.out;
        out.line(&format!("{} {}", self.tool.emoji_text(), out.paint(self.tool.name(), Tone::Strong)))?;
        out.text(&self.tool.definition().description)?;
        out.line("")?;
        let facts = self.facts();
        let row = |(key, value): &(&str, String)| vec![Cell::new(key).tone(Tone::Faint), Cell::new(value)];
        out.table(&["", ""], &facts.iter().map(row).collect::<Vec<_>>())?;
        out.line("")?;
        let arguments = arguments(self.parameters());
        if arguments.is_empty() {
            return out.line("It takes no arguments.");
        }
        out.table(&["ARGUMENT", "TYPE", "", "WHAT FOR"], &arguments)
    }

    /// What a person wants to know, in their words; what goes without saying is left out.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let tool = self.tool;
        let available = match self.reason {
            None => "yes".to_owned(),
            Some(reason) => format!("no: {reason}"),
        };
        let mut facts = vec![("toolset", tool.toolset().to_string()), ("from", self.source.clone())];
        facts.push(("available", available));
        if *tool.gate_value() != Gate::Open {
            facts.push(("available if", tool.gate_value().to_string()));
        }
        let variables = tool.variables();
        if !variables.is_empty() {
            facts.push(("variables", variables.join(", ")));
        }
        facts.push((
            "changes",
            if tool.is_read_only() {
                "nothing, it only looks"
            } else {
                "only what policy allows, call by call"
            }
            .into(),
        ));
        facts.push((
            "beside others",
            match tool.parallel() {
                Parallel::ByEffects => "unless they touch the same things".to_owned(),
                Parallel::Never => "never".to_owned(),
            },
        ));
        if tool.trust() == Trust::Untrusted {
            facts.push(("its answers", "carry text from strangers, and are marked as such".to_owned()));
        }
        facts.push((
            "longest answer",
            match tool.max_result_size() {
                None => "as for all tools".to_owned(),
                Some(MaxSize::Chars(chars)) => format!("{chars} characters, the rest goes to a file"),
                Some(MaxSize::Unlimited) => "unlimited".to_owned(),
            },
        ));
        facts.extend(limit(tool).map(|limit| ("longest run", format!("{} s", limit.as_secs_f64()))));
        facts.extend(self.offered.map(|offered| ("tokens", format!("about {}", offered.tokens()))));
        facts
    }
}

/// How long a call may take, where that is limited.
fn limit(tool: &ToolEntry) -> Option<Duration> {
    tool.time_limit().filter(|limit| *limit < Duration::MAX)
}

/// One row per argument.
fn arguments(schema: &Value) -> Vec<Vec<Cell>> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|list| list.iter().any(|item| item == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let default = property.get("default").map(|value| format!("default {value}")).unwrap_or_default();
            let must = if is_required(name) { "required".to_owned() } else { default };
            let what = property.get("description").and_then(Value::as_str).unwrap_or_default();
            vec![
                Cell::new(name).tone(Tone::Strong),
                Cell::new(kind(property)),
                Cell::new(must),
                Cell::new(what),
            ]
        })
        .collect()
}

/// The words an argument can be, or what kind of value it is.
fn kind(property: &Value) -> String {
    if let Some(words) = property.get("enum").and_then(Value::as_array) {
        return words
            .iter()
            .map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned))
            .collect::<Vec<_>>()
            .join("|");
    }
    match property.get("type") {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
        _ => "any".to_owned(),
    }
}
