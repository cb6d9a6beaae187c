//! The agent's own command line, run from inside a session.

use super::Handler;
use crate::effect::Kind;
use crate::walk::{Call, Flow, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    matches!(name, "hermes" | "hermes-agent" | "hermes-gateway").then_some(hermes)
}

fn hermes(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> =
        call.args.iter().map(|arg| &*arg.text).filter(|text| !text.starts_with('-')).collect();
    let yolo = call.args.iter().any(|arg| matches!(&*arg.text, "--yolo"));
    let changes = match words.as_slice() {
        ["gateway", "stop" | "restart" | "uninstall" | "install", ..] => Some("stops or restarts the agent"),
        ["gateway", "run" | "start", ..] if walk.background => Some("starts another agent in the background"),
        ["update" | "uninstall", ..] => Some("updates or removes the agent"),
        ["config", "set" | "edit" | "unset", ..] => Some("changes the agent's settings"),
        ["policy", "allow" | "set" | "reset", ..] => Some("changes what the agent may do"),
        ["cron", "create" | "edit" | "resume" | "run" | "remove" | "serve", ..] => {
            Some("plans work that runs later by itself")
        }
        ["plugins", "enable" | "trust", ..] | ["hooks", "accept", ..] | ["mcp", "add" | "login", ..] => {
            Some("lets the agent use what it did not use before")
        }
        _ if yolo => Some("starts an agent that asks no questions"),
        _ => None,
    };
    if let Some(what) = changes {
        walk.emit_names(Kind::Agent, what, call.span, &words);
    }
    Flow::none()
}
