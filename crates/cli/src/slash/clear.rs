//! `/clear`: an empty screen.

use crate::chat::slash::{Act, After, Reply, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "clear",
    "",
    "Clear the screen; the conversation stays",
    Act::Now(|_, _| Reply::default().then(After::Clear)),
);
