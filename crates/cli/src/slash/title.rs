//! `/title`: the name of this session.

use crate::chat::slash::{Act, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "title",
    "TITLE",
    "Give this session a title to find it by",
    Act::Wait(|cx, words| Box::pin(run(cx, words))),
);

async fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    if words.is_empty() {
        return Reply::wrong("Which title? /title Moving house");
    }
    Reply::told(cx.talk.rename(words.to_owned()).await)
}
