//! Permissions and owners.

use super::Handler;
use super::opts::{Spec, parse};
use crate::effect::{How, Kind, Span, Target};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, HOLE, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "chmod" | "gchmod" => chmod,
        "chown" | "chgrp" | "gchown" => chown,
        "chattr" | "chflags" => chattr,
        "setfacl" => setfacl,
        "setcap" => setcap,
        "chcon" | "restorecon" | "setfattr" => context,
        _ => return None,
    })
}

fn chmod(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut recursive = false;
    let mut rest: Vec<&Arg<'_>> = Vec::new();
    let mut reference = false;
    let mut open = false;
    for arg in call.args {
        match &*arg.text {
            "--recursive" => recursive = true,
            // What everybody may write to, as a pattern.
            "--reference=/tmp"
            | "--reference=/var/tmp"
            | "--reference=/dev/null"
            | "--reference=/dev/shm" => open = true,
            text if text.starts_with("--reference") => reference = true,
            text if text.starts_with("--") => {}
            // `-R`, but `-x` is a mode.
            text if text.starts_with('-')
                && text
                    .bytes()
                    .skip(1)
                    .all(|b| matches!(b, b'R' | b'v' | b'f' | b'c' | b'h' | b'H' | b'L' | b'P')) =>
            {
                recursive |= text.contains('R');
            }
            _ => rest.push(arg),
        }
    }
    if open {
        let paths: Vec<&str> = rest.iter().map(|arg| &*arg.text).collect();
        mode(walk, "777", &paths, recursive, call.span);
        return Flow::none();
    }
    let (mode_text, files) = match rest.split_first() {
        Some((mode, files)) if !reference => (mode.text.to_string(), files.to_vec()),
        _ => (String::new(), rest),
    };
    let paths: Vec<&str> = files.iter().map(|arg| &*arg.text).collect();
    // An unset variable vanishes: `${nothing+x}777` is `777`.
    let mode_text = if reference { "755".to_owned() } else { mode_text.replace(HOLE, "") };
    mode(walk, &mode_text, &paths, recursive, call.span);
    Flow::none()
}

/// Notes what a mode on these paths means.
pub(crate) fn mode(walk: &mut Walk<'_>, text: &str, paths: &[&str], recursive: bool, span: Span) {
    let targets: Vec<Target> = paths.iter().map(|path| walk.target(path)).collect();
    if adds_execute(text) {
        for path in paths {
            let normal = walk.path(path);
            // A slash at the end: everything in it.
            walk.scope.runnable.insert(if recursive { format!("{normal}/") } else { normal });
        }
    }
    let broad = targets.iter().any(|target| {
        matches!(
            target.place,
            Place::Root
                | Place::SystemTop
                | Place::HomeTop
                | Place::System
                | Place::SystemConfig
                | Place::Credential
                | Place::Startup
        )
    });
    if world_writable(text) {
        let how = How { recursive, all: recursive && broad, ..How::default() };
        walk.emit_on(Kind::Permissions, "lets everybody write", span, targets, how);
    } else if sets_user_id(text) {
        walk.emit_on(
            Kind::Permissions,
            "makes a program run with its owner's rights",
            span,
            targets,
            How { recursive, ..How::default() },
        );
    } else if targets
        .iter()
        .any(|target| matches!(target.place, Place::Root | Place::SystemTop | Place::HomeTop))
        && (recursive || locks_out(text))
    {
        walk.emit_on(
            Kind::Permissions,
            "changes permissions of a whole system folder",
            span,
            targets,
            How { recursive, all: true, ..How::default() },
        );
    } else if targets.iter().any(|target| {
        matches!(target.place, Place::System | Place::SystemConfig | Place::SystemTop | Place::Root)
    }) {
        walk.emit_on(
            Kind::Permissions,
            "changes permissions of system files",
            span,
            targets,
            How { recursive, ..How::default() },
        );
    } else if locks_out(text) && (recursive || broad) {
        walk.emit_on(
            Kind::Permissions,
            "takes all permissions away",
            span,
            targets,
            How { recursive, ..How::default() },
        );
    } else if targets.iter().any(|target| target.place == Place::Credential) && opens_to_others(text) {
        walk.emit_on(
            Kind::Permissions,
            "lets others read credentials",
            span,
            targets,
            How { recursive, ..How::default() },
        );
    }
}

fn octal(text: &str) -> Option<u32> {
    let digits = text.trim_start_matches(['=', '+', '-']);
    let digits = digits.strip_prefix("0o").unwrap_or(digits);
    if digits.is_empty() || digits.len() > 6 || !digits.bytes().all(|b| (b'0'..=b'7').contains(&b)) {
        return None;
    }
    u32::from_str_radix(digits, 8).ok()
}

const SIGNS: [char; 3] = ['+', '-', '='];

/// The clauses of a symbolic mode: who, sign, what.
fn clauses(text: &str) -> impl Iterator<Item = (&str, char, &str)> {
    text.split(',').flat_map(|clause| {
        let at = clause.find(SIGNS).unwrap_or(clause.len());
        let (who, mut rest) = clause.split_at_checked(at).unwrap_or((clause, ""));
        // `a-x+w` does two things to the same people.
        std::iter::from_fn(move || {
            let sign = rest.chars().next()?;
            let after = rest.get(1..)?;
            let (what, next) = after.split_at_checked(after.find(SIGNS).unwrap_or(after.len()))?;
            rest = next;
            Some((who, sign, what))
        })
    })
}

pub(super) fn world_writable(text: &str) -> bool {
    match octal(text) {
        Some(bits) => bits & 0o002 != 0 && !text.starts_with('-'),
        None => {
            clauses(text).any(|(who, sign, what)| {
                sign != '-'
                    && (who.contains(['o', 'a'])
                        && (what.contains('w') || what == "u" || what.contains("=u"))
                        || (who.is_empty()
                            && what.contains('w')
                            && what.contains('r')
                            && what.contains('x')
                            && sign == '='))
            }) || text == "ugo+rwx"
                || text == "+rwx"
        }
    }
}

fn sets_user_id(text: &str) -> bool {
    match octal(text) {
        Some(bits) => bits & 0o6000 != 0,
        None => clauses(text).any(|(who, sign, what)| {
            sign != '-' && what.contains('s') && (who.is_empty() || who.contains(['u', 'g', 'a']))
        }),
    }
}

fn adds_execute(text: &str) -> bool {
    match octal(text) {
        Some(bits) => bits & 0o111 != 0,
        None => clauses(text).any(|(_, sign, what)| sign != '-' && what.contains(['x', 'X'])),
    }
}

fn locks_out(text: &str) -> bool {
    matches!(text, "000" | "0" | "0000" | "00" | "a-rwx" | "ugo-rwx" | "a=" | "-rwx")
        || clauses(text).any(|(who, sign, what)| {
            sign == '-' && (who.is_empty() || who.contains('a')) && what.contains('x') && what.contains('r')
        })
}

fn opens_to_others(text: &str) -> bool {
    match octal(text) {
        Some(bits) => bits & 0o077 != 0,
        None => clauses(text).any(|(who, sign, what)| {
            sign != '-' && (who.contains(['o', 'a', 'g']) || who.is_empty()) && what.contains('r')
        }),
    }
}

fn chown(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "", long: &["reference", "from"], stops: false });
    // What is found in a folder is as good as the folder.
    let listed = walk.found || walk.last_unknown.listed;
    let recursive =
        parsed.has("R", "recursive") || listed && parsed.rest().any(|arg| arg.text.contains(HOLE));
    let reference = parsed.value("", "reference").map(|path| walk.target(path));
    let owner = if reference.is_some() { "" } else { parsed.text(0) };
    let operands = usize::from(reference.is_none());
    let targets: Vec<Target> = parsed.rest().skip(operands).map(|arg| walk.target(&arg.text)).collect();
    let root = owner.starts_with("root")
        || owner.starts_with('0')
        || owner.starts_with(":root")
        || owner.starts_with("+0")
        || reference.is_some_and(|target| target.place >= Place::System);
    let weighty = targets.iter().any(|target| {
        matches!(
            target.place,
            Place::Root
                | Place::SystemTop
                | Place::HomeTop
                | Place::System
                | Place::SystemConfig
                | Place::Startup
                | Place::Credential
                | Place::Device
        )
    });
    if (recursive && root) || weighty {
        let how = How {
            recursive,
            all: targets
                .iter()
                .any(|target| matches!(target.place, Place::Root | Place::SystemTop | Place::HomeTop)),
            ..How::default()
        };
        walk.emit_on(
            Kind::Ownership,
            "changes who owns system files or whole folders",
            call.span,
            targets,
            how,
        );
    }
    Flow::none()
}

fn chattr(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let flag = call
        .args
        .iter()
        .find(|arg| arg.text.starts_with(['+', '-', '=']) && arg.text.contains(['i', 'a']))
        .map(|arg| arg.text.to_string());
    let targets: Vec<Target> = call
        .args
        .iter()
        .filter(|arg| !arg.text.starts_with(['+', '-', '=']))
        .map(|arg| walk.target(&arg.text))
        .collect();
    if flag.is_some() || call.name == "chflags" {
        walk.emit_on(
            Kind::Permissions,
            "changes whether a file may be changed at all",
            call.span,
            targets,
            How::default(),
        );
    }
    Flow::none()
}

fn setfacl(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "mxMX", long: &["modify", "remove", "set"], stops: false });
    let open = parsed.value("m", "modify").is_some_and(|rule| {
        (rule.contains("o:") || rule.contains("o::") || rule.contains("other:")) && rule.contains('w')
    });
    let targets: Vec<Target> = parsed.rest().map(|arg| walk.target(&arg.text)).collect();
    let weighty =
        targets.iter().any(|target| target.place >= Place::Startup && target.place != Place::ProjectEnv);
    let outside = parsed.has("R", "recursive")
        && targets.iter().any(|target| matches!(target.place, Place::Elsewhere | Place::Home));
    if open || weighty || outside || (parsed.has("b", "") && parsed.has("R", "recursive")) {
        walk.emit_on(
            Kind::Permissions,
            "changes access lists",
            call.span,
            targets,
            How { recursive: parsed.has("R", "recursive"), ..How::default() },
        );
    }
    Flow::none()
}

fn context(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let targets: Vec<Target> = call
        .args
        .iter()
        .filter(|arg| arg.text.starts_with('/'))
        .map(|arg| walk.target(&arg.text))
        .filter(|target| target.place >= Place::System)
        .collect();
    if !targets.is_empty() {
        walk.emit_on(
            Kind::Permissions,
            "changes security labels of system files",
            call.span,
            targets,
            How::default(),
        );
    }
    Flow::none()
}

fn setcap(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let risky = call.args.iter().any(|arg| {
        (arg.text.contains("cap_") || arg.text.contains("=ep") || arg.text.contains("all"))
            && !arg.text.starts_with("cap_net_bind_service")
    }) && !call.args.iter().any(|arg| &*arg.text == "-v");
    if risky {
        walk.emit(Kind::Permissions, "gives a program rights of root", call.span);
    }
    Flow::none()
}
