//! `hermes tools explain [NAME]`: why each tool is in or out, by the code that decides it.

use hermes::Runtime;
use hermes::core::definitions::Toolbox;
use hermes::core::toolset::{Explanation, Member, Story};
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::shell::Shell;
use crate::table::{Cell, Tone};
use crate::tools::{Choice, no_such_tool, not_built};

#[derive(clap::Args)]
pub(crate) struct Explain {
    /// Only this tool
    name: Option<String>,
    #[command(flatten)]
    choice: Choice,
}

impl Run for Explain {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let selection = self.choice.looked_at(&runtime)?;
        let toolbox = runtime.toolbox_blocking(&selection, &runtime.definition_settings())?;
        let explanation = selection.explain(toolbox.snapshot().catalog())?;
        match &self.name {
            Some(name) => one(name, &explanation, &toolbox, shell, &runtime),
            None => all(&explanation, &toolbox, shell),
        }
    }
}

fn one(
    name: &str,
    explanation: &Explanation,
    toolbox: &Toolbox,
    shell: &Shell,
    runtime: &Runtime,
) -> Result<(), Failure> {
    let line = if let Ok(story) = explanation.of(name) {
        Line::of(story, toolbox)
    } else {
        let unheard = || Line::unheard(name, &runtime.why_missing(name));
        let line = Line::unbuilt(name, explanation, toolbox).or_else(unheard);
        line.ok_or_else(|| no_such_tool(name, toolbox.snapshot()))?
    };
    if shell.out.wants_json() { shell.out.json(&line.json()) } else { shell.out.text(&line.sentence()) }
}

fn all(explanation: &Explanation, toolbox: &Toolbox, shell: &Shell) -> Result<(), Failure> {
    let lines: Vec<Line> = explanation.tools.iter().map(|story| Line::of(story, toolbox)).collect();
    if shell.out.wants_json() {
        let missing: Vec<&str> = explanation.missing.iter().map(|member| member.tool.as_ref()).collect();
        let tools: Vec<Value> = lines.iter().map(Line::json).collect();
        return shell.out.json(&json!({ "tools": tools, "not_built": missing }));
    }
    let rows: Vec<Vec<Cell>> = lines.iter().map(Line::cells).collect();
    shell.out.table(&["TOOL", "", "WHY"], &rows)?;
    match explanation.missing.len() {
        0 => Ok(()),
        1 => shell.out.remark("One more tool was asked for and is not built yet."),
        many => shell.out.remark(&format!("{many} more tools were asked for and are not built yet.")),
    }
}

/// What became of one tool.
struct Line {
    name: String,
    toolset: Option<String>,
    is_in: bool,
    deferred: bool,
    why: String,
}

impl Line {
    fn of(story: &Story, toolbox: &Toolbox) -> Self {
        let closed = toolbox.unavailable().iter().find(|tool| tool.name == story.tool);
        let deferred = toolbox.deferred().iter().any(|tool| *tool.name() == story.tool);
        let why = match closed {
            Some(closed) => format!("not available: {} (else it would be in {})", closed.why, story.why()),
            None if deferred => format!("{}, to be found by searching", story.why()),
            None => story.why(),
        };
        Self {
            name: story.tool.to_string(),
            toolset: Some(story.toolset.to_string()),
            is_in: story.verdict.is_in() && closed.is_none(),
            deferred,
            why,
        }
    }

    /// A tool that toolsets name and nobody has built; nothing when the name is not known at all.
    fn unbuilt(name: &str, explanation: &Explanation, toolbox: &Toolbox) -> Option<Self> {
        let through = |member: &Member| {
            let names: Vec<String> = member.chain.iter().map(|name| format!("`{name}`")).collect();
            format!("not built yet (else it would be in through {})", names.join(" → "))
        };
        let asked = explanation.missing.iter().find(|member| member.tool.as_ref() == name).map(through);
        let why = asked.or_else(|| {
            not_built(name, toolbox.snapshot().catalog())
                .map(|_| "not built yet, and nothing selected has it".into())
        })?;
        Some(Self { name: name.to_owned(), toolset: None, is_in: false, deferred: false, why })
    }

    /// A tool that a file or plugin would bring if it had been heard; nothing when all were.
    fn unheard(name: &str, reasons: &[String]) -> Option<Self> {
        let why = format!("nobody has said to have it; {}", reasons.join("; "));
        let line = Self { name: name.to_owned(), toolset: None, is_in: false, deferred: false, why };
        (!reasons.is_empty()).then_some(line)
    }

    fn sentence(&self) -> String {
        let Self { name, why, .. } = self;
        if self.is_in { format!("`{name}` is in {why}") } else { format!("`{name}` is out: {why}") }
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "toolset": self.toolset,
            "built": self.toolset.is_some(),
            "offered": self.is_in,
            "deferred": self.deferred,
            "why": self.why,
        })
    }

    fn cells(&self) -> Vec<Cell> {
        let (word, tone) = if self.is_in { ("in", Tone::Good) } else { ("out", Tone::Bad) };
        vec![Cell::new(&self.name).tone(Tone::Strong), Cell::new(word).tone(tone), Cell::new(&self.why)]
    }
}
