//! `/reasoning`: whether thoughts are shown.

use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("reasoning", "[show|hide]", "Show or hide what the model thinks", Act::Now(run))
        .words(&["show", "hide"]);

fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    let on = match words {
        "" => !cx.reasoning,
        "show" | "on" => true,
        "hide" | "off" => false,
        _ => return Reply::wrong("Show or hide?"),
    };
    let told = if on { "What the model thinks is shown." } else { "What the model thinks is not shown." };
    Reply::say(told).then(After::Reasoning(on))
}
