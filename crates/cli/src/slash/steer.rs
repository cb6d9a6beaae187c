//! `/steer`: a word into the turn that runs.

use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("steer", "TEXT", "Say this into the turn that runs, after its next call", Act::Now(run));

fn run(_cx: &SlashCx<'_>, words: &str) -> Reply {
    if words.is_empty() {
        return Reply::wrong("What is to be said? /steer leave the tests alone");
    }
    Reply::default().then(After::Steer(words.to_owned()))
}
