//! Signals to processes, and the machine's power.

use super::Handler;
use super::opts::{Spec, parse};
use crate::effect::{How, Kind, Span};
use crate::walk::{AGENT_PID, ALL_PIDS, Call, Flow, HOLE, OWN_PID, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "kill" | "gkill" => kill,
        "pkill" | "killall" | "skill" | "slay" | "xkill" | "killall5" | "fuser" => by_name,
        "shutdown" | "reboot" | "halt" | "poweroff" | "telinit" | "init" | "pm-suspend" | "rtcwake"
        | "systemctl-reboot" => power,
        "loginctl" => loginctl,
        _ => return None,
    })
}

fn kill(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut args = call.args;
    let mut signal = String::from("TERM");
    let mut given = false;
    while let Some((first, rest)) = args.split_first() {
        match &*first.text {
            "-l" | "-L" | "--list" | "--table" => return Flow::none(),
            "-s" | "-n" | "--signal" | "-q" => {
                signal = rest.first().map_or_else(String::new, |arg| arg.text.to_string());
                given = true;
                args = rest.get(1..).unwrap_or_default();
            }
            "--" => {
                args = rest;
                break;
            }
            // The first dashed word is a signal, unless it is the only word; then it is a group.
            text if text.starts_with('-') && !given && !rest.is_empty() => {
                text.trim_start_matches('-').clone_into(&mut signal);
                given = true;
                args = rest;
            }
            _ => break,
        }
    }
    // A question whether it is there, or leave to go on.
    if matches!(signal.as_str(), "0" | "CONT" | "SIGCONT") {
        return Flow::none();
    }
    // `/proc/[0-9]*` and its kin: whatever runs.
    let everything = args.iter().any(|arg| &*arg.text == "-1" || arg.text.contains(['*', ALL_PIDS]));
    if args.iter().any(|arg| arg.text.contains(AGENT_PID)) {
        walk.emit(Kind::Agent, "ends the agent itself", call.span);
        return Flow::none();
    }
    if everything {
        let how = How { all: true, grave: true, ..How::default() };
        walk.emit_on(Kind::Kill, "signals every process", call.span, Vec::new(), how);
        return Flow::none();
    }
    let first = args.iter().any(|arg| &*arg.text == "1");
    let looked_up = args.iter().any(|arg| arg.text.contains(HOLE) && !arg.text.contains(OWN_PID))
        && !walk.last_unknown.file
        && walk.last_unknown != crate::walk::Origin::default();
    if first {
        walk.emit_names(Kind::Kill, "signals the first process of the system", call.span, &["1"]);
    } else if looked_up {
        walk.emit(Kind::Kill, "signals processes it looked up", call.span);
    } else if args.iter().any(|arg| arg.text.starts_with('-') && arg.text.len() > 1) {
        walk.emit(Kind::Kill, "signals a group of processes", call.span);
    }
    Flow::none()
}

fn by_name(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.name == "killall5" {
        walk.emit_on(
            Kind::Kill,
            "signals every process",
            call.span,
            Vec::new(),
            How { all: true, grave: true, ..How::default() },
        );
        return Flow::none();
    }
    let parsed = parse(
        call.args,
        Spec {
            short: "sugtUGPOyonF",
            long: &[
                "signal",
                "user",
                "euid",
                "uid",
                "group",
                "pgroup",
                "parent",
                "older-than",
                "younger-than",
                "ns",
            ],
            stops: false,
        },
    );
    if call.name == "fuser" && !parsed.has("k", "kill") {
        return Flow::none();
    }
    let names: Vec<&str> = parsed.rest().map(|arg| &*arg.text).filter(|text| !is_signal(text)).collect();
    if call
        .args
        .iter()
        .any(|arg| matches!(&*arg.text, "-0" | "-l" | "--list" | "--version" | "-V" | "--help"))
    {
        return Flow::none();
    }
    if names.iter().any(|name| is_agent(name)) {
        walk.emit_names(Kind::Agent, "ends the agent itself", call.span, &names);
        return Flow::none();
    }
    let narrowed = parsed.flags.iter().any(|flag| {
        ["u", "U", "g", "G", "P", "t", "s"].contains(&flag.name) && flag.value.is_some_and(|v| !is_signal(v))
            || flag.long && flag.value.is_some() && flag.name != "signal"
    });
    let all = names.is_empty()
        && parsed
            .flags
            .iter()
            .any(|flag| flag.is("u", "user") || flag.is("u", "euid") || flag.is("U", "uid"))
        || names.iter().any(|name| *name == "-1" || everybody(name));
    let all_there_are = call.name == "pkill" && names.iter().any(|name| everybody(name)) && !narrowed;
    if all_there_are {
        let how = How { all: true, grave: true, ..How::default() };
        walk.emit_on(Kind::Kill, "signals every process", call.span, Vec::new(), how);
        return Flow::none();
    }
    let forced = parsed.flags.iter().any(|flag| {
        flag.name == "9"
            || flag.name == "K"
            || flag.name.eq_ignore_ascii_case("KILL")
            || flag.value.is_some_and(is_signal)
    }) || call.args.iter().any(|arg| is_signal(arg.text.trim_start_matches('-')));
    let regex = parsed.has("r", "regexp") || parsed.has("f", "full");
    let what = if all {
        "ends every process of a user"
    } else if forced {
        "ends processes by force"
    } else {
        "ends processes by name"
    };
    walk.emit_on(
        Kind::Kill,
        what,
        call.span,
        Vec::new(),
        How { all, recursive: forced || regex, ..How::default() },
    );
    Flow::none()
}

/// Whether a pattern of names fits every name there is.
pub(super) fn everybody(pattern: &str) -> bool {
    matches!(pattern, "" | "." | ".*" | "*" | "^" | ".+" | "^.*$" | "^." | "^.*")
}

fn is_signal(text: &str) -> bool {
    matches!(text.trim_start_matches("SIG"), "9" | "KILL" | "kill")
}

fn is_agent(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.contains("hermes") || lower == "gateway" || lower.contains("cli.py")
}

fn power(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    if words
        .iter()
        .any(|word| matches!(*word, "-c" | "--help" | "--version" | "--show" | "-w" | "--wtmp-only"))
        && call.name != "rtcwake"
    {
        return Flow::none();
    }
    match call.name {
        "init" | "telinit" => match words.first() {
            Some(&("0" | "6")) => {
                walk.emit_grave(Kind::Power, "switches the machine off or restarts it", call.span);
            }
            Some(&("1" | "s" | "S")) => {
                walk.emit(Kind::Power, "takes the machine to single-user mode", call.span);
            }
            _ => {}
        },
        "rtcwake" if words.contains(&"off") => {
            walk.emit_grave(Kind::Power, "switches the machine off or restarts it", call.span);
        }
        "pm-suspend" | "rtcwake" => walk.emit(Kind::Power, "puts the machine to sleep", call.span),
        _ => walk.emit_grave(Kind::Power, "switches the machine off or restarts it", call.span),
    }
    Flow::none()
}

fn loginctl(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    match call.args.first().map_or("", |arg| &*arg.text) {
        "poweroff" | "reboot" | "halt" => {
            walk.emit_grave(Kind::Power, "switches the machine off or restarts it", call.span);
        }
        "enable-linger" => walk.emit_startup("lets services of a user run without a login", call.span),
        "kill-session" | "kill-user" | "terminate-session" | "terminate-user" | "terminate-seat" => {
            walk.emit(Kind::Kill, "ends sessions", call.span);
        }
        "suspend" | "hibernate" => walk.emit(Kind::Power, "puts the machine to sleep", call.span),
        _ => {}
    }
    Flow::none()
}

/// `systemctl reboot` and its kin, shared with the services.
pub(crate) fn power_verb(walk: &mut Walk<'_>, verb: &str, span: Span) -> bool {
    match verb {
        "poweroff" | "reboot" | "halt" | "kexec" | "soft-reboot" => {
            walk.emit_grave(Kind::Power, "switches the machine off or restarts it", span);
        }
        "suspend"
        | "hibernate"
        | "hybrid-sleep"
        | "rescue"
        | "emergency"
        | "suspend-then-hibernate"
        | "exit" => walk.emit(Kind::Power, "changes the power state of the machine", span),
        _ => return false,
    }
    true
}
