//! `messaging`: messages to people.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("messaging", "Send messages to people: mail, Telegram, ntfy, webhooks.")
        .tools(&["send_message"])
        .configurable()
        .default_off();
