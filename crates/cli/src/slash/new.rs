//! `/new`: leaves this session and begins another.

use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("new", "", "Begin a new session", Act::Wait(|cx, _| Box::pin(run(cx)))).or(&["reset"]);

async fn run(cx: &SlashCx<'_>) -> Reply {
    Reply::told(cx.talk.new_session().await).then(After::Changed)
}
