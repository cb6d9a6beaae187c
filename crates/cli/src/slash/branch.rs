//! `/branch`: goes on with a copy of the session; the original stays as it is.

use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "branch",
    "[TITLE]",
    "Go on with a copy of this session; the original stays",
    Act::Wait(|cx, words| Box::pin(run(cx, words))),
)
.or(&["fork"]);

async fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    let title = (!words.is_empty()).then(|| words.to_owned());
    Reply::told(cx.talk.fork(title).await).then(After::Changed)
}
