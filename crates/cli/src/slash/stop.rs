//! `/stop`: ends the turn that runs.

use crate::chat::slash::{Act, After, Reply, SlashDef};

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("stop", "", "Stop the turn that runs", Act::Now(|_, _| Reply::default().then(After::Stop)));
