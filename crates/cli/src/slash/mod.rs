//! The slash commands, one file each. A file here is a command; nothing else lists it.

use crate::chat::slash::SlashDef;

include!(concat!(env!("OUT_DIR"), "/slash.rs"));

gathered! {
    /// Every slash command, sorted by name.
    pub(crate) static COMMANDS: [&SlashDef] = COMMAND;
}
