//! Copies between machines and folders: `rsync`, `scp`, `sftp`, `rclone`.

use super::Handler;
use super::archive::is_whole;
use super::opts::{Spec, parse};
use crate::effect::{How, Kind};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "rsync" | "unison" => rsync,
        "scp" | "pscp" => scp,
        "sftp" => sftp,
        "rclone" | "restic" | "borg" | "duplicity" | "timeshift" | "snapper" | "syncthing" => backup,
        _ => return None,
    })
}

fn is_remote(path: &str) -> bool {
    path.contains("://")
        || path
            .split_once(':')
            .is_some_and(|(host, _)| !host.is_empty() && !host.contains('/') && !host.starts_with('.'))
}

fn rsync(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let spec = Spec {
        short: "efTBM",
        long: &[
            "rsh",
            "filter",
            "exclude",
            "include",
            "exclude-from",
            "include-from",
            "files-from",
            "rsync-path",
            "temp-dir",
            "partial-dir",
            "bwlimit",
            "port",
            "log-file",
            "backup-dir",
            "suffix",
        ],
        stops: false,
    };
    let parsed = parse(call.args, spec);
    for (program, span) in parsed.values("e", "rsh").chain(parsed.values("", "rsync-path")) {
        if super::base_name(program.split_whitespace().next().unwrap_or_default()) != "ssh"
            && super::base_name(program.split_whitespace().next().unwrap_or_default()) != "rsync"
        {
            walk.emit_names(Kind::ToolProgram, "makes rsync run a program", span, &[program]);
            walk.run_text(program, &Flow::none(), span);
        }
    }
    if parsed.has("n", "dry-run") {
        return Flow::none();
    }
    let paths: Vec<&Arg<'_>> = parsed.rest().collect();
    let Some((to, from)) = paths.split_last() else { return Flow::none() };
    let deletes =
        parsed.flags.iter().any(|flag| flag.long && (flag.name.starts_with("del") || flag.name == "delete"));
    if deletes && !from.is_empty() {
        let target = if is_remote(&to.text) {
            crate::effect::Target { text: to.text.to_string(), place: Place::Unseen }
        } else {
            walk.target(&to.text)
        };
        if !matches!(target.place, Place::Rebuilt | Place::Temp | Place::Made) {
            walk.emit_on(
                Kind::Delete,
                "deletes what the source lacks",
                call.span,
                vec![target],
                How { recursive: true, ..How::default() },
            );
        }
    }
    if parsed.has("", "remove-source-files") {
        let targets = from.iter().map(|arg| walk.target(&arg.text)).collect();
        walk.emit_on(
            Kind::Delete,
            "deletes the source after copying",
            call.span,
            targets,
            How { recursive: true, ..How::default() },
        );
    }
    // Whoever leaves parts out has thought about what goes along.
    let chosen = ["exclude", "exclude-from", "filter", "include", "files-from"];
    let all = !chosen.iter().any(|option| parsed.has("", option));
    transfer(walk, call, from, to, all);
    Flow::none()
}

fn transfer(walk: &mut Walk<'_>, call: Call<'_>, from: &[&Arg<'_>], to: &Arg<'_>, all: bool) {
    if is_remote(&to.text)
        && !to.text.contains("://")
        && let Some((_, path)) = to.text.split_once(':')
        && path.starts_with('/')
    {
        // A system file over there is one here: it is asked about all the same.
        let target = walk.target(path);
        if target.place >= Place::Startup && !matches!(target.place, Place::Credential | Place::System) {
            walk.emit_on(
                Kind::Write,
                "writes system files of another machine",
                to.span,
                vec![target],
                How::default(),
            );
        }
    }
    let mut credential = false;
    for source in from {
        if is_remote(&source.text) {
            continue;
        }
        let target = walk.target(&source.text);
        let folder = target.place == Place::Startup && target.text.ends_with("/.ssh")
            || target.text.ends_with("/.aws")
            || target.text.ends_with("/.gnupg");
        if folder {
            credential = true;
            walk.emit_on(
                Kind::ReadCredential,
                "copies credentials",
                source.span,
                vec![target.clone()],
                How::default(),
            );
        }
        if is_remote(&to.text) && is_whole(target.place) && (all || target.place != Place::WorkspaceTop) {
            walk.emit_on(
                Kind::SendOut,
                "sends a whole folder to another machine",
                call.span,
                vec![target],
                How::default(),
            );
        }
        let personal = ["/Documents", "/Desktop", "/Pictures", "/Downloads", "/Mail", "/.config", "/.local"];
        let target = walk.target(&source.text);
        if is_remote(&to.text)
            && target.place == Place::Home
            && personal.iter().any(|folder| target.text.ends_with(folder))
        {
            let how = How::default();
            walk.emit_on(
                Kind::SendOut,
                "sends files of yours to another machine",
                call.span,
                vec![target],
                how,
            );
        }
        credential |= walk.read_file(&source.text, source.span).origin.credential;
    }
    if is_remote(&to.text) {
        if credential {
            walk.emit_names(Kind::SendOut, "sends credentials to another machine", call.span, &[&to.text]);
        }
    } else {
        let network = from.iter().any(|source| is_remote(&source.text));
        let origin = Origin { network, ..Origin::default() };
        let name =
            from.first().map_or("", |source| source.text.rsplit(['/', ':']).next().unwrap_or_default());
        if network && (to.text.ends_with('/') || matches!(&*to.text, "." | "..")) {
            walk.write_file(
                &format!("{}/{name}", to.text.trim_end_matches('/')),
                Flow::unknown(origin),
                false,
                "copies over a file",
                call.span,
            );
        }
        walk.write_file(&to.text, Flow::unknown(origin), false, "copies over a file", call.span);
    }
}

fn scp(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "cDFiJloPSX", long: &[], stops: false });
    for (option, span) in parsed.values("o", "") {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        if key.eq_ignore_ascii_case("proxycommand") {
            walk.emit_names(Kind::ToolProgram, "makes scp run a program", span, &[value]);
            walk.run_text(value, &Flow::none(), span);
        }
    }
    if let Some(program) = parsed.value("S", "") {
        walk.emit_names(Kind::ToolProgram, "makes scp run a program", call.span, &[program]);
        walk.run_text(program, &Flow::none(), call.span);
    }
    let paths: Vec<&Arg<'_>> = parsed.rest().collect();
    if let Some((to, from)) = paths.split_last() {
        transfer(walk, call, from, to, true);
    }
    Flow::none()
}

fn sftp(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    for line in call.stdin.seen().to_owned().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["put" | "mput" | "reput", files @ ..] => {
                for file in files.iter().filter(|file| !file.starts_with('-')).take(16) {
                    let origin = walk.read_file(file, call.span).origin;
                    if origin.credential {
                        walk.emit(Kind::SendOut, "sends credentials to another machine", call.span);
                    } else if origin.whole || is_whole(walk.target(file).place) {
                        walk.emit(Kind::SendOut, "sends a whole folder to another machine", call.span);
                    }
                }
            }
            ["rm" | "rmdir", ..] => walk.emit(Kind::Delete, "deletes files on another machine", call.span),
            [first, ..] if first.starts_with('!') => {
                walk.run_text(line.trim_start_matches('!'), &Flow::none(), call.span);
            }
            _ => {}
        }
    }
    Flow::none()
}

fn backup(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    if words.iter().any(|word| matches!(*word, "--dry-run" | "-n" | "--interactive")) {
        return Flow::none();
    }
    let verb = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    let bad = match call.name {
        "rclone" => {
            matches!(verb, "delete" | "purge" | "sync" | "deletefile" | "rmdirs" | "cleanup" | "move")
        }
        _ => {
            matches!(verb, "forget" | "prune" | "delete" | "--delete" | "--delete-all")
                || words.contains(&"--delete-all")
        }
    };
    if call.name == "rclone"
        && matches!(words.as_slice(), ["config", "show" | "dump" | "file", ..])
        && !words.contains(&"file")
    {
        walk.emit_names(Kind::ReadCredential, "prints stored credentials", call.span, &words);
    }
    if bad {
        walk.emit_names(Kind::Cloud, "deletes stored or remote copies", call.span, &words);
    }
    if call.name == "rclone" && matches!(verb, "copy" | "copyto") {
        for word in words.iter().filter(|word| !word.starts_with('-') && !is_remote(word)).skip(1) {
            let place = walk.target(word).place;
            if walk.read_file(word, call.span).origin.credential {
                walk.emit(Kind::SendOut, "sends credentials to another machine", call.span);
            } else if (place == Place::Home || is_whole(place)) && words.iter().any(|word| is_remote(word)) {
                walk.emit_names(Kind::SendOut, "sends files of yours to another machine", call.span, &[word]);
            }
        }
    }
    Flow::none()
}
