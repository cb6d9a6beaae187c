//! `/resume`: goes on with another session.

use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "resume",
    "NAME",
    "Go on with another session: its id, the beginning of it, or its title",
    Act::Wait(|cx, words| Box::pin(run(cx, words))),
);

async fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    if words.is_empty() {
        return Reply::wrong("Which session? /sessions lists them.");
    }
    Reply::told(cx.talk.open(words.to_owned()).await).then(After::Changed)
}
