//! `hermes config show`: everything the file says, keys hidden.

use crate::command::{Failure, Run};
use crate::config::{hidden, plain, read};
use crate::shell::Shell;
use serde_json::Value;

#[derive(clap::Args)]
pub(crate) struct Show {}

impl Run for Show {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let config = read(shell)?;
        let values = hidden("", config.values());
        if shell.out.wants_json() {
            return shell.out.json(&values);
        }
        let mut lines = Vec::new();
        flatten("", &values, &mut lines);
        if lines.is_empty() {
            return shell.out.line("nothing is set: everything is at its default");
        }
        shell.out.text(&lines.join("\n"))
    }
}

/// One line per value, under its dotted path.
fn flatten(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                let key = if key.contains('.') { format!("\"{key}\"") } else { key.clone() };
                let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                flatten(&path, value, lines);
            }
        }
        Value::Object(_) if path.is_empty() => {}
        other => lines.push(format!("{path}: {}", plain(other))),
    }
}
