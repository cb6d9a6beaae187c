//! Does a command run, on the road every command takes?

use std::sync::Arc;

use hermes::{Runtime, ToolCall};
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
    let mut findings = others(&runtime);
    if outcome.status.is_ok() && output.trim() == WORD {
        let took = outcome.took.as_secs_f64() * 1000.0;
        findings.insert(0, Finding::fine(format!("a command runs, in {took:.1} ms")));
        return findings;
    }
    let why = body.get("error").and_then(Value::as_str).unwrap_or(&outcome.body);
    findings.insert(0, Finding::wrong(format!("a command does not run: {why}")));
    findings
}

/// The environments beside the default one, each opened.
fn others(runtime: &Runtime) -> Vec<Finding> {
    let environments = runtime.environments();
    let default = environments.default_name();
    let names = environments.all().map(|(name, _)| name).filter(|name| *name != default);
    names
        .map(|name| match runtime.look_at_environment(name, Arc::new(|_: &str| ())) {
            Ok(found) => Finding::fine(format!("environment {name} works: {found}")),
            Err(wrong) => Finding::wrong(format!("environment {name} does not work: {wrong}")),
        })
        .collect()
}
