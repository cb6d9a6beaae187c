//! git: history, remote refs, uncommitted work, and the options that run programs.

use super::Handler;
use super::opts::{Parsed, Spec, parse};
use crate::effect::{How, Kind};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    match name {
        "git" | "hub" => Some(git),
        "gh" | "glab" => Some(forge),
        "hg" | "svn" | "jj" => Some(other),
        "git-filter-repo" | "bfg" => Some(rewrite),
        _ => None,
    }
}

const GLOBAL: Spec = Spec {
    short: "Cc",
    long: &["git-dir", "work-tree", "namespace", "exec-path", "super-prefix", "config-env"],
    stops: true,
};

fn git(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let global = parse(call.args, GLOBAL);
    let cwd = walk.scope.cwd.clone();
    for flag in &global.flags {
        match (flag.name, flag.value) {
            ("C", Some(folder)) => walk.scope.cwd = walk.path(folder),
            ("c", Some(setting)) => {
                let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
                configured(walk, key, value, call);
            }
            ("exec-path", Some(_)) => {
                walk.emit(Kind::ToolProgram, "makes git run programs from another folder", flag.span)
            }
            _ => {}
        }
    }
    let rest: Vec<Arg<'_>> = global.rest().map(Arg::shared).collect();
    if let Some((verb, args)) = rest.split_first() {
        let inner = Call { name: "git", args, span: call.span, stdin: call.stdin };
        verb_effects(walk, &verb.text, inner);
    }
    walk.scope.cwd = cwd;
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

/// A setting whose value git runs.
fn configured(walk: &mut Walk<'_>, key: &str, value: &str, call: Call<'_>) {
    let lower = key.to_ascii_lowercase();
    if let Some(name) = lower.strip_prefix("alias.") {
        let body = value.strip_prefix('!').map_or_else(|| format!("git {value}"), str::to_owned);
        walk.scope.aliases.insert(format!("git {name}"), body.into());
        return;
    }
    let runs = matches!(
        &*lower,
        "core.pager"
            | "core.editor"
            | "core.sshcommand"
            | "core.fsmonitor"
            | "core.askpass"
            | "sequence.editor"
            | "diff.external"
            | "credential.helper"
            | "gpg.program"
            | "core.gitproxy"
            | "uploadpack.packobjectshook"
            | "gpg.ssh.program"
            | "interactive.difffilter"
    ) || (lower.starts_with("pager.")
        || lower.starts_with("filter.")
        || lower.starts_with("diff.")
        || lower.starts_with("merge.")
        || lower.starts_with("difftool.")
        || lower.starts_with("mergetool."))
        && (lower.ends_with(".cmd")
            || lower.ends_with(".clean")
            || lower.ends_with(".smudge")
            || lower.ends_with(".driver")
            || lower.ends_with(".textconv")
            || lower.ends_with(".command")
            || lower.starts_with("pager."));
    if runs && !value.is_empty() {
        let command = value.trim_start_matches('!');
        let everyday = matches!(
            command.split_whitespace().next().unwrap_or_default(),
            "cat"
                | "less"
                | "more"
                | "delta"
                | "bat"
                | "vim"
                | "vi"
                | "nano"
                | "code"
                | "emacs"
                | "nvim"
                | "true"
                | "false"
                | ":"
                | "ssh"
                | "store"
                | "cache"
                | "osxkeychain"
                | "manager"
                | "git-lfs"
                | "meld"
                | "vimdiff"
                | "diff-so-fancy"
                | "subl"
                | "hx"
                | "micro"
                | "gpg"
                | "libsecret"
                | "wincred"
                | "manager-core"
                | "gpg2"
                | "ssh-keygen"
        ) || value.starts_with('/') && matches!(super::base_name(command), "gh" | "gpg")
            || matches!(value, "true" | "false");
        if !everyday {
            walk.emit_names(Kind::ToolProgram, "makes git run a program", call.span, &[key, value]);
        }
        walk.run_text(command, &Flow::none(), call.span);
    }
    if lower == "core.hookspath" {
        let place = walk.target(value).place;
        if matches!(place, Place::Temp | Place::Elsewhere | Place::Unseen) && value != "/dev/null" {
            walk.emit_names(
                Kind::ToolProgram,
                "makes git run hooks from another folder",
                call.span,
                &[key, value],
            );
        }
    }
    if lower == "protocol.ext.allow" {
        walk.emit_names(Kind::ToolProgram, "lets git run commands as addresses", call.span, &[key, value]);
    }
}

fn lost(walk: &mut Walk<'_>, what: &'static str, call: Call<'_>) {
    walk.emit(Kind::Git, what, call.span);
}

fn verb_effects(walk: &mut Walk<'_>, verb: &str, call: Call<'_>) {
    if let Some(alias) = walk.scope.aliases.get(&format!("git {verb}")).cloned() {
        let mut text = alias.to_string();
        for arg in call.args {
            text.push(' ');
            text.push_str(&arg.text);
        }
        walk.run_text(&text, call.stdin, call.span);
        return;
    }
    let spec = Spec {
        short: "mFCcbBnSo",
        long: &[
            "message",
            "file",
            "author",
            "date",
            "depth",
            "branch",
            "upload-pack",
            "receive-pack",
            "exec",
            "onto",
            "strategy",
            "config",
            "output",
        ],
        stops: false,
    };
    let spec = match verb {
        "clean" => Spec { short: "e", long: &["exclude"], stops: false },
        "push" => Spec { short: "o", long: &["push-option", "repo", "receive-pack", "exec"], stops: false },
        "branch" | "tag" | "stash" | "worktree" | "restore" | "reset" | "checkout" | "switch" | "rm" => {
            Spec {
                short: "mu",
                long: &["message", "source", "set-upstream-to", "pathspec-from-file"],
                stops: false,
            }
        }
        "rebase" => Spec { short: "xsX", long: &["exec", "onto", "strategy"], stops: false },
        "submodule" => Spec { short: "b", long: &["branch"], stops: false },
        _ => spec,
    };
    let parsed = parse(call.args, spec);
    match verb {
        "reset"
            if parsed
                .flags
                .iter()
                .any(|flag| flag.long && flag.name.len() >= 2 && "hard".starts_with(flag.name)) =>
        {
            lost(walk, "throws away uncommitted work (reset --hard)", call)
        }
        "clean" if (parsed.has("f", "force")) && !parsed.has("n", "dry-run") => {
            lost(walk, "deletes files git does not track (clean -f)", call)
        }
        "push" => push(walk, &parsed, call),
        "branch" if parsed.has("D", "") || (parsed.has("d", "delete") && parsed.has("f", "force")) => {
            lost(walk, "deletes a branch that may not be merged (branch -D)", call)
        }
        "branch"
            if parsed.has("M", "") && parsed.rest().count() >= 2
                || parsed.has("f", "force") && parsed.rest().count() >= 1 && !parsed.has("M", "") =>
        {
            lost(walk, "moves a branch by force", call);
        }
        "checkout" | "switch" => checkout(walk, verb, &parsed, call),
        "restore" => {
            if !parsed.has("S", "staged") || parsed.has("W", "worktree") {
                lost(walk, "throws away uncommitted work (restore)", call);
            }
        }
        "stash" if matches!(parsed.text(0), "drop" | "clear") => lost(walk, "throws away stashed work", call),
        "reflog" if matches!(parsed.text(0), "expire" | "delete") => {
            lost(walk, "throws away the record of old commits", call)
        }
        "filter-branch" | "filter-repo" => {
            lost(walk, "rewrites history", call);
            for (text, span) in parsed
                .values("", "tree-filter")
                .chain(parsed.values("", "index-filter"))
                .chain(parsed.values("", "msg-filter"))
            {
                walk.run_text(text, &Flow::none(), span);
            }
        }
        "update-ref" if parsed.has("d", "") || parsed.has("", "stdin") => lost(walk, "deletes a ref", call),
        "gc" if call
            .args
            .iter()
            .any(|arg| arg.text.starts_with("--prune=now") || arg.text.starts_with("--prune=all")) =>
        {
            lost(walk, "deletes unreachable commits at once", call)
        }
        "prune" if !parsed.has("n", "dry-run") => lost(walk, "deletes unreachable commits", call),
        "worktree" if parsed.text(0) == "remove" && parsed.has("f", "force") => {
            lost(walk, "removes a worktree with its changes", call)
        }
        "worktree" if parsed.text(0) == "add" => {
            if let Some(folder) = parsed.operand(1) {
                walk.made(&folder.text);
            }
        }
        "tag" if parsed.has("d", "delete") => lost(walk, "deletes a tag", call),
        "rm" if parsed.has("r", "") && !parsed.has("", "cached") => remove(walk, &parsed, call),
        "rm" if parsed.has("f", "force") && !parsed.has("", "cached") => {
            lost(walk, "deletes files with their changes", call)
        }
        "remote" if matches!(parsed.text(0), "remove" | "rm" | "set-url") => {
            if parsed.text(0) != "set-url" {
                lost(walk, "removes a remote", call);
            }
        }
        "config" => config(walk, call),
        "clone" | "fetch" | "pull" | "ls-remote" => transport(walk, verb, &parsed, call),
        "rebase" | "bisect" => {
            for (text, span) in parsed.values("x", "exec") {
                walk.run_text(text, &Flow::none(), span);
            }
            if verb == "bisect" && parsed.text(0) == "run" {
                let args: Vec<Arg<'_>> = parsed.rest().skip(1).map(Arg::shared).collect();
                walk.run(&args, call.stdin, call.span);
            }
        }
        "submodule" if parsed.text(0) == "foreach" => {
            let words: Vec<&str> = parsed.rest().skip(1).map(|arg| &*arg.text).collect();
            walk.run_text(&words.join(" "), &Flow::none(), call.span);
        }
        "submodule" if parsed.text(0) == "deinit" && parsed.has("f", "force") => {
            lost(walk, "removes a submodule with its changes", call)
        }
        "replace" if parsed.has("f", "force") => lost(walk, "replaces history", call),
        "read-tree" if parsed.has("", "reset") => lost(walk, "throws away uncommitted work", call),
        "checkout-index" if parsed.has("f", "force") => lost(walk, "throws away uncommitted work", call),
        "grep" => {
            for arg in call.args {
                if arg.text.starts_with("--open-files-in-pager=")
                    || arg.text.starts_with("-O") && arg.text.len() > 2
                {
                    walk.emit(Kind::ToolProgram, "makes git run a program", arg.span);
                }
            }
        }
        _ => {}
    }
}

fn remove(walk: &mut Walk<'_>, parsed: &Parsed<'_>, call: Call<'_>) {
    let targets = parsed.rest().map(|arg| walk.target(&arg.text)).collect();
    walk.emit_on(
        Kind::Delete,
        "deletes tracked folders",
        call.span,
        targets,
        How { recursive: true, ..How::default() },
    );
}

fn push(walk: &mut Walk<'_>, parsed: &Parsed<'_>, call: Call<'_>) {
    if parsed.has("n", "dry-run") {
        return;
    }
    let forced = parsed.has("f", "force")
        || parsed.flags.iter().any(|flag| flag.long && flag.name.starts_with("force"));
    if forced || parsed.rest().skip(1).any(|arg| arg.text.starts_with('+')) {
        lost(walk, "overwrites history on the remote (push --force)", call);
    }
    if parsed.has("d", "delete")
        || parsed.rest().skip(1).any(|arg| arg.text.starts_with(':') && arg.text.len() > 1)
    {
        lost(walk, "deletes refs on the remote", call);
    }
    if parsed.has("", "mirror") || parsed.has("", "prune") {
        lost(walk, "makes the remote equal to this copy, deleting what it lacks", call);
    }
    for (program, span) in parsed.values("", "receive-pack").chain(parsed.values("", "exec")) {
        walk.emit_names(Kind::ToolProgram, "makes git run a program", span, &[program]);
        walk.run_text(program, &Flow::none(), span);
    }
}

fn checkout(walk: &mut Walk<'_>, verb: &str, parsed: &Parsed<'_>, call: Call<'_>) {
    if parsed.has("f", "force") || parsed.has("", "discard-changes") {
        lost(walk, "throws away uncommitted work (checkout --force)", call);
        return;
    }
    if verb == "checkout" && !parsed.has("b", "") && !parsed.has("B", "") {
        let dashes = call.args.iter().position(|arg| &*arg.text == "--");
        let paths = dashes.map_or(&[][..], |at| call.args.get(at + 1..).unwrap_or_default());
        if !paths.is_empty() || parsed.rest().any(|arg| matches!(&*arg.text, "." | "./" | "*" | ":/" | ":")) {
            lost(walk, "throws away uncommitted work (checkout of paths)", call);
        }
    }
}

fn config(walk: &mut Walk<'_>, call: Call<'_>) {
    let parsed = parse(call.args, Spec { short: "f", long: &["file", "type", "default"], stops: false });
    let words: Vec<&str> =
        parsed.rest().map(|arg| &*arg.text).filter(|text| !matches!(*text, "set")).collect();
    if let [key, value, ..] = words.as_slice() {
        configured(walk, key, value, call);
    }
}

fn transport(walk: &mut Walk<'_>, verb: &str, parsed: &Parsed<'_>, call: Call<'_>) {
    for (program, span) in parsed.values("u", "upload-pack") {
        walk.emit_names(Kind::ToolProgram, "makes git run a program", span, &[program]);
        walk.run_text(program, &Flow::none(), span);
    }
    for arg in parsed.rest() {
        if let Some(command) = arg.text.strip_prefix("ext::") {
            walk.emit_names(Kind::ToolProgram, "makes git run a command as an address", arg.span, &[command]);
            walk.run_text(command, &Flow::none(), arg.span);
        }
    }
    for (setting, _) in parsed.values("c", "config") {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        configured(walk, key, value, call);
    }
    if verb == "clone" {
        let folder = parsed.operand(1).map_or_else(
            || {
                parsed
                    .text(0)
                    .trim_end_matches('/')
                    .trim_end_matches(".git")
                    .rsplit(['/', ':'])
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            },
            |arg| arg.text.to_string(),
        );
        if !folder.is_empty() {
            walk.made(&folder);
        }
    }
}

/// `gh repo delete` and its kin.
fn forge(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec { short: "RXfFHq", long: &["repo", "method", "field", "header", "jq"], stops: false },
    );
    let verb = parsed.text(1);
    if matches!(verb, "delete" | "archive" | "delete-asset" | "remove")
        || (parsed.text(0) == "api"
            && parsed.value("X", "method").is_some_and(|method| method.eq_ignore_ascii_case("delete")))
    {
        walk.emit_names(Kind::Cloud, "deletes something at the code host", call.span, &[parsed.text(0)]);
    }
    if parsed.text(0) == "auth" && verb == "token" {
        walk.emit(Kind::ReadCredential, "prints an access token", call.span);
        return Flow::unknown(Origin { credential: true, ..Origin::default() });
    }
    if parsed.text(0) == "api" || parsed.text(0) == "gist" {
        return Flow::unknown(Origin { network: true, ..Origin::default() });
    }
    Flow::unknown(Origin::default())
}

fn other(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> =
        call.args.iter().map(|arg| &*arg.text).filter(|text| !text.starts_with('-')).collect();
    let bad = match call.name {
        "hg" => {
            matches!(words.first(), Some(&("strip" | "purge")))
                || (words.first() == Some(&"update")
                    && call.args.iter().any(|arg| matches!(&*arg.text, "-C" | "--clean")))
        }
        "svn" => {
            matches!(words.first(), Some(&"cleanup"))
                && call.args.iter().any(|arg| arg.text.starts_with("--remove"))
                || words.first() == Some(&"revert")
                    && call.args.iter().any(|arg| matches!(&*arg.text, "-R" | "--recursive"))
        }
        _ => matches!(words.as_slice(), ["op", "abandon", ..]),
    };
    if bad {
        walk.emit(Kind::Git, "throws away local work", call.span);
    }
    Flow::unknown(Origin::default())
}

fn rewrite(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    walk.emit(Kind::Git, "rewrites history", call.span);
    Flow::none()
}
