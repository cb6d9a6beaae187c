//! `/compress`: a shorter conversation.

use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "compress",
    "[TOPIC]",
    "Shorten the conversation, keeping what matters for a topic",
    Act::Wait(|cx, words| Box::pin(run(cx, words))),
)
.or(&["compact"]);

async fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    let topic = (!words.is_empty()).then(|| words.to_owned());
    Reply::told(cx.talk.compress(topic).await).then(After::Changed)
}
