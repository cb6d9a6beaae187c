//! `hermes tools cost`: what the definitions cost in tokens, by toolset.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::shell::Shell;
use crate::table::{Cell, Tone};
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
        let selection = self.choice.looked_at(&runtime)?;
        let toolbox = whole_toolbox(&runtime, &selection)?;
        let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
        for tool in toolbox.offered() {
            groups.entry(tool.entry().toolset()).or_default().push((tool.name().to_string(), tool.tokens()));
        }
        let total: u64 = groups.values().map(sum).sum();
        if shell.out.wants_json() {
            let toolsets: Vec<Value> = groups.iter().map(|(name, tools)| described(name, tools)).collect();
            return shell.out.json(&json!({ "total_tokens": total, "toolsets": toolsets }));
        }
        let row = |name: &str, tokens: u64, rest: &str| {
            let tokens = Cell::new(tokens.to_string()).right();
            vec![Cell::new(name).tone(Tone::Strong), tokens, Cell::new(rest).tone(Tone::Faint)]
        };
        let mut rows: Vec<Vec<Cell>> =
            groups.iter().map(|(name, tools)| row(name, sum(tools), &listed(tools))).collect();
        rows.push(row("all", total, ""));
        shell.out.table(&["TOOLSET", "TOKENS", "TOOLS"], &rows)?;
        shell.out.remark("Estimates: four characters count as one token.")
    }
}

fn sum(tools: &Group) -> u64 {
    tools.iter().map(|(_, tokens)| tokens).sum()
}

fn listed(tools: &Group) -> String {
    tools.iter().map(|(tool, tokens)| format!("{tool} {tokens}")).collect::<Vec<_>>().join(", ")
}

fn described(name: &str, tools: &Group) -> Value {
    let list: Vec<Value> =
        tools.iter().map(|(tool, tokens)| json!({ "name": tool, "tokens": tokens })).collect();
    json!({ "name": name, "tokens": sum(tools), "tools": list })
}
