//! `/version`: which program this is.

use crate::chat::slash::{Act, Reply, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "version",
    "",
    "Show the version of hermes",
    Act::Now(|_, _| Reply::say(concat!("hermes ", env!("CARGO_PKG_VERSION")))),
);
