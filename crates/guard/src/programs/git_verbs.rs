//! What the verbs of git do to history, remote refs and uncommitted work.

use super::git::{config, lost, transport};
use super::opts::{Parsed, Spec, parse};
use crate::effect::{How, Kind};
use crate::place::Place;
use crate::walk::{Call, Flow, HOLE, Walk};

/// Notes what a verb with these arguments does.
pub(super) fn verb_effects(walk: &mut Walk<'_>, verb: &str, call: Call<'_>) {
    if let Some(alias) = walk.scope.aliases.get(&format!("git {verb}")).cloned() {
        let mut text = alias.to_string();
        for arg in call.args {
            text.push(' ');
            text.push_str(&arg.text);
        }
        walk.run_text(&text, call.stdin, call.span);
        return;
    }
    let parsed = parse(call.args, options(verb));
    match verb {
        "reset"
            if parsed.flags.iter().any(|flag| {
                flag.long
                    && (flag.name.contains(HOLE) || flag.name.len() >= 2 && "hard".starts_with(flag.name))
            }) =>
        {
            lost(walk, "throws away uncommitted work (reset --hard)", call);
        }
        "reset" if parsed.has("", "merge") || parsed.has("", "keep") => {
            lost(walk, "throws away uncommitted work (reset --merge)", call);
        }
        "clean"
            if (parsed.has("f", "force") || walk.scope.aliases.contains_key("git clean.requireForce"))
                && !parsed.has("n", "dry-run") =>
        {
            lost(walk, "deletes files git does not track (clean -f)", call);
        }
        "push" => push(walk, &parsed, call),
        "branch" if parsed.has("D", "") || (parsed.has("d", "delete") && parsed.has("f", "force")) => {
            lost(walk, "deletes a branch that may not be merged (branch -D)", call);
        }
        "branch"
            if parsed.has("M", "") && parsed.rest().count() >= 2
                || parsed.has("f", "force") && parsed.rest().count() >= 1 && !parsed.has("M", "") =>
        {
            lost(walk, "moves a branch by force", call);
        }
        "checkout" | "switch" => checkout(walk, verb, &parsed, call),
        "restore" if (!parsed.has("S", "staged") || parsed.has("W", "worktree")) => {
            lost(walk, "throws away uncommitted work (restore)", call);
        }
        "stash" if matches!(parsed.text(0), "drop" | "clear") => lost(walk, "throws away stashed work", call),
        "reflog" if matches!(parsed.text(0), "expire" | "delete") => {
            lost(walk, "throws away the record of old commits", call);
        }
        "filter-repo" if parsed.has("", "analyze") || parsed.has("", "dry-run") => {}
        "filter-branch" | "filter-repo" => {
            lost(walk, "rewrites history", call);
            for (at, arg) in call.args.iter().enumerate() {
                let (option, glued) =
                    arg.text.split_once('=').map_or((&*arg.text, None), |(o, v)| (o, Some(v)));
                let next = call.args.get(at + 1).map(|next| &*next.text);
                if option.starts_with("--")
                    && (option.ends_with("-filter") || option.ends_with("-callback"))
                    && let Some(text) = glued.or(next)
                {
                    walk.run_text(text, &Flow::none(), arg.span);
                }
            }
        }
        "update-ref"
            if parsed.has("d", "") || parsed.has("", "stdin") || parsed.text(0).starts_with("refs/heads") =>
        {
            lost(walk, "deletes a ref", call);
        }
        "gc" if call
            .args
            .iter()
            .any(|arg| arg.text.starts_with("--prune=now") || arg.text.starts_with("--prune=all")) =>
        {
            lost(walk, "deletes unreachable commits at once", call);
        }
        "lfs" if parsed.text(0) == "prune" && !call.args.iter().any(|arg| &*arg.text == "--dry-run") => {
            lost(walk, "deletes stored copies of large files", call);
        }
        "notes" if matches!(parsed.text(0), "remove" | "prune") => lost(walk, "deletes notes", call),
        "fast-import" if parsed.has("", "force") => lost(walk, "rewrites history", call),
        "rebase" if parsed.has("", "root") => lost(walk, "rewrites the whole history", call),
        "prune" if !parsed.has("n", "dry-run") => lost(walk, "deletes unreachable commits", call),
        "worktree" if parsed.text(0) == "remove" && parsed.has("f", "force") => {
            lost(walk, "removes a worktree with its changes", call);
        }
        "worktree" if parsed.text(0) == "add" => added(walk, &parsed, call),
        "am" | "apply" => applied(walk, &parsed, call),
        "tag" if parsed.has("d", "delete") => lost(walk, "deletes a tag", call),
        "rm" if !parsed.has("", "cached") && !parsed.has("n", "dry-run") => remove(walk, &parsed, call),
        "remote" if matches!(parsed.text(0), "remove" | "rm") => lost(walk, "removes a remote", call),
        "remote" if call.args.iter().any(|arg| &*arg.text == "--mirror=push" || &*arg.text == "--mirror") => {
            lost(walk, "makes the remote equal to this copy with every push", call);
        }
        "remote" if parsed.text(0) == "add" || parsed.text(0) == "set-url" => {
            let name = format!("git remote {}", parsed.text(1));
            walk.scope.aliases.insert(name, parsed.text(2).to_owned().into());
        }
        _ => running_verb(walk, verb, &parsed, call),
    }
}

/// Which options of a verb take a value.
fn options(verb: &str) -> Spec {
    let usual = Spec {
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
    match verb {
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
        _ => usual,
    }
}

/// A worktree, which puts the files of the repository somewhere.
fn added(walk: &mut Walk<'_>, parsed: &Parsed<'_>, call: Call<'_>) {
    if let Some(folder) = parsed.operand(1) {
        super::git::put_there(walk, &folder.text, call.span);
        walk.made(&folder.text);
    }
}

/// A patch, unless it is only looked at.
fn applied(walk: &mut Walk<'_>, parsed: &Parsed<'_>, call: Call<'_>) {
    let looks = ["check", "stat", "numstat", "summary", "cached"];
    if !looks.iter().any(|only| parsed.has("", only)) {
        let folder = parsed.value("", "directory").unwrap_or(".");
        super::files::patched_below(walk, folder, call.span);
    }
}

/// Verbs that run programs, fetch, or are rare.
fn running_verb(walk: &mut Walk<'_>, verb: &str, parsed: &Parsed<'_>, call: Call<'_>) {
    match verb {
        "send-pack"
            if parsed.has("f", "force")
                || parsed.has("", "mirror")
                || parsed.rest().any(|arg| arg.text.starts_with('+')) =>
        {
            lost(walk, "overwrites history on the remote (send-pack --force)", call);
        }
        "config" => config(walk, call),
        "fetch"
            if parsed
                .rest()
                .any(|arg| matches!(&*arg.text, "+refs/*:refs/*" | "+refs/heads/*:refs/heads/*")) =>
        {
            lost(walk, "overwrites every local branch", call);
        }
        "clone" | "fetch" | "pull" | "ls-remote" => transport(walk, verb, parsed, call),
        "rebase" | "bisect" => {
            for (text, span) in parsed.values("x", "exec") {
                walk.run_text(text, &Flow::none(), span);
            }
            if verb == "bisect" && parsed.text(0) == "run" {
                walk.run(call.args.get(1..).unwrap_or_default(), call.stdin, call.span);
            }
        }
        "submodule" if parsed.text(0) == "foreach" => {
            let words: Vec<&str> = call
                .args
                .iter()
                .skip(1)
                .map(|arg| &*arg.text)
                .skip_while(|text| matches!(*text, "--recursive" | "--quiet" | "-q"))
                .collect();
            walk.run_text(&words.join(" "), &Flow::none(), call.span);
        }
        "submodule" if parsed.text(0) == "deinit" && parsed.has("f", "force") => {
            lost(walk, "removes a submodule with its changes", call);
        }
        "difftool" | "mergetool" | "archive" => {
            for (at, arg) in call.args.iter().enumerate() {
                let program = match arg.text.split_once('=') {
                    Some(("--extcmd" | "--exec", program)) => Some(program.to_owned()),
                    _ if matches!(&*arg.text, "-x" | "--extcmd" | "--exec") => {
                        call.args.get(at + 1).map(|arg| arg.text.to_string())
                    }
                    _ => None,
                };
                if let Some(program) = program {
                    walk.emit_names(Kind::ToolProgram, "makes git run a program", arg.span, &[&program]);
                    walk.run_text(&program, &Flow::none(), arg.span);
                }
            }
        }
        "credential" | "credential-store" | "credential-cache"
            if matches!(parsed.text(0), "fill" | "get") =>
        {
            walk.emit(Kind::ReadCredential, "prints stored credentials", call.span);
        }
        "add" | "stage" => {
            for file in parsed.rest().take(64) {
                let place = walk.target(&file.text).place;
                if place == Place::Credential || place == Place::ProjectEnv && parsed.has("f", "force") {
                    walk.emit_names(
                        Kind::SendOut,
                        "puts credentials into the history",
                        call.span,
                        &[&file.text],
                    );
                }
            }
        }
        "show" | "cat-file" => {
            for arg in parsed.rest().take(16) {
                if let Some((_, path)) = arg.text.split_once(':').filter(|(_, path)| !path.is_empty()) {
                    walk.read_file(path, arg.span);
                }
            }
        }
        "delete" => lost(walk, "deletes a repository", call),
        "obliterate" | "clear" | "clear-soft" | "unpublish" | "reset-file" => {
            lost(walk, "throws away work or history", call);
        }
        "symbolic-ref" if parsed.has("d", "delete") => lost(walk, "deletes a ref", call),
        "replace"
            if ["force", "delete", "graft", "edit"].iter().any(|flag| parsed.has("", flag))
                || parsed.has("f", "")
                || parsed.has("d", "") =>
        {
            lost(walk, "replaces history", call);
        }
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
        // A verb that somebody added to git, and that says what it is for.
        _ if super::loss_names::named_for_loss(verb) => lost(walk, "deletes branches, tags or history", call),
        _ => {}
    }
}

fn remove(walk: &mut Walk<'_>, parsed: &Parsed<'_>, call: Call<'_>) {
    if !parsed.has("r", "") {
        if parsed.has("f", "force") {
            lost(walk, "deletes files with their changes", call);
        }
        return;
    }
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
    let named = Some(parsed.text(0)).filter(|name| !name.is_empty()).unwrap_or("origin");
    let added = walk.scope.aliases.get(&format!("git remote {named}")).map(ToString::to_string);
    let whole = added.is_some() && (parsed.has("", "all") || parsed.has("", "tags"));
    let address = added.as_deref().unwrap_or(named);
    let elsewhere = address.contains("://") && !address.starts_with("file://")
        || address.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/'));
    if elsewhere && (added.is_none() || whole || !known_host(address)) {
        walk.emit_names(
            Kind::SendOut,
            "pushes to an address that is no remote of this copy",
            call.span,
            &[address],
        );
    }
    for (program, span) in parsed.values("", "receive-pack").chain(parsed.values("", "exec")) {
        walk.emit_names(Kind::ToolProgram, "makes git run a program", span, &[program]);
        walk.run_text(program, &Flow::none(), span);
    }
}

/// Whether an address is at one of the hosts most projects live at.
fn known_host(address: &str) -> bool {
    ["github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht"]
        .iter()
        .any(|host| address.contains(host))
}

fn checkout(walk: &mut Walk<'_>, verb: &str, parsed: &Parsed<'_>, call: Call<'_>) {
    if parsed.has("f", "force") || parsed.has("", "discard-changes") {
        lost(walk, "throws away uncommitted work (checkout --force)", call);
        return;
    }
    let moved = if verb == "checkout" { parsed.has("B", "") } else { parsed.has("C", "force-create") };
    if moved && parsed.rest().count() > 1 {
        lost(walk, "moves a branch by force", call);
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
