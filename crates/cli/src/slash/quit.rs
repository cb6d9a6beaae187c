//! `/quit`: leaves the chat.

use crate::chat::slash::{Act, After, Reply, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "quit",
    "",
    "Leave the chat; the session can be resumed",
    Act::Now(|_, _| Reply::default().then(After::Quit)),
)
.or(&["exit"]);
