//! `hermes tools test FILE`: loads a Python tool file from anywhere, runs its checks and a sample call.

use hermes::core::definitions::Toolbox;
use hermes::core::toolset::Selection;
use hermes::extend::plugins::offer::OfferedTool;
use hermes::{Runtime, Status, ToolCall};
use serde_json::{Map, Value, json};

use crate::command::{Failure, Run};
use crate::shell::Shell;
use crate::table::Tone;
use crate::tools::whole_toolbox;

/// Below the options.
const AFTER_HELP: &str = "\
Without --args the call gets arguments made up from the schema. Exit codes: 0 every tool of the file \
answered, 1 something is wrong with it.";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Test {
    /// The Python file
    file: std::path::PathBuf,
    /// Arguments of the call as JSON; `@FILE` reads them from a file, `-` from standard input
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// Load it and run its checks, but make no call
    #[arg(long)]
    no_call: bool,
}

impl Run for Test {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let arguments =
            self.args.as_deref().map(|given| crate::input::text(given, shell.cwd())).transpose()?;
        let runtime = shell.runtime()?;
        let path = shell.cwd().join(&self.file);
        let tried = runtime.try_tool_file(&path).map_err(Failure::failed)?;
        let toolbox = whole_toolbox(&runtime, &Selection::everything())?;
        let tried: Vec<Tried> = tried
            .offer
            .tools
            .iter()
            .map(|tool| Tried::of(tool, &toolbox, &runtime, shell, arguments.as_deref(), self.no_call))
            .collect();
        let fine = tried.iter().all(Tried::is_fine) && !tried.is_empty();
        if shell.out.wants_json() {
            let tools: Vec<Value> = tried.iter().map(Tried::json).collect();
            shell.out.json(&json!({ "file": path.display().to_string(), "ok": fine, "tools": tools }))?;
        } else {
            tried.iter().try_for_each(|tried| tried.show(shell))?;
        }
        if fine { Ok(()) } else { Err(Failure::Told(Failure::FAILED)) }
    }
}

/// What became of one tool.
struct Tried {
    name: String,
    toolset: String,
    missing: Option<String>,
    arguments: String,
    called: Option<(Status, String)>,
    /// Where its handler raised, if it did.
    trace: Option<String>,
}

impl Tried {
    fn of(
        tool: &OfferedTool,
        toolbox: &Toolbox,
        runtime: &Runtime,
        shell: &Shell,
        arguments: Option<&str>,
        no_call: bool,
    ) -> Self {
        let closed = toolbox.unavailable().iter().find(|closed| closed.name.as_ref() == tool.name);
        let made_up = || Value::Object(sample(&tool.definition().parameters)).to_string();
        let arguments = arguments.map_or_else(made_up, str::to_owned);
        let mut tried = Self {
            name: tool.name.clone(),
            toolset: tool.toolset.clone(),
            missing: closed.map(|closed| closed.why.to_string()),
            arguments,
            called: None,
            trace: None,
        };
        if tried.missing.is_none() && !no_call {
            let session = runtime.session().approver(shell.approver(runtime)).open();
            tried.called = session.ok().map(|session| {
                let outcome = session.call_blocking(ToolCall::new(&tool.name, tried.arguments.clone()));
                (outcome.status, outcome.body)
            });
            tried.trace = runtime.last_trace();
        }
        tried
    }

    fn is_fine(&self) -> bool {
        self.missing.is_none() && self.called.as_ref().is_none_or(|(status, _)| status.is_ok())
    }

    fn json(&self) -> Value {
        let result = self.called.as_ref().map(|(status, body)| {
            let body = serde_json::from_str::<Value>(body).unwrap_or_else(|_| json!(body));
            json!({ "status": status.word(), "arguments": self.arguments, "result": body })
        });
        json!({
            "name": self.name,
            "toolset": self.toolset,
            "available": self.missing.is_none(),
            "reason": self.missing,
            "call": result,
            "trace": self.trace,
        })
    }

    fn show(&self, shell: &Shell) -> Result<(), Failure> {
        let (word, tone) = if self.is_fine() { ("ok", Tone::Good) } else { ("wrong", Tone::Bad) };
        shell.out.line(&format!(
            "{} {} (toolset {})",
            shell.out.paint(word, tone),
            shell.out.paint(&self.name, Tone::Strong),
            shell.out.paint(&self.toolset, Tone::Faint)
        ))?;
        if let Some(missing) = &self.missing {
            return shell.out.text(&format!("  not available: {missing}"));
        }
        match &self.called {
            None => Ok(()),
            Some((_, body)) => {
                shell.out.text(&format!("  called with {}\n  answered    {body}", self.arguments))?;
                self.trace.iter().try_for_each(|trace| shell.out.text(trace.trim_end()))
            }
        }
    }
}

/// Arguments made up from a schema: what is required, by its default, its first choice or its type.
fn sample(schema: &Value) -> Map<String, Value> {
    let names = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let properties = schema.get("properties");
    let made_up = |name: &str| {
        let value = properties.and_then(|all| all.get(name)).map_or_else(|| json!("text"), made_up);
        (name.to_owned(), value)
    };
    names.iter().filter_map(Value::as_str).map(made_up).collect()
}

fn made_up(schema: &Value) -> Value {
    let first = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|all| all.first()).cloned();
    if let Some(value) =
        schema.get("default").cloned().or_else(|| first("examples")).or_else(|| first("enum"))
    {
        return value;
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => Value::Object(sample(schema)),
        _ => json!("text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_arguments_are_what_is_required_and_nothing_else() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": { "type": "string" },
                "b": { "enum": ["x", "y"] },
                "c": { "type": "integer", "minimum": 3 },
                "d": { "type": "object", "properties": { "e": { "type": "boolean" } }, "required": ["e"] },
                "f": { "type": "string" },
            },
            "required": ["a", "b", "c", "d"],
        });

        let expected = json!({ "a": "text", "b": "x", "c": 3, "d": { "e": true } });
        assert_eq!(Value::Object(sample(&schema)), expected);
    }
}
