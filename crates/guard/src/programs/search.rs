//! Searching text: what is searched, and the options that run programs.

use super::filters::source;
use super::opts::{Spec, parse};
use crate::effect::Kind;
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, HOLE, HOLE_STR, Origin, Walk};

pub(super) fn grep(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let spec = Spec {
        short: if matches!(call.name, "rg" | "ugrep") { "efmABCdDgtTjE" } else { "efmABCdD" },
        long: &[
            "regexp",
            "file",
            "max-count",
            "after-context",
            "before-context",
            "context",
            "include",
            "exclude",
            "exclude-dir",
            "glob",
            "type",
            "pre",
            "pager",
            "hostname-bin",
            "pre-glob",
        ],
        stops: false,
    };
    let parsed = parse(call.args, spec);
    for option in ["pre", "pager", "hostname-bin"] {
        for (program, span) in parsed.values("", option) {
            walk.emit_names(Kind::ToolProgram, "makes a search run a program", span, &[program]);
            walk.run_text(program, &Flow::none(), span);
        }
    }
    let skip =
        usize::from(!parsed.has("e", "regexp") && !parsed.has("f", "file") && !parsed.has("", "files"));
    let recursive =
        parsed.has("r", "recursive") || parsed.has("R", "") || matches!(call.name, "rg" | "ag" | "ack");
    let quiet = parsed.has("q", "quiet") || parsed.has("l", "files-with-matches") || parsed.has("c", "count");
    let files: Vec<&Arg<'_>> = if quiet { Vec::new() } else { parsed.rest().skip(skip).collect() };
    if recursive && parsed.has("", "files") {
        let folder = parsed.text(0);
        return Flow {
            text: Some(format!("{folder}/{HOLE}\n").into()),
            origin: Origin { local: true, listed: true, ..Origin::default() },
        };
    }
    if recursive
        && skip == 1
        && (parsed.text(0).split(['|', '\\', '.', '*']).any(crate::walk::secret_name)
            || looks_for_keys(parsed.text(0)))
        && files.iter().any(|file| {
            let target = walk.target(&file.text);
            matches!(target.place, Place::HomeTop | Place::Root)
                || target.place == Place::Home && target.text.ends_with("/.config")
        })
    {
        let what = "searches the home folder for secrets";
        walk.emit_names(Kind::ReadCredential, what, call.span, &[parsed.text(0)]);
    }
    let names = (parsed.has("l", "files-with-matches") || parsed.has("L", "files-without-match"))
        && !(call.stdin.present() && parsed.rest().nth(skip).is_none());
    if names {
        // Files of the folders searched; of this one when none is named.
        let mut folders: Vec<String> =
            parsed.rest().skip(skip).map(|arg| super::find::everything_in(&arg.text)).collect();
        if folders.is_empty() {
            folders.push(HOLE_STR.to_owned());
        }
        let origin = Origin { local: true, listed: true, ..Origin::default() };
        return Flow { text: Some((folders.join("\n") + "\n").into()), origin };
    }
    let flow = source(walk, &files, call.stdin);
    let before = walk.programs.iter().rev().nth(1).map_or("", |(name, _)| name.as_str());
    if skip == 1
        && !parsed.has("v", "invert-match")
        && matches!(before, "env" | "printenv" | "set" | "export" | "declare" | "docker" | "podman")
        && call.stdin.present()
        && parsed.text(0).split(['|', '\\', '.', '*']).any(crate::walk::secret_name)
    {
        let what = "picks secrets out of the environment";
        walk.emit_names(Kind::ReadCredential, what, call.span, &[parsed.text(0)]);
    }
    Flow { text: flow.text.map(|_| HOLE_STR.into()), origin: flow.origin }
}

/// Whether a pattern is how keys and tokens begin.
fn looks_for_keys(pattern: &str) -> bool {
    ["PRIVATE KEY", "AKIA", "ghp_", "github_pat_", "xox", "sk-", "AIza", "aws_secret", "BEGIN RSA"]
        .iter()
        .any(|start| pattern.contains(start))
}
