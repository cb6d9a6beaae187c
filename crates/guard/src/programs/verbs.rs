//! Words that most command lines share: verbs that destroy, and options that only show.

use crate::walk::{Arg, HOLE};

/// Verbs that mean loss wherever they stand as a subcommand.
const DESTROY: [&str; 22] = [
    "destroy",
    "delete",
    "purge",
    "wipe",
    "nuke",
    "terminate",
    "drop",
    "dropdb",
    "erase",
    "obliterate",
    "teardown",
    "deprovision",
    "flushall",
    "flushdb",
    "flush_all",
    "dropall",
    "drop_all",
    "wipeout",
    "destroy-all",
    "delete-all",
    "deleteall",
    "factory-reset",
];

/// Verbs that mean loss when they are forced, or aimed at everything.
const HEAVY: [&str; 17] = [
    "rm",
    "remove",
    "uninstall",
    "del",
    "down",
    "stop",
    "reset",
    "prune",
    "clear",
    "flush",
    "kill",
    "revoke",
    "forget",
    "evict",
    "rollback",
    "format",
    "unpublish",
];

/// Options that force, or aim at everything.
const FORCED: [&str; 14] = [
    "--force",
    "-f",
    "--all",
    "-a",
    "--yes",
    "-y",
    "--recursive",
    "-r",
    "-rf",
    "--purge",
    "--hard",
    "--no-prompt",
    "--auto-approve",
    "-R",
];

/// Tools that take test names, task names or file names as plain words.
const NAMERS: [&str; 46] = [
    "jest",
    "vitest",
    "mocha",
    "pytest",
    "py.test",
    "ava",
    "tap",
    "rspec",
    "phpunit",
    "ctest",
    "nosetests",
    "tox",
    "nox",
    "just",
    "invoke",
    "inv",
    "gradle",
    "gradlew",
    "bazel",
    "bazelisk",
    "turbo",
    "nx",
    "lerna",
    "ng",
    "vite",
    "webpack",
    "tsc",
    "eslint",
    "prettier",
    "ruff",
    "black",
    "mypy",
    "playwright",
    "cypress",
    "karma",
    "code",
    "subl",
    "open",
    "xdg-open",
    "dotnet",
    "sbt",
    "lein",
    "mix",
    "flutter",
    "ninja",
    "meson",
];

/// Whether the options ask only for help, a version or a rehearsal.
pub(super) fn only_shows(args: &[Arg<'_>]) -> bool {
    args.iter().take_while(|arg| &*arg.text != "--").any(|arg| {
        matches!(
            &*arg.text,
            "--help"
                | "--version"
                | "--dry-run"
                | "--dryrun"
                | "--what-if"
                | "--whatif"
                | "-WhatIf"
                | "--simulate"
                | "--no-act"
                | "--noop"
                | "--check-only"
                | "--plan-only"
                | "--preview"
        ) || arg.text.starts_with("--dry-run=")
            && !arg.text.ends_with("=none")
            && !arg.text.ends_with("=false")
    }) || matches!(args, [only] if matches!(&*only.text, "-h" | "help" | "-V" | "version"))
        || args.last().is_some_and(|last| &*last.text == "-h" && args.len() <= 3)
}

/// Whether the first words tell a program of any kind to destroy something.
pub(super) fn destroys(name: &str, args: &[Arg<'_>]) -> bool {
    if NAMERS.contains(&name) {
        return false;
    }
    let forced = args.iter().any(|arg| FORCED.contains(&&*arg.text));
    args.iter().filter(|arg| !arg.text.starts_with('-')).take(3).enumerate().any(|(at, arg)| {
        let word = &*arg.text;
        // A path, a file name, an address or a sentence is not a verb.
        if word.contains(['/', '.', '=', ' ', HOLE]) || word.len() > 32 {
            return false;
        }
        let lower = word.to_ascii_lowercase();
        let tail = lower.rsplit(':').next().unwrap_or(&lower);
        let named = lower.contains(':') || at < 2;
        named && (DESTROY.contains(&tail) || part_destroys(tail))
            || forced && named && HEAVY.contains(&tail)
            || lower.contains(':') && matches!(tail, "reset" | "fresh" | "truncate" | "rollback")
    })
}

/// `delete-stack`, `sql-drop`: a verb joined to what it acts on.
fn part_destroys(word: &str) -> bool {
    let mut parts = word.split(['-', '_']);
    let (first, last) = (parts.next().unwrap_or_default(), parts.next_back().unwrap_or_default());
    let heavy = |part: &str| matches!(part, "delete" | "destroy" | "drop" | "terminate" | "purge" | "wipe");
    !last.is_empty() && (heavy(first) || heavy(last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Span;

    fn args(line: &str) -> Vec<Arg<'_>> {
        line.split(' ').map(|word| Arg { text: word.into(), span: Span::default() }).collect()
    }

    #[test]
    fn a_verb_that_destroys_is_seen_where_verbs_stand() {
        for line in
            ["destroy", "stack delete prod", "sql-drop", "db:reset", "rm --force x", "apps:destroy -a x"]
        {
            assert!(destroys("tool", &args(line)), "{line}");
        }
    }

    #[test]
    fn paths_names_and_later_words_are_not_verbs() {
        for line in
            ["build src/delete", "delete-user.js", "run the thing delete", "remove x", "show a b drop"]
        {
            assert!(!destroys("tool", &args(line)), "{line}");
        }
        assert!(!destroys("jest", &args("delete")));
    }

    #[test]
    fn a_rehearsal_only_shows() {
        assert!(only_shows(&args("delete x --dry-run")));
        assert!(only_shows(&args("delete x --help")));
        assert!(!only_shows(&args("delete x --dry-run=none")));
        assert!(!only_shows(&args("run -- rm --help")));
    }
}
