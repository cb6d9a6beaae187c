//! A program nobody knows, told in plain words to remove, stop or restart something.
//!
//! `delete` and `destroy` mean loss wherever they stand (see `verbs`); `remove`, `stop` or
//! `reset` do so too, except with the tools people work with all day, where they edit a list of
//! the project's own or end a helper of the tool.

use super::verbs;
use crate::effect::Kind;
use crate::walk::{Arg, HOLE};

const TAKES_DOWN: &str = "tells a program to remove, stop or restart something";
const POWER: &str = "switches a machine off or restarts it";

/// Verbs that take something away or down when they are the first word, or the second after a noun.
const VERBS: [&str; 18] = [
    "remove",
    "rm",
    "rmi",
    "del",
    "uninstall",
    "stop",
    "stopall",
    "restart",
    "kill",
    "reset",
    "undeploy",
    "undefine",
    "unregister",
    "rollback",
    "disable",
    "unpublish",
    "removeall",
    "remove-all",
];

/// Verbs that end what a machine does.
const POWERS: [&str; 7] = ["reboot", "poweroff", "power-off", "shutdown", "halt", "hibernate", "suspend"];

/// Options that are such verbs themselves.
const OPTIONS: [&str; 16] = [
    "--remove",
    "--stop",
    "--reboot",
    "--poweroff",
    "--halt",
    "--shutdown",
    "--suspend",
    "--hibernate",
    "--remove-all",
    "--kill-all",
    "--stop-all",
    "--uninstall-all",
    "--reset-all",
    "--remove-data",
    "--purge-data",
    "-deleteduplicates",
];

/// Heads of joined verbs: `rm-service`, `reset-admin-password`.
const HEADS: [&str; 9] =
    ["remove", "rm", "del", "stop", "kill", "reset", "uninstall", "restart", "decommission"];

/// What a verb that is glued to it can take away: `delnode`, `delsnapshot`.
const THINGS: [&str; 22] = [
    "node", "user", "group", "snapshot", "vol", "volume", "host", "db", "database", "pool", "vm", "disk",
    "rule", "route", "key", "peer", "cert", "member", "all", "data", "account", "image",
];

/// Tools of everyday work: removing is editing a list of the project, stopping ends a helper.
const TAME: [&str; 122] = [
    "where",
    "xzgrep",
    "zstdgrep",
    "lzgrep",
    "poetry",
    "uv",
    "pdm",
    "hatch",
    "pipenv",
    "pixi",
    "rye",
    "conda",
    "mamba",
    "micromamba",
    "pip-tools",
    "bun",
    "deno",
    "bower",
    "jspm",
    "ember",
    "expo",
    "eas",
    "ionic",
    "cordova",
    "capacitor",
    "meteor",
    "rush",
    "apm",
    "wapm",
    "volta",
    "dart",
    "pod",
    "carthage",
    "swift",
    "opam",
    "spago",
    "elm",
    "cabal",
    "stack",
    "nimble",
    "shards",
    "vcpkg",
    "conan",
    "haxelib",
    "rebar3",
    "gleam",
    "dune",
    "lake",
    "raco",
    "buck",
    "buck2",
    "pants",
    "adb",
    "direnv",
    "devbox",
    "flox",
    "devenv",
    "zellij",
    "screen",
    "wezterm",
    "kitty",
    "shpool",
    "zoxide",
    "autojump",
    "j",
    "tmuxinator",
    "pueue",
    "watchman",
    "dmypy",
    "ccache",
    "sccache",
    "mpc",
    "mocp",
    "cmus-remote",
    "audacious",
    "clementine",
    "playerctl",
    "timew",
    "watson",
    "toggl",
    "dnote",
    "nb",
    "buku",
    "calcurse",
    "notmuch",
    "pre-commit",
    "prek",
    "husky",
    "lefthook",
    "gitmoji",
    "quilt",
    "stg",
    "bob",
    "n",
    "chruby",
    "rvm",
    "jenv",
    "goenv",
    "tfenv",
    "kubectx",
    "kubens",
    "skills",
    "omf",
    "fisher",
    "zinit",
    "antidote",
    "omz",
    "ollama",
    "mise",
    "dockutil",
    "tag",
    "fileicon",
    "yabai",
    "gnome-extensions",
    "jupyter",
    "tilt",
    "skaffold",
    "symfony",
    "hugo",
    "polybar-msg",
    "hyprctl",
    "module",
];

/// Whether such words of a program are part of everyday work.
pub(super) fn tame(name: &str) -> bool {
    // `Get-Help Remove-Item`: what a verb and a noun make is known by the noun.
    let cmdlet = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.contains('-');
    cmdlet || TAME.contains(&name) || verbs::names_tasks(name)
}

/// What the words tell a program to take down that is not [`tame`].
pub(super) fn of(args: &[Arg<'_>]) -> Option<(Kind, &'static str)> {
    for arg in args.iter().filter(|arg| arg.text.starts_with('-')) {
        let text = &*arg.text;
        if OPTIONS.contains(&text) || text.strip_prefix("--delete-").is_some_and(is_thing) {
            let power = text.strip_prefix("--").is_some_and(|word| POWERS.contains(&word));
            return Some(if power { (Kind::Power, POWER) } else { (Kind::Cloud, TAKES_DOWN) });
        }
    }
    let mut plain = args.iter().map(|arg| &*arg.text).filter(|word| !word.starts_with('-'));
    let first = plain.next()?;
    if verbs::only_names(first) {
        return None;
    }
    let noun = first.len() > 1 && first.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let second = plain.next().filter(|_| noun && !verbs::lists(first));
    let words = [Some(first), second];
    let mut words = words.into_iter().flatten();
    words.find_map(judged)
}

/// What one word says.
fn judged(word: &str) -> Option<(Kind, &'static str)> {
    if word.len() > 32 || word.contains(['/', '.', '=', ' ', HOLE]) {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    if POWERS.contains(&lower.as_str()) {
        return Some((Kind::Power, POWER));
    }
    let joined = lower
        .split_once(['-', '_', ':'])
        .is_some_and(|(head, tail)| HEADS.contains(&head) && !tail.is_empty());
    let glued = lower.strip_prefix("del").is_some_and(is_thing);
    (VERBS.contains(&lower.as_str()) || joined || glued).then_some((Kind::Cloud, TAKES_DOWN))
}

fn is_thing(word: &str) -> bool {
    THINGS.iter().any(|thing| {
        word.strip_prefix(thing).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', 's']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Span;

    fn found(line: &str) -> Option<Kind> {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let args: Vec<Arg<'_>> = words.map(|word| Arg { text: word.into(), span: Span::default() }).collect();
        of(&args).filter(|_| !tame(name)).map(|(kind, _)| kind)
    }

    #[test]
    fn verbs_are_seen_first_after_a_noun_joined_and_as_options() {
        for line in [
            "tool remove x",
            "tool fido reset",
            "tool rm-service web",
            "tool delnode n1",
            "tool --delete-vm x",
            "tool --remove x",
        ] {
            assert_eq!(found(line), Some(Kind::Cloud), "{line}");
        }
        assert_eq!(found("i3exit reboot"), Some(Kind::Power));
        assert_eq!(found("leave --halt"), Some(Kind::Power));
    }

    #[test]
    fn lists_of_the_project_names_and_tools_of_every_day_are_left_alone() {
        for line in [
            "poetry remove x",
            "tool repo remove x",
            "tool add stop",
            "tool run restart",
            "tool src/remove",
            "jest reset",
            "tool delta",
            "tool --delete-trailing",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
