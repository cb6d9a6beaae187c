//! Archives: what they unpack where, and the options that run programs.

use super::Handler;
use super::opts::{Spec, parse};
use crate::effect::{How, Kind, Span, Target};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "tar" | "gtar" | "bsdtar" => tar,
        "zip" => zip,
        "unzip" | "7z" | "7za" | "7zz" | "unrar" | "rar" | "unar" | "zpaq" | "arc" => unzip,
        "cpio" => cpio,
        "jar" => jar,
        _ => return None,
    })
}

/// Options of tar that run programs or delete.
fn tar_options(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) {
    for (at, arg) in call.args.iter().enumerate() {
        let text = &*arg.text;
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let value = if value.is_empty() { words.get(at + 1).copied().unwrap_or_default() } else { value };
        match name {
            "--to-command" | "--info-script" | "--new-volume-script" | "--rsh-command" | "--rmt-command" => {
                walk.emit_names(Kind::ToolProgram, "makes tar run a program", arg.span, &[value]);
                walk.run_text(value, &Flow::none(), arg.span);
            }
            "--checkpoint-action" => {
                if let Some(command) = value.strip_prefix("exec=") {
                    walk.emit_names(Kind::ToolProgram, "makes tar run a program", arg.span, &[command]);
                    walk.run_text(command, &Flow::none(), arg.span);
                }
            }
            "--use-compress-program" | "-I" => {
                let program = value.split_whitespace().next().unwrap_or_default();
                if !matches!(
                    super::base_name(program),
                    "gzip"
                        | "pigz"
                        | "zstd"
                        | "xz"
                        | "bzip2"
                        | "pbzip2"
                        | "lz4"
                        | "lzip"
                        | "lzop"
                        | "brotli"
                        | "pixz"
                        | "zstdmt"
                        | "pxz"
                ) {
                    walk.emit_names(Kind::ToolProgram, "makes tar run a program", arg.span, &[value]);
                    walk.run_text(value, &Flow::none(), arg.span);
                }
            }
            _ if name.len() > 8 && "--remove-files".starts_with(name) => {
                let packed: Vec<&Arg<'_>> =
                    call.args.iter().filter(|arg| arg.text.starts_with(['/', '~', '.'])).collect();
                moved_in(walk, &packed, arg.span);
            }
            _ => {}
        }
    }
}

fn tar(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    tar_options(walk, call, &words);
    let first = words.first().copied().unwrap_or_default();
    let letters = |letter: char| {
        first.trim_start_matches('-').contains(letter) && !first.starts_with("--")
            || words
                .iter()
                .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let extracts = letters('x') || words.contains(&"--extract") || words.contains(&"--get");
    let creates = letters('c') || words.contains(&"--create");
    let folder = words
        .iter()
        .position(|word| matches!(*word, "-C" | "--directory"))
        .and_then(|at| words.get(at + 1))
        .copied()
        .or_else(|| words.iter().find_map(|word| word.strip_prefix("--directory=")))
        .or_else(|| {
            words.iter().find_map(|word| word.strip_prefix("-C").filter(|folder| !folder.is_empty()))
        });
    if extracts && (letters('P') || words.contains(&"--absolute-names")) {
        walk.emit(Kind::Write, "unpacks to absolute paths", call.span);
        let target = Target { text: "/".to_owned(), place: Place::System };
        walk.emit_on(
            Kind::Write,
            "unpacks to absolute paths",
            call.span,
            vec![target],
            How { recursive: true, ..How::default() },
        );
    }
    if extracts {
        let fetched = |arg: &Arg<'_>| {
            walk.scope.files.get(&walk.path(&arg.text)).is_some_and(|flow| flow.origin.network)
        };
        if call.stdin.origin.network || call.args.iter().any(fetched) {
            // What runs out of there next was fetched.
            let path = walk.path(folder.unwrap_or("."));
            walk.scope.cloned.insert(path);
        }
        let written = letters('O') || words.contains(&"--to-stdout");
        if !written {
            unpacks(walk, folder, call.span);
        }
        if written {
            return Flow::unknown(Origin {
                decoded: true,
                network: call.stdin.origin.network,
                ..Origin::default()
            });
        }
    }
    if creates {
        let devices: Vec<Target> = call
            .args
            .iter()
            .map(|arg| walk.target(&arg.text))
            .filter(|target| target.place == Place::Device)
            .collect();
        if !devices.is_empty() {
            let how = How { grave: true, ..How::default() };
            walk.emit_on(Kind::Device, "overwrites a device", call.span, devices, how);
        }
        return packed(walk, call);
    }
    Flow::none()
}

/// Notes where an archive is unpacked, if that is no place for just any files. Where no folder is named it is the
/// one that the text stands in by then.
pub(super) fn unpacks(walk: &mut Walk<'_>, folder: Option<&str>, span: Span) {
    let target = walk.target(folder.unwrap_or("."));
    let what = match target.place {
        Place::Root | Place::SystemTop | Place::SystemConfig | Place::HomeTop if folder.is_some() => {
            "unpacks over system files"
        }
        Place::AgentConfig => "unpacks over the agent's own files",
        Place::Startup | Place::Credential => "unpacks over keys, or what runs by itself later",
        _ => return,
    };
    let how = How { recursive: true, ..How::default() };
    walk.emit_on(Kind::Write, what, span, vec![target], how);
}

/// Whether a place is all there is of a project, a home or a system.
pub(super) fn is_whole(place: Place) -> bool {
    matches!(
        place,
        Place::WorkspaceTop | Place::HomeTop | Place::Root | Place::SystemTop | Place::SystemConfig
    )
}

/// Whether a folder is one where people keep keys and tokens.
fn keeps_secrets(path: &str) -> bool {
    let name = path.trim_end_matches(['/', '*']).trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    matches!(name, ".ssh" | ".aws" | ".gnupg" | ".kube" | ".docker" | ".azure" | "gcloud" | ".password-store")
}

/// Notes that files are deleted once they are packed.
fn moved_in(walk: &mut Walk<'_>, packed: &[&Arg<'_>], span: Span) {
    let targets: Vec<Target> = packed
        .iter()
        .map(|arg| walk.target(&arg.text))
        .filter(|target| target.place >= Place::SystemTop)
        .collect();
    let recursive = !targets.is_empty();
    let how = How { recursive, ..How::default() };
    walk.emit_on(Kind::Delete, "deletes files after packing them", span, targets, how);
}

/// Reading what goes into an archive; an archive on standard output carries it on.
fn packed(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut credential = false;
    let mut whole = false;
    let archive = call
        .args
        .iter()
        .position(|arg| {
            arg.text.starts_with('-') && arg.text.ends_with('f')
                || !arg.text.starts_with('-') && arg.text.ends_with('f') && arg.text.len() < 6
        })
        .map(|at| at + 1);
    for (at, arg) in call.args.iter().enumerate().skip(1) {
        if Some(at) == archive || arg.text.starts_with('-') {
            continue;
        }
        let place = walk.target(&arg.text).place;
        whole |= is_whole(place) || place == Place::Home;
        if place == Place::Credential || keeps_secrets(&arg.text) {
            credential = true;
            walk.read_file(&arg.text, arg.span);
            let target = walk.target(&arg.text);
            if place != Place::Credential {
                walk.emit_on(
                    Kind::ReadCredential,
                    "packs credentials",
                    arg.span,
                    vec![target],
                    How::default(),
                );
            }
        }
    }
    Flow::unknown(Origin { credential, whole, local: true, ..Origin::default() })
}

fn zip(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "tbnixUs", long: &["unzip-command"], stops: false });
    for (at, arg) in call.args.iter().enumerate() {
        if &*arg.text == "-TT"
            && let Some(program) = call.args.get(at + 1)
        {
            walk.emit_names(Kind::ToolProgram, "makes zip run a program", arg.span, &[&program.text]);
            walk.run_text(&program.text, &Flow::none(), program.span);
        } else if let Some(program) = arg.text.strip_prefix("-TT").filter(|rest| !rest.is_empty()) {
            walk.emit_names(Kind::ToolProgram, "makes zip run a program", arg.span, &[program]);
            walk.run_text(program, &Flow::none(), arg.span);
        }
    }
    for (program, span) in parsed.values("", "unzip-command") {
        walk.emit_names(Kind::ToolProgram, "makes zip run a program", span, &[program]);
        walk.run_text(program, &Flow::none(), span);
    }
    if parsed.has("m", "move") {
        let packed: Vec<&Arg<'_>> = parsed.rest().skip(1).collect();
        moved_in(walk, &packed, call.span);
    }
    for arg in parsed.rest().skip(1) {
        if walk.target(&arg.text).place == Place::Credential || keeps_secrets(&arg.text) {
            let target = walk.target(&arg.text);
            walk.emit_on(Kind::ReadCredential, "packs credentials", arg.span, vec![target], How::default());
        }
    }
    if parsed.text(0) == "-" {
        let whole = parsed.rest().skip(1).any(|arg| {
            let place = walk.target(&arg.text).place;
            is_whole(place) || place == Place::Home
        });
        return Flow::unknown(Origin { whole, local: true, ..Origin::default() });
    }
    Flow::none()
}

fn unzip(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "dx", long: &[], stops: false });
    let folder = parsed.value("d", "").or_else(|| {
        call.args
            .iter()
            .find_map(|arg| arg.text.strip_prefix("-o"))
            .filter(|folder| !folder.is_empty() && call.name.starts_with('7'))
    });
    let folder = folder.or_else(|| match call.name {
        "unar" => call
            .args
            .iter()
            .position(|arg| matches!(&*arg.text, "-o" | "-output-directory"))
            .and_then(|at| Some(&*call.args.get(at + 1)?.text)),
        "unrar" | "rar" => parsed.operand(2).map(|arg| &*arg.text),
        _ => None,
    });
    let looks = match call.name {
        "unzip" => parsed.has("l", "") || parsed.has("t", "") || parsed.has("p", "") || parsed.has("Z", ""),
        "unar" => false,
        _ => folder.is_none() && !matches!(parsed.text(0), "x" | "e"),
    };
    if !looks {
        unpacks(walk, folder, call.span);
    }
    if parsed.text(0) == "a" {
        let flow = packed(walk, call);
        if call.args.iter().any(|arg| &*arg.text == "-so") {
            return flow;
        }
    }
    if call.args.iter().any(|arg| &*arg.text == "-sdel") {
        let packed: Vec<&Arg<'_>> = parsed.rest().skip(2).collect();
        moved_in(walk, &packed, call.span);
    }
    if parsed.has("p", "") && call.name == "unzip" || call.args.iter().any(|arg| &*arg.text == "-so") {
        return Flow::unknown(Origin { decoded: true, ..Origin::default() });
    }
    Flow::none()
}

/// `jar xf a.jar`: the first word may be letters without a dash, as with tar.
fn jar(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let letters = call.args.first().filter(|arg| !arg.text.starts_with("--"));
    let extracts = letters.is_some_and(|arg| arg.text.contains('x'))
        || call.args.iter().any(|arg| &*arg.text == "--extract");
    if extracts {
        let folder = parse(call.args, Spec { short: "fC", long: &["file", "dir"], stops: false });
        unpacks(walk, folder.value("C", "dir"), call.span);
    }
    Flow::none()
}

fn cpio(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec { short: "DFIOHRCE", long: &["directory", "file", "rsh-command"], stops: false },
    );
    for (program, span) in parsed.values("", "rsh-command") {
        walk.emit_names(Kind::ToolProgram, "makes cpio run a program", span, &[program]);
        walk.run_text(program, &Flow::none(), span);
    }
    let folder = parsed.value("D", "directory");
    if folder.is_some() || parsed.has("i", "extract") {
        unpacks(walk, folder, call.span);
    }
    Flow::unknown(call.stdin.origin)
}
