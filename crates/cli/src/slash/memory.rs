//! `/memory`: what the agent remembers.

use crate::chat::files;
use crate::chat::slash::{Act, Reply, SlashCx, SlashDef, drawn};
use crate::chat::text::{Line, Style};

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("memory", "", "Show what the agent remembers", Act::Now(run));

fn run(cx: &SlashCx<'_>, _words: &str) -> Reply {
    let Ok(home) = cx.shell.home() else {
        return Reply::wrong("The Hermes home is not known.");
    };
    let texts = files::texts(&home.memories(), ".md");
    let written = texts.iter().filter(|(_, text)| !text.trim().is_empty());
    let lines: Vec<Line> = written
        .flat_map(|(name, text)| {
            // Entries are kept apart by a sign that is no markdown.
            let text = text.replace("\n§\n", "\n\n---\n\n");
            let mut lines = vec![Line::new(name, Style::BOLD)];
            lines.extend(drawn(&text, cx));
            lines.push(Line::default());
            lines
        })
        .collect();
    if lines.is_empty() { Reply::say("Nothing is remembered yet.") } else { Reply::lines(lines) }
}
