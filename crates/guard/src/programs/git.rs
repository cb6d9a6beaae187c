//! git: history, remote refs, uncommitted work, and the options that run programs.

use super::Handler;
use super::forge::{forge, other, rewrite};
use super::git_verbs::verb_effects;
use super::opts::{Parsed, Spec, parse};
use crate::effect::{How, Kind, Span};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    match name {
        "git" | "hub" => Some(git),
        "gh" | "glab" | "tea" => Some(forge),
        "hg" | "svn" | "jj" | "bzr" | "brz" | "fossil" | "p4" | "cvs" | "darcs" | "pijul" | "sl"
        | "sapling" => Some(other),
        "git-filter-repo" | "bfg" => Some(rewrite),
        _ => name.strip_prefix("git-").filter(|verb| DASHED.contains(verb)).map(|_| dashed as Handler),
    }
}

/// Verbs that are programs of their own in git's folder: `git-core/git-reset`.
const DASHED: [&str; 22] = [
    "branch",
    "checkout",
    "clean",
    "config",
    "filter-branch",
    "gc",
    "prune",
    "push",
    "read-tree",
    "rebase",
    "reflog",
    "remote",
    "replace",
    "reset",
    "restore",
    "rm",
    "stash",
    "submodule",
    "switch",
    "tag",
    "update-ref",
    "worktree",
];

/// `git-reset --hard` is `git reset --hard`.
fn dashed(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let verb = call.name.strip_prefix("git-").unwrap_or(call.name);
    verb_effects(walk, verb, Call { name: "git", ..call });
    Flow::unknown(Origin { local: true, ..Origin::default() })
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
                walk.emit(Kind::ToolProgram, "makes git run programs from another folder", flag.span);
            }
            _ => {}
        }
    }
    if !walk.scope.names("GIT_CONFIG_").is_empty() {
        from_variables(walk, call);
    }
    let rest: Vec<Arg<'_>> = global.rest().map(Arg::shared).collect();
    if let Some((verb, args)) = rest.split_first() {
        let inner = Call { name: "git", args, span: call.span, stdin: call.stdin };
        verb_effects(walk, &verb.text, inner);
    }
    walk.scope.cwd = cwd;
    let listed = matches!(
        rest.first().map_or("", |verb| &*verb.text),
        "ls-files" | "ls-tree" | "diff" | "status" | "grep"
    );
    Flow::unknown(Origin { local: true, listed, ..Origin::default() })
}

/// Settings handed over by variables: `GIT_CONFIG_KEY_0`, `GIT_CONFIG_PARAMETERS`.
fn from_variables(walk: &mut Walk<'_>, call: Call<'_>) {
    let home = walk.context.home.clone();
    for number in 0..8 {
        let key =
            walk.scope.value(&format!("GIT_CONFIG_KEY_{number}"), &home).map(std::borrow::Cow::into_owned);
        let value =
            walk.scope.value(&format!("GIT_CONFIG_VALUE_{number}"), &home).map(std::borrow::Cow::into_owned);
        if let (Some(key), Some(value)) = (key, value) {
            configured(walk, &key, &value, call);
        }
    }
    let given = walk.scope.value("GIT_CONFIG_PARAMETERS", &home).map(std::borrow::Cow::into_owned);
    for setting in given.iter().flat_map(|text| text.split('\'')) {
        if let Some((key, value)) = setting.split_once('=').filter(|(key, _)| key.contains('.')) {
            configured(walk, key, value, call);
        }
    }
}

/// Whether a setting makes every push a forced one.
fn forces(key: &str, value: &str) -> bool {
    key.starts_with("remote.")
        && (key.ends_with(".push") && value.trim_start().starts_with('+')
            || key.ends_with(".mirror") && matches!(value, "" | "true" | "1"))
}

/// Whether git runs the value of a setting.
fn holds_program(key: &str) -> bool {
    matches!(
        key,
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
    ) || (key.starts_with("pager.")
        || key.starts_with("filter.")
        || key.starts_with("diff.")
        || key.starts_with("merge.")
        || key.starts_with("difftool.")
        || key.starts_with("mergetool."))
        && (key.ends_with(".cmd")
            || key.ends_with(".clean")
            || key.ends_with(".smudge")
            || key.ends_with(".driver")
            || key.ends_with(".textconv")
            || key.ends_with(".command")
            || key.starts_with("pager."))
}

/// A setting whose value git runs.
fn configured(walk: &mut Walk<'_>, key: &str, value: &str, call: Call<'_>) {
    let lower = key.to_ascii_lowercase();
    if let Some(name) = lower.strip_prefix("alias.") {
        let body = value.strip_prefix('!').map_or_else(|| format!("git {value}"), str::to_owned);
        walk.scope.aliases.insert(format!("git {name}"), body.into());
        return;
    }
    if forces(&lower, value) {
        walk.emit(Kind::Git, "overwrites history on the remote with every push", call.span);
    }
    let runs = holds_program(&lower);
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
    if lower == "clean.requireforce" && matches!(value, "false" | "no" | "off" | "0") {
        walk.scope.aliases.insert("git clean.requireForce".to_owned(), "".into());
    }
    if matches!(&*lower, "core.hookspath" | "include.path" | "init.templatedir" | "core.attributesfile") {
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
    if lower.ends_with(".insteadof") || lower.ends_with(".pushinsteadof") {
        walk.emit_names(Kind::ToolProgram, "sends git to another address", call.span, &[key, value]);
    }
    if lower == "http.sslverify" && value == "false" {
        walk.emit_names(Kind::Security, "lets git trust any server", call.span, &[key, value]);
    }
    if lower == "protocol.ext.allow" {
        walk.emit_names(Kind::ToolProgram, "lets git run commands as addresses", call.span, &[key, value]);
    }
}

pub(super) fn lost(walk: &mut Walk<'_>, what: &'static str, call: Call<'_>) {
    walk.emit(Kind::Git, what, call.span);
}

pub(super) fn config(walk: &mut Walk<'_>, call: Call<'_>) {
    let parsed = parse(call.args, Spec { short: "f", long: &["file", "type", "default"], stops: false });
    let words: Vec<&str> =
        parsed.rest().map(|arg| &*arg.text).filter(|text| !matches!(*text, "set")).collect();
    let remote = words.iter().any(|word| word.starts_with("remote."));
    if parsed.has("", "remove-section")
        || remote && (parsed.has("", "unset") || parsed.has("", "unset-all"))
        || words.first() == Some(&"remove-section")
    {
        lost(walk, "removes settings of a repository", call);
    }
    if let [key, value, ..] = words.as_slice() {
        configured(walk, key, value, call);
        if let Some(command) =
            value.strip_prefix('!').filter(|_| key.to_ascii_lowercase().starts_with("alias."))
        {
            walk.run_text(command, &Flow::none(), call.span);
        }
        if key.eq_ignore_ascii_case("credential.helper") && *value == "store" {
            walk.emit_startup("keeps passwords in a plain file", call.span);
        }
    }
}

/// Notes that a repository's files are put in a folder that is no place for just any files.
pub(super) fn put_there(walk: &mut Walk<'_>, folder: &str, span: Span) {
    let target = walk.target(folder);
    if matches!(
        target.place,
        Place::SystemConfig
            | Place::System
            | Place::SystemTop
            | Place::Startup
            | Place::Credential
            | Place::AgentConfig
    ) {
        walk.emit_on(Kind::Write, "puts a repository there", span, vec![target], How::default());
    }
}

pub(super) fn transport(walk: &mut Walk<'_>, verb: &str, parsed: &Parsed<'_>, call: Call<'_>) {
    let short = call
        .args
        .iter()
        .position(|arg| &*arg.text == "-u")
        .and_then(|at| call.args.get(at + 1))
        .map(|arg| (&*arg.text, arg.span))
        .filter(|_| verb == "clone");
    for (program, span) in parsed.values("", "upload-pack").chain(short) {
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
            put_there(walk, &folder, call.span);
            walk.made(&folder);
            let path = walk.path(&folder);
            walk.scope.cloned.insert(path);
        }
    }
}
