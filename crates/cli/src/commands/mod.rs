//! The commands, one file each. A file here is a command; nothing else lists it.

use crate::command::CommandDef;

include!(concat!(env!("OUT_DIR"), "/commands.rs"));

gathered! {
    /// Every command, sorted by name.
    pub(crate) static COMMANDS: [&CommandDef] = COMMAND;
}
