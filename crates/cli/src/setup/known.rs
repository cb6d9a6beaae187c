//! `hermes setup --list`: the variables there are, which of them are set, and what uses them.

use serde_json::{Value, json};

use crate::command::Failure;
use crate::setup::keys;
use crate::shell::Shell;
use crate::table::{Cell, Tone};

pub(crate) fn list(shell: &Shell) -> Result<(), Failure> {
    let runtime = shell.runtime()?;
    let keys = keys::all(&runtime.tools());
    if shell.out.wants_json() {
        let list: Vec<Value> = keys
            .iter()
            .map(|key| {
                json!({
                    "name": key.name, "category": key.category, "set": runtime.has_variable(&key.name),
                    "secret": key.secret, "advanced": key.advanced, "url": key.url, "tools": key.tools,
                })
            })
            .collect();
        return shell.out.json(&list);
    }
    let rows: Vec<Vec<Cell>> = keys
        .iter()
        .map(|key| {
            let set = if runtime.has_variable(&key.name) { "set" } else { "" };
            vec![
                Cell::new(&key.name).tone(Tone::Strong),
                Cell::new(set),
                Cell::new(key.category),
                Cell::new(key.url.unwrap_or_default()).tone(Tone::Faint),
                Cell::new(key.tools.join(", ")),
            ]
        })
        .collect();
    shell.out.table(&["VARIABLE", "", "CATEGORY", "WHERE TO GET IT", "TOOLS"], &rows)
}
