//! Words that most command lines share: verbs that destroy, and options that only show.

use crate::walk::{Arg, HOLE};

/// Verbs that mean loss wherever they stand as a subcommand.
const DESTROY: [&str; 23] = [
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
    "decommission",
];

/// Verbs that mean loss when they are forced, or aimed at everything.
const HEAVY: [&str; 20] = [
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
    "clean",
    "empty",
    "expunge",
];

/// Options that force, or aim at everything.
const FORCED: [&str; 22] = [
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
    "--no-prompts",
    "--assume-yes",
    "--confirm",
    "--skip-confirmation",
    "--non-interactive",
    "--no-input",
    "--quiet",
    "-fy",
];

/// Verbs that stop or take something away when they are the first word.
const LONE: [&str; 6] = ["shutdown", "revoke", "disable", "halt", "expunge", "deactivate"];

/// Words after which `rm` takes a line out of a list of the project's own.
const LISTS: [&str; 12] = [
    "pub", "plugin", "plugins", "repo", "package", "packages", "dep", "deps", "remote", "source", "tap",
    "label",
];

/// Verbs that only look: what follows is a name or a pattern.
const LOOKS: [&str; 17] = [
    "list", "ls", "show", "get", "search", "find", "describe", "explain", "help", "add", "log", "grep",
    "view", "print", "info", "status", "man",
];

/// Programs with words or options of their own that mean loss.
const OWN: [(&str, &[&str]); 31] = [
    ("scancel", &[]),
    ("qdel", &[]),
    ("condor_rm", &[]),
    ("bkill", &[]),
    ("keytool", &["-delete"]),
    ("certutil", &["-A", "-D", "-F"]),
    ("pdbedit", &["-x"]),
    ("caddy", &["stop"]),
    ("postfix", &["stop", "abort"]),
    ("rndc", &["stop", "halt"]),
    ("add-apt-repository", &["-y", "--yes", "-r", "--remove"]),
    ("postsuper", &["-d"]),
    ("exim", &["-Mrm"]),
    ("exim4", &["-Mrm"]),
    ("squid", &["shutdown", "kill"]),
    ("exportfs", &["-ua", "-u"]),
    ("multipath", &["-F", "-f"]),
    ("megacli", &["-CfgClr", "-CfgLdDel"]),
    ("acme.sh", &["--remove", "--revoke"]),
    ("iscsiadm", &["-u", "--logout"]),
    ("lpadmin", &["-x"]),
    ("cancel", &["-a"]),
    ("targetcli", &["clearconfig"]),
    ("bleachbit", &["-c", "--clean"]),
    ("storcli", &["del", "delete"]),
    ("fdupes", &["-d", "-dN", "-rdN", "--delete"]),
    ("jdupes", &["-d", "-dN", "-rdN", "--delete"]),
    ("unbound-control", &["flush_zone", "flush_all", "stop"]),
    ("atrm", &[]),
    ("bootctl", &["remove"]),
    ("gio", &["--empty", "remove"]),
];

/// Options that are verbs of loss themselves.
const OPTIONS: [&str; 20] = [
    "--nuke",
    "-nuke",
    "-delete",
    "--purge-all",
    "-kill",
    "--kill",
    "-rm",
    "-rmr",
    "-expunge",
    "-skipTrash",
    "--delete",
    "--delete-all",
    "--destroy",
    "--wipe",
    "--erase",
    "--zap",
    "--zap-all",
    "--uninstall",
    "--factory-reset",
    "--overwrite-destination=true",
];

/// Verbs after which words are names, patterns or text.
const MAKES: [&str; 26] = [
    "add", "create", "new", "run", "show", "list", "get", "search", "find", "describe", "test", "build",
    "log", "explain", "help", "exec", "grep", "the", "print", "say", "generate", "g", "tag", "make", "edit",
    "view",
];

/// Tools that take test names, task names or file names as plain words.
const NAMERS: [&str; 78] = [
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
    "bats",
    "robot",
    "pabot",
    "behave",
    "cucumber",
    "cucumber-js",
    "ginkgo",
    "gotestsum",
    "wtr",
    "web-test-runner",
    "pest",
    "behat",
    "codecept",
    "kahlan",
    "nose2",
    "stestr",
    "green",
    "trial",
    "ward",
    "kyua",
    "busted",
    "prove",
    "jasmine",
    "testcafe",
    "nightwatch",
    "wdio",
    "uvu",
    "testem",
    "detox",
    "lit",
    "llvm-lit",
    "minitest",
];

/// Whether the options ask only for help, a version or a rehearsal.
pub(super) fn only_shows(args: &[Arg<'_>]) -> bool {
    args.iter().take_while(|arg| &*arg.text != "--").filter(|arg| arg.text.starts_with('-')).any(|arg| {
        matches!(
            &*arg.text,
            "--help"
                | "-help"
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
        || args.last().is_some_and(|last| &*last.text == "/?" || &*last.text == "-h" && args.len() <= 3)
}

/// Whether the words are about a list of names, remotes or sources, where an address is data.
pub(super) fn names_things(args: &[Arg<'_>]) -> bool {
    args.iter().take(3).any(|arg| {
        matches!(
            &*arg.text,
            "remote"
                | "repo"
                | "source"
                | "submodule"
                | "feed"
                | "bookmark"
                | "link"
                | "webhook"
                | "task"
                | "todo"
                | "item"
        )
    })
}

/// Whether a program takes names of tests, tasks or files as plain words.
pub(super) fn names_tasks(name: &str) -> bool {
    NAMERS.contains(&name)
}

/// Whether a word is the name or the pattern of a test or task to such a program: the value of an option
/// that runs nothing, or a word after `test`.
pub(super) fn is_task_name(name: &str, args: &[Arg<'_>], at: usize) -> bool {
    if !names_tasks(name) {
        return false;
    }
    let before = args.get(..at).unwrap_or_default();
    let option = before.last().map_or("", |arg| &*arg.text);
    let runs = ["command", "cmd", "exec", "wrap", "run", "shell", "tool"];
    option.starts_with('-') && option != "--" && !runs.iter().any(|part| option.contains(part))
        || before.first().is_some_and(|arg| matches!(&*arg.text, "test" | "check" | "spec" | "testOnly"))
            && !before.iter().any(|arg| &*arg.text == "--")
}

/// Whether the words after this one are names, patterns or text.
pub(super) fn only_names(word: &str) -> bool {
    LOOKS.contains(&word) || MAKES.contains(&word)
}

/// Whether `remove` after this word takes a line out of a list of the project's own.
pub(super) fn lists(word: &str) -> bool {
    LISTS.contains(&word)
}

/// Whether a line of a program's own language begins with a verb that means loss.
pub(super) fn begins_with_loss(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| {
        let word = word.to_ascii_lowercase();
        DESTROY.contains(&word.as_str()) || matches!(word.as_str(), "shutdown" | "truncate")
    })
}

/// Whether the first words tell a program of any kind to destroy something.
pub(super) fn destroys(name: &str, args: &[Arg<'_>]) -> bool {
    let mut words = args.iter().map(|arg| &*arg.text);
    if matches!([words.next(), words.next(), words.next()], [Some("ef"), Some("database"), Some("drop")])
        || args
            .windows(2)
            .any(|pair| matches!(pair, [verb, to] if &*verb.text == "update" && &*to.text == "0"))
            && name == "dotnet"
    {
        return true;
    }
    if names_tasks(name) {
        return false;
    }
    let own = OWN.iter().find(|(known, _)| *known == name).map(|(_, words)| *words);
    if args.iter().any(|arg| {
        arg.text.starts_with('-') && OPTIONS.contains(&&*arg.text)
            || own.is_some_and(|words| words.is_empty() || words.contains(&&*arg.text))
    }) {
        return true;
    }
    let mut plain = args.iter().map(|arg| &*arg.text).filter(|word| !word.starts_with('-'));
    match (plain.next(), plain.next()) {
        (Some(first), _) if LOOKS.contains(&first) => return false,
        (Some(first), _) if LONE.contains(&first) => return true,
        (_, Some("revoke" | "rmr")) => return true,
        (Some(first), Some("rm" | "remove" | "del"))
            if plain.next().is_some()
                && !LISTS.contains(&first)
                && first.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') =>
        {
            return true;
        }
        _ => {}
    }
    let makes =
        args.iter().find(|arg| !arg.text.starts_with('-')).is_some_and(|arg| MAKES.contains(&&*arg.text));
    let forced = args.iter().any(|arg| arg.text.starts_with('-') && FORCED.contains(&&*arg.text));
    // `osd pool delete x`: the third word is a verb when the words before it name things.
    let third = !args.iter().filter(|arg| !arg.text.starts_with('-')).take(2).any(|arg| {
        arg.text.contains(['/', '.', '=', ' ', HOLE]) || MAKES.contains(&&*arg.text) || arg.text.len() < 2
    });
    args.iter().filter(|arg| !arg.text.starts_with('-')).take(3).enumerate().any(|(at, arg)| {
        let word = &*arg.text;
        // A path, a file name, an address or a sentence is not a verb.
        if word.contains(['/', '=', ' ', ',', HOLE]) || word.len() > 32 {
            return false;
        }
        let lower = word.to_ascii_lowercase();
        if let Some((_, tail)) = lower.rsplit_once('.') {
            // `vm.destroy` is a verb, `destroy.rs` is a file.
            return at == 0 && DESTROY.contains(&tail);
        }
        let tail = lower.rsplit(':').next().unwrap_or(&lower);
        let named = lower.contains(':') || at < 2 || third && matches!(tail, "delete" | "destroy" | "purge");
        named && (capital_verb(word) && !makes || DESTROY.contains(&tail) || part_destroys(tail))
            || forced && named && (HEAVY.contains(&tail) || part_is_heavy(tail))
            || lower.contains(':')
                && matches!(tail, "reset" | "fresh" | "truncate" | "rollback" | "uninstall")
    })
}

/// `DeleteInstance`, `terminateAll`: the verb ends where a capital begins.
pub(super) fn capital_verb(word: &str) -> bool {
    ["delete", "destroy", "drop", "terminate", "purge", "wipe"].iter().any(|verb| {
        word.split_at_checked(verb.len()).is_some_and(|(head, tail)| {
            head.eq_ignore_ascii_case(verb) && tail.starts_with(|c: char| c.is_ascii_uppercase())
        })
    })
}

/// `bucket-flush`, `reset-node`: a verb of [`HEAVY`] joined to what it acts on.
fn part_is_heavy(word: &str) -> bool {
    word.contains(['-', '_']) && word.split(['-', '_']).any(|part| part.len() > 2 && HEAVY.contains(&part))
}

/// `delete-stack`, `sql-drop`: a verb joined to what it acts on.
fn part_destroys(word: &str) -> bool {
    let mut parts = word.split(['-', '_']);
    let (first, last) = (parts.next().unwrap_or_default(), parts.next_back().unwrap_or_default());
    let heavy =
        |part: &str| matches!(part, "delete" | "destroy" | "drop" | "terminate" | "purge" | "wipe" | "erase");
    !last.is_empty() && (heavy(first) || heavy(last) || last == "del")
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
    fn a_third_word_is_a_verb_after_names_only() {
        assert!(destroys("tool", &args("osd pool delete p")));
        assert!(destroys("tool", &args("vm.destroy x")));
        assert!(!destroys("tool", &args("add item delete")));
        assert!(!destroys("tool", &args("check destroy.rs")));
    }

    #[test]
    fn a_verb_can_end_at_a_capital() {
        assert!(destroys("tool", &args("ecs DeleteInstance --id x")));
        assert!(destroys("tool", &args("terminateAll")));
        assert!(!destroys("tool", &args("run deleteUserTest")));
        assert!(!destroys("tool", &args("ecs Deletion")));
    }

    #[test]
    fn what_a_test_runner_looks_for_is_a_name() {
        for (name, line, at) in [
            ("ctest", "--test-dir build -R mkfs --output-on-failure", 3),
            ("meson", "test -C build mkfs --verbose", 3),
            ("bats", "-f rm test/", 1),
        ] {
            assert!(is_task_name(name, &args(line), at), "{name} {line}");
        }
        for (name, line, at) in [
            ("ctest", "--build-and-test a b --test-command rm -rf src", 4),
            ("meson", "devenv rm -rf src", 1),
            ("tox", "-e py -- rm -rf src", 3),
            ("tool", "-R mkfs x", 1),
        ] {
            assert!(!is_task_name(name, &args(line), at), "{name} {line}");
        }
    }

    #[test]
    fn a_rehearsal_only_shows() {
        assert!(only_shows(&args("delete x --dry-run")));
        assert!(only_shows(&args("delete x --help")));
        assert!(!only_shows(&args("delete x --dry-run=none")));
        assert!(!only_shows(&args("run -- rm --help")));
    }
}
