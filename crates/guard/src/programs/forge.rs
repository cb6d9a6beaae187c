//! Code hosts and version control other than git.

use super::opts::{Spec, parse};
use super::verbs;
use crate::effect::Kind;
use crate::walk::{Call, Flow, Origin, Walk};

/// `gh repo delete` and its kin.
pub(super) fn forge(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.args.iter().any(|arg| arg.text.contains("/git/refs/"))
        && call.args.iter().any(|arg| arg.text.contains("force=true"))
    {
        walk.emit(Kind::Git, "overwrites history on the remote by request", call.span);
    }
    let parsed = parse(
        call.args,
        Spec { short: "RXfFHq", long: &["repo", "method", "field", "header", "jq"], stops: false },
    );
    let verb = parsed.text(1);
    if verbs::only_shows(call.args) {
        return Flow::none();
    }
    let opened = parsed.text(0) == "repo"
        && verb == "edit"
        && (parsed
            .flags
            .iter()
            .any(|flag| flag.name == "visibility" || flag.name.starts_with("accept-visibility"))
            || parsed.flags.iter().any(|flag| flag.name == "default-branch"));
    let opened =
        opened || matches!((parsed.text(0), verb), ("secret" | "variable", "set") | ("workflow", "disable"));
    let widened = parsed.text(0) == "auth"
        && call.args.iter().any(|arg| arg.text.contains("admin:") || arg.text.contains("delete_repo"))
        || (parsed.text(0), verb) == ("repo", "create")
            && parsed.has("", "public")
            && (parsed.has("", "push") || parsed.has("", "source"))
        || parsed.text(0) == "api"
            && call.args.iter().any(|arg| matches!(&*arg.text, "private=false" | "visibility=public"));
    if opened
        || widened
        || matches!((parsed.text(0), verb), ("pr", "merge") if parsed.has("", "admin"))
        || matches!(
            (parsed.text(0), verb),
            ("ssh-key" | "gpg-key" | "deploy-key", "add") | ("workflow", "run") | ("extension", "install")
        )
        || parsed.text(0) == "delete"
        || parsed.has("", "delete-branch") && verb == "close"
        || (parsed.text(0), verb) == ("repo", "rename")
        || matches!(verb, "delete" | "archive" | "delete-asset" | "remove" | "transfer")
        || (parsed.text(0) == "api"
            && parsed.value("X", "method").is_some_and(|method| method.eq_ignore_ascii_case("delete")))
    {
        walk.emit_names(
            Kind::Cloud,
            "changes or deletes something at the code host",
            call.span,
            &[parsed.text(0)],
        );
    }
    if super::signs::look(walk, call) || parsed.text(0) == "auth" && verb == "token" {
        walk.emit(Kind::ReadCredential, "prints an access token", call.span);
        return Flow::unknown(Origin { credential: true, ..Origin::default() });
    }
    if matches!((parsed.text(0), verb), ("gist" | "snippet", "create")) {
        let mut credential = call.stdin.origin.credential
            || call.stdin.origin.local
            || parsed.has("p", "public") && parsed.rest().count() > 2;
        for file in parsed.rest().skip(2) {
            let origin = walk.read_file(&file.text, file.span).origin;
            credential |= origin.credential || origin.whole;
        }
        if credential {
            walk.emit(Kind::SendOut, "publishes local data", call.span);
        }
    }
    if let Some((file, span)) = parsed.values("F", "body-file").next()
        && matches!(parsed.text(0), "issue" | "pr" | "release")
        && walk.read_file(file, span).origin.credential
    {
        walk.emit(Kind::SendOut, "publishes credentials", call.span);
    }
    if parsed.text(0) == "api" || parsed.text(0) == "gist" {
        return Flow::unknown(Origin { network: true, ..Origin::default() });
    }
    Flow::unknown(Origin::default())
}

pub(super) fn other(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> =
        call.args.iter().map(|arg| &*arg.text).filter(|text| !text.starts_with('-')).collect();
    let bad = match call.name {
        "hg" => {
            words.iter().take(3).any(|word| matches!(*word, "strip" | "purge"))
                || matches!(words.first(), Some(&("strip" | "purge" | "rollback" | "histedit")))
                || matches!(words.first(), Some(&("push" | "branch")))
                    && call.args.iter().any(|arg| matches!(&*arg.text, "-f" | "--force"))
                || words.first() == Some(&"revert")
                    && call.args.iter().any(|arg| matches!(&*arg.text, "-a" | "--all" | "--no-backup"))
                || (words.first() == Some(&"update")
                    && call.args.iter().any(|arg| matches!(&*arg.text, "-C" | "--clean")))
        }
        "svn"
            if matches!(words.first(), Some(&("delete" | "rm" | "remove" | "del")))
                && words.iter().any(|word| word.contains("://")) =>
        {
            true
        }
        "svn" => {
            matches!(words.first(), Some(&"cleanup"))
                && call.args.iter().any(|arg| arg.text.starts_with("--remove"))
                || words.first() == Some(&"revert")
                    && call.args.iter().any(|arg| matches!(&*arg.text, "-R" | "--recursive"))
        }
        "bzr" | "brz" | "fossil" | "pijul" | "darcs" | "cvs" => matches!(
            words.first(),
            Some(
                &("uncommit"
                    | "revert"
                    | "clean-tree"
                    | "clean"
                    | "obliterate"
                    | "unrecord"
                    | "rollback"
                    | "reset"
                    | "purge"
                    | "scrub"
                    | "release"
                    | "remove-branch")
            )
        ),
        "p4" => matches!(words.first(), Some(&("obliterate" | "revert" | "clean" | "delete"))),
        "sl" | "sapling" => {
            matches!(words.first(), Some(&("purge" | "clean" | "hide" | "strip" | "uncommit")))
                || words.first().is_some_and(|verb| matches!(*verb, "goto" | "update"))
                    && call.args.iter().any(|arg| matches!(&*arg.text, "-C" | "--clean"))
        }
        _ => matches!(words.as_slice(), ["op", "abandon" | "restore" | "revert", ..] | ["abandon", ..]),
    };
    if call.name == "jj"
        && call.args.iter().any(|arg| matches!(&*arg.text, "--allow-backwards" | "--deleted"))
    {
        walk.emit(Kind::Git, "overwrites history on the remote", call.span);
    }
    if bad {
        walk.emit(Kind::Git, "throws away local work", call.span);
    }
    if let ["push" | "import", rest @ ..] = words.as_slice()
        && let Some(address) = rest.iter().find(|word| word.contains("://"))
    {
        walk.emit_names(Kind::SendOut, "sends the project to an address", call.span, &[address]);
    }
    Flow::unknown(Origin::default())
}

pub(super) fn rewrite(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    walk.emit(Kind::Git, "rewrites history", call.span);
    Flow::none()
}
