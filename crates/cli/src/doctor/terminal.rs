//! Does a command run, on the road every command takes?

use hermes::ToolCall;
use serde_json::Value;

use crate::doctor::Finding;
use crate::shell::Shell;

/// What the command is to say.
const WORD: &str = "here";

pub(crate) fn look(shell: &Shell) -> Vec<Finding> {
    let runtime = match shell.runtime() {
        Ok(runtime) => runtime,
        Err(wrong) => return vec![Finding::wrong(wrong.why().unwrap_or_default())],
    };
    let outcome = runtime.call_blocking(ToolCall::new("terminal", format!(r#"{{"command":"echo {WORD}"}}"#)));
    let body: Value = serde_json::from_str(&outcome.body).unwrap_or_default();
    let output = body.get("output").and_then(Value::as_str).unwrap_or_default();
    if outcome.status.is_ok() && output.trim() == WORD {
        let took = outcome.took.as_secs_f64() * 1000.0;
        return vec![Finding::fine(format!("a command runs, in {took:.1} ms"))];
    }
    let why = body.get("error").and_then(Value::as_str).unwrap_or(&outcome.body);
    vec![Finding::wrong(format!("a command does not run: {why}"))]
}
