//! The agent's own command line, run from inside a session.

use super::Handler;
use crate::effect::Kind;
use crate::walk::{Call, Flow, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    matches!(name, "hermes" | "hermes-agent" | "hermes-gateway").then_some(hermes)
}

fn hermes(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words = words(call.args.iter().map(|arg| &*arg.text));
    let has = |option: &str| call.args.iter().any(|arg| &*arg.text == option);
    let changes = match words.as_slice() {
        ["gateway", "stop" | "restart" | "uninstall" | "install", ..] => Some("stops or restarts the agent"),
        ["gateway", "run" | "start", ..] if walk.background || detached(walk) => {
            Some("starts another agent in the background")
        }
        ["update" | "uninstall", ..] => Some("updates or removes the agent"),
        ["config", "set" | "edit" | "unset", ..] | ["setup", _, ..] | ["tools", "enable" | "disable", ..] => {
            Some("changes the agent's settings")
        }
        ["plugins", "disable", ..] | ["hooks", "revoke", ..] => Some("switches off what may watch the agent"),
        ["policy", "allow" | "set" | "reset", ..] => Some("changes what the agent may do"),
        ["cron", "create" | "edit" | "resume" | "run" | "remove" | "serve", ..] => {
            Some("plans work that runs later by itself")
        }
        ["tools", "call", "cronjob", ..] => Some("plans work that runs later by itself"),
        ["send", ..] => Some("sends a message in your name"),
        ["plugins", "enable" | "trust", ..]
        | ["hooks", "accept", ..]
        | ["mcp", "add" | "login", ..]
        | ["skills", "trust" | "install" | "pin", ..] => {
            Some("lets the agent use what it did not use before")
        }
        ["mcp", "tools", ..] if has("--accept") => Some("lets the agent use what it did not use before"),
        _ if has("--accept-hooks") => Some("runs hooks that nobody has accepted"),
        _ if has("--yolo") => Some("starts an agent that asks no questions"),
        _ => None,
    };
    if let Some(what) = changes {
        walk.emit_names(Kind::Agent, what, call.span, &words);
    }
    Flow::none()
}

/// Whether a program that lets go of what it starts was met just before.
fn detached(walk: &Walk<'_>) -> bool {
    walk.programs.iter().rev().skip(1).take(4).any(|(name, _)| {
        matches!(
            name.as_str(),
            "setsid"
                | "nohup"
                | "tmux"
                | "screen"
                | "daemonize"
                | "systemd-run"
                | "at"
                | "batch"
                | "start-stop-daemon"
                | "disown"
                | "zellij"
                | "python"
                | "python3"
                | "node"
                | "perl"
                | "ruby"
        )
    })
}

/// The words that are no options; `-p` has the name of a profile behind it.
fn words<'a>(args: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let (mut words, mut named) = (Vec::new(), false);
    for word in args {
        let is_name = std::mem::replace(&mut named, matches!(word, "-p" | "--profile"));
        if !is_name && !word.starts_with('-') {
            words.push(word);
        }
    }
    words
}
