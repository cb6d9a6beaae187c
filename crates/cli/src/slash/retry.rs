//! `/retry`: the last message once more.

use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "retry",
    "",
    "Take back the last answer and ask again",
    Act::Wait(|cx, _| Box::pin(run(cx))),
);

async fn run(cx: &SlashCx<'_>) -> Reply {
    let Some(message) = cx.talk.last_user_message().await else {
        return Reply::say("Nothing has been said yet.");
    };
    match cx.talk.undo(1).await {
        Ok(_) => Reply::default().then(After::Send(message)),
        Err(why) => Reply::wrong(why),
    }
}
