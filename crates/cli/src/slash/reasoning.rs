//! `/reasoning`: how hard the model thinks, and whether its thoughts are shown.

use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "reasoning",
    "[LEVEL|default|show|hide]",
    "How hard the model thinks, and whether what it thinks is shown",
    Act::Now(run),
)
.words(&["none", "minimal", "low", "medium", "high", "xhigh", "default", "show", "hide"]);

fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    let shown = |on: bool| {
        let told = if on { "What the model thinks is shown." } else { "What the model thinks is not shown." };
        Reply::say(told).then(After::Reasoning(on))
    };
    match words {
        "" => shown(!cx.reasoning),
        "show" | "on" => shown(true),
        "hide" | "off" => shown(false),
        "default" => {
            cx.talk.set_effort(None);
            Reply::say("The model thinks as hard as it is set up to.")
        }
        level @ ("none" | "minimal" | "low" | "medium" | "high" | "xhigh") => {
            cx.talk.set_effort(Some(level.to_owned()));
            Reply::say(format!("From the next turn on the model is asked to think: {level}."))
        }
        _ => Reply::wrong("One of none, minimal, low, medium, high, xhigh, default, show, hide?"),
    }
}
