//! `hermes tools cost`: what the definitions cost in tokens, by toolset.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::output::{Cell, Tone};
use crate::shell::Shell;
use crate::tools::{Choice, whole_toolbox};

#[derive(clap::Args)]
pub(crate) struct Cost {
    #[command(flatten)]
    choice: Choice,
}

/// The tools of one toolset with their tokens.
type Group = Vec<(String, u64)>;

impl Run for Cost {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let selection = self.choice.selection(&runtime)?;
        let toolbox = whole_toolbox(&runtime, &selection)?;
        let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
        for tool in toolbox.offered() {
            groups.entry(tool.entry().toolset()).or_default().push((tool.name().to_string(), tool.tokens()));
        }
        if shell.out.wants_json() {
            let toolsets: Vec<Value> = groups.iter().map(|(name, tools)| described(name, tools)).collect();
            return shell.out.json(&json!({ "total_tokens": toolbox.tokens(), "toolsets": toolsets }));
        }
        let mut rows: Vec<Vec<Cell>> = groups
            .iter()
            .map(|(name, tools)| {
                let names: Vec<String> =
                    tools.iter().map(|(tool, tokens)| format!("{tool} {tokens}")).collect();
                vec![
                    Cell::new(*name).tone(Tone::Strong),
                    Cell::new(total(tools).to_string()),
                    Cell::new(names.join(", ")).tone(Tone::Faint),
                ]
            })
            .collect();
        rows.push(vec![
            Cell::new("all").tone(Tone::Strong),
            Cell::new(toolbox.tokens().to_string()),
            Cell::new(""),
        ]);
        shell.out.table(&["TOOLSET", "TOKENS", "TOOLS"], &rows)
    }
}

fn total(tools: &Group) -> u64 {
    tools.iter().map(|(_, tokens)| tokens).sum()
}

fn described(name: &str, tools: &Group) -> Value {
    let list: Vec<Value> =
        tools.iter().map(|(tool, tokens)| json!({ "name": tool, "tokens": tokens })).collect();
    json!({ "name": name, "tokens": total(tools), "tools": list })
}
