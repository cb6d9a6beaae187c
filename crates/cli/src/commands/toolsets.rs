//! `hermes toolsets`: the named groups of tools.

use hermes::core::toolset::{Catalog, Member, Resolution, Selection};
use serde_json::{Value, json};

use crate::command::{CommandDef, Failure, Run};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Toolsets>("toolsets", "List the named groups of tools, and what is in them");

#[derive(clap::Args)]
struct Toolsets {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List every toolset
    List,
    /// Show which tools the named toolsets bring in, and through what
    Resolve {
        /// Names of toolsets, `all`, or old `*_tools` names
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
}

impl Run for Toolsets {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let snapshot = runtime.tools();
        match self.action {
            Action::List => list(snapshot.catalog(), shell),
            Action::Resolve { names } => resolve(snapshot.catalog(), &names, shell),
        }
    }
}

fn list(catalog: &Catalog, shell: &Shell) -> Result<(), Failure> {
    let mut found = Vec::new();
    for name in catalog.names() {
        found.push((name, catalog.resolve(name)?, catalog.built_in(name)));
    }
    if shell.out.wants_json() {
        let list: Vec<Value> = found
            .iter()
            .map(|(name, members, fixed)| {
                json!({
                    "name": name,
                    "description": fixed.map(|toolset| toolset.description),
                    "includes": fixed.map(|toolset| toolset.includes).unwrap_or_default(),
                    "preset_of": fixed.map(|toolset| toolset.preset_of).unwrap_or_default(),
                    "tools": names_of(&members.tools),
                    "missing": names_of(&members.missing),
                })
            })
            .collect();
        return shell.out.json(&list);
    }
    let rows: Vec<Vec<Cell>> = found
        .iter()
        .map(|(name, members, fixed)| {
            let (here, all) = (members.tools.len(), members.tools.len() + members.missing.len());
            let tone = if here == 0 { Tone::Faint } else { Tone::Good };
            vec![
                Cell::new(*name).tone(Tone::Strong),
                Cell::new(format!("{here}/{all}")).tone(tone).right(),
                Cell::new(fixed.map_or("", |toolset| toolset.description)),
            ]
        })
        .collect();
    shell.out.table(&["TOOLSET", "TOOLS", "WHAT FOR"], &rows)?;
    shell.out.remark("TOOLS counts those that are built, of those that are named.")
}

fn resolve(catalog: &Catalog, names: &[String], shell: &Shell) -> Result<(), Failure> {
    // All wrong names are told at once.
    Selection::of(names.iter().cloned()).plan(catalog)?;
    let mut found = Vec::new();
    for name in names {
        found.push((name.as_str(), catalog.resolve(name)?));
    }
    if shell.out.wants_json() {
        let list: Vec<Value> =
            found.iter().map(|(name, members)| described(catalog, name, members)).collect();
        return match list.as_slice() {
            [one] => shell.out.json(one),
            many => shell.out.json(&many),
        };
    }
    let mut rows = Vec::new();
    for (name, members) in &found {
        let built = members.tools.iter().map(|member| (member, Cell::new("built").tone(Tone::Good)));
        let missing = members.missing.iter().map(|member| (member, Cell::new("not built").tone(Tone::Faint)));
        for (member, state) in built.chain(missing) {
            let tool = Cell::new(member.tool.as_ref());
            rows.push(vec![
                Cell::new(*name).tone(Tone::Strong),
                tool,
                state,
                Cell::new(member.chain.join(" › ")),
            ]);
        }
    }
    shell.out.table(&["TOOLSET", "TOOL", "STATE", "THROUGH"], &rows)
}

/// One resolved toolset; `tools` are all it names, built or not.
fn described(catalog: &Catalog, name: &str, members: &Resolution) -> Value {
    let mut all: Vec<&str> = names_of(&members.tools);
    all.extend(names_of(&members.missing));
    all.sort_unstable();
    json!({
        "name": name,
        "description": catalog.built_in(name).map(|toolset| toolset.description),
        "includes": catalog.built_in(name).map(|toolset| toolset.includes).unwrap_or_default(),
        "tools": all,
        "built": names_of(&members.tools),
        "missing": names_of(&members.missing),
    })
}

fn names_of(members: &[Member]) -> Vec<&str> {
    members.iter().map(|member| member.tool.as_ref()).collect()
}
