//! `/yolo`: whether anything is asked about.

use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("yolo", "[on|off]", "Run without asking; what is never allowed stays so", Act::Now(run))
        .words(&["on", "off"]);

fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    let on = match words {
        "" => !cx.yolo,
        "on" => true,
        "off" => false,
        _ => return Reply::wrong("On or off?"),
    };
    cx.talk.set_yolo(on);
    let told = if on {
        "Nothing is asked about any more in this session."
    } else {
        "Risky calls are asked about again."
    };
    Reply::say(told).then(After::Yolo(on))
}
