//! `hermes setup --list`: the variables there are, and which of them are set.

use hermes::store::{EnvView, Secrets, variables};
use serde_json::{Value, json};

use crate::command::Failure;
use crate::shell::Shell;
use crate::table::{Cell, Tone};

pub(crate) fn list(shell: &Shell) -> Result<(), Failure> {
    let env = EnvView::new(Secrets::read(&shell.home()?)?, shell.variables().clone());
    let is_set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
    if shell.out.wants_json() {
        let list: Vec<Value> = variables::all()
            .map(|variable| {
                json!({
                    "name": variable.name, "category": variable.category, "set": is_set(variable.name),
                    "secret": variable.secret, "advanced": variable.advanced, "url": variable.url,
                    "tools": variable.tools().collect::<Vec<_>>(),
                })
            })
            .collect();
        return shell.out.json(&list);
    }
    let rows: Vec<Vec<Cell>> = variables::all()
        .map(|variable| {
            let set = if is_set(variable.name) { "set" } else { "" };
            vec![
                Cell::new(variable.name).tone(Tone::Strong),
                Cell::new(set),
                Cell::new(variable.category),
                Cell::new(variable.url.unwrap_or_default()).tone(Tone::Faint),
            ]
        })
        .collect();
    shell.out.table(&["VARIABLE", "", "CATEGORY", "WHERE TO GET IT"], &rows)
}
