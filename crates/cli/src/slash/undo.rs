//! `/undo`: takes turns back.

use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "undo",
    "[N]",
    "Take back the last turn, or the last N",
    Act::Wait(|cx, words| Box::pin(run(cx, words))),
);

async fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    match if words.is_empty() { Ok(1) } else { words.parse::<usize>() } {
        Ok(turns) if turns > 0 => Reply::told(cx.talk.undo(turns).await).then(After::Changed),
        _ => Reply::wrong("How many turns? /undo 2"),
    }
}
