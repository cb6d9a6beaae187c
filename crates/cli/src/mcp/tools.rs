//! `hermes mcp tools NAME`: what a server offers, what changed since it was agreed to, and agreeing.

use hermes::core::approval_words::visible;
use hermes::extend::mcp::client::{Changed, Listed, Server};
use serde_json::{Value, json};
use similar::TextDiff;

use crate::command::{Failure, Run};
use crate::mcp::{server, trouble};
use crate::shell::Shell;
use crate::table::{Cell, Tone};
use crate::tools::first_sentence;

#[derive(clap::Args)]
pub(crate) struct Tools {
    /// Which server
    name: String,
    /// Agree to the tools as they are now: all of them, or those named
    #[arg(long, value_name = "TOOL", num_args = 0..)]
    accept: Option<Vec<String>>,
    /// Ask the server anew, also when its tools are known
    #[arg(long)]
    refresh: bool,
}

impl Run for Tools {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let server = server(&runtime, &self.name)?;
        if self.refresh || !server.is_known() {
            let status = runtime.mcp().start_blocking(&server);
            if let Some(failure) = trouble(&server, &status) {
                return Err(failure);
            }
        }
        match &self.accept {
            Some(only) => accept(&server, only, shell),
            None => show(&server, shell),
        }
    }
}

fn accept(server: &Server, only: &[String], shell: &Shell) -> Result<(), Failure> {
    let known = server.known();
    if let Some(strange) = only.iter().find(|name| !known.tools.iter().any(|tool| tool.name == **name)) {
        return Err(Failure::usage(format!("the server has no tool `{strange}`")));
    }
    if !shell.out.wants_json() {
        for changed in known.changed() {
            if only.is_empty() || only.contains(&changed.now.name) {
                shell.out.text(&difference(&changed))?;
            }
        }
    }
    let new = known.unseen().filter(|tool| only.is_empty() || only.contains(&tool.name)).count();
    let changed = server.accept(only).map_err(Failure::failed)?;
    if shell.out.wants_json() {
        return shell.out.json(&json!({ "name": server.config().name, "accepted": changed, "new": new }));
    }
    let counted = |count: usize, word: &str| {
        (count > 0).then(|| format!("{count} {word} tool{}", if count == 1 { "" } else { "s" }))
    };
    let parts: Vec<String> =
        [counted(changed, "changed"), counted(new, "new")].into_iter().flatten().collect();
    shell.out.text(&match parts.as_slice() {
        [] => "nothing had changed".to_owned(),
        parts => format!("agreed to {}", parts.join(" and ")),
    })
}

fn show(server: &Server, shell: &Shell) -> Result<(), Failure> {
    let known = server.known();
    if shell.out.wants_json() {
        let tools: Vec<Value> = known.tools.iter().map(|tool| described(server, tool)).collect();
        return shell.out.json(&tools);
    }
    let rows: Vec<Vec<Cell>> = known.tools.iter().map(|tool| cells(server, tool)).collect();
    shell.out.table(&["TOOL", "STATE", "DOES", "WHAT FOR"], &rows)?;
    let mut any = known.unseen().next().is_some();
    for changed in known.changed() {
        any = true;
        shell.out.text(&difference(&changed))?;
    }
    if let Some(cut) = known.cut_off() {
        shell.out.remark(&format!("There are more: {cut}."))?;
    }
    if any {
        let name = &server.config().name;
        shell.out.remark(&format!("`hermes mcp tools {name} --accept` agrees to what is changed or new."))?;
    }
    Ok(())
}

/// One word for what becomes of a tool.
fn state(server: &Server, tool: &Listed) -> (&'static str, Option<String>) {
    let known = server.known();
    if let Some(fault) = known.fault(&tool.name) {
        ("left out", Some(fault.to_owned()))
    } else if known.holds_back(&tool.name) {
        ("held back", Some("its definition has changed since it was agreed to".to_owned()))
    } else if server.config().filter.takes(&tool.name) {
        (if known.new.contains(&tool.name) { "new" } else { "on" }, None)
    } else {
        ("filtered", Some("the configuration leaves it out".to_owned()))
    }
}

fn described(server: &Server, tool: &Listed) -> Value {
    let (state, why) = state(server, tool);
    let change =
        server.known().changed().find(|changed| changed.now.name == tool.name).map(|it| difference(&it));
    json!({
        "name": tool.name,
        "state": state,
        "why": why,
        "description": tool.description,
        "schema": tool.schema,
        "read_only": tool.hints.read_only,
        "idempotent": tool.hints.idempotent,
        "digest": tool.digest(),
        "change": change,
    })
}

fn cells(server: &Server, tool: &Listed) -> Vec<Cell> {
    let (state, why) = state(server, tool);
    let tone = match state {
        "on" => Tone::Good,
        "new" => Tone::Strong,
        "filtered" => Tone::Faint,
        _ => Tone::Bad,
    };
    let does = if tool.hints.read_only { "reads" } else { "acts" };
    let what = first_sentence(&tool.description);
    let what = why.map_or_else(|| what.to_owned(), |why| format!("{why}: {what}"));
    vec![
        Cell::new(visible(&tool.name)).tone(Tone::Strong),
        Cell::new(state).tone(tone),
        Cell::new(does),
        Cell::new(visible(&what)),
    ]
}

/// What changed in a tool, line by line.
fn difference(changed: &Changed<'_>) -> String {
    let (before, now) = (changed.before.lines(), changed.now.lines());
    let name = visible(&changed.now.name);
    let diff = TextDiff::from_lines(&before, &now);
    diff.unified_diff().header(&format!("{name} as agreed to"), &format!("{name} now")).to_string()
}
