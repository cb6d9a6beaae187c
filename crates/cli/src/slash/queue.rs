//! `/queue`: a message for after this turn.

use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("queue", "TEXT", "Say this once the turn is over", Act::Now(run)).or(&["q"]);

fn run(_cx: &SlashCx<'_>, words: &str) -> Reply {
    if words.is_empty() {
        return Reply::wrong("What is to be said? /queue then run the tests");
    }
    Reply::default().then(After::Queue(words.to_owned()))
}
