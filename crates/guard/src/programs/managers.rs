//! How the package managers of systems say that something is to be removed.

/// Programs that do nothing but remove.
const REMOVERS: [&str; 7] =
    ["xbps-remove", "removepkg", "pkgrm", "urpme", "pkg_delete", "pkg_deinstall", "urpmi.removemedia"];

/// Managers whose options say it; a word that ends in `*` is a beginning.
const BY_OPTION: [(&[&str], &[&str]); 11] = [
    (&["dpkg"], &["-r", "-P", "--remove", "--purge", "--force-all*"]),
    (
        &["pacman", "yay", "paru", "aura", "aurman", "pacaur", "trizen", "yaourt", "pikaur", "pactrans"],
        &["-R*", "--remove", "-Oj", "-Yc"],
    ),
    (&["emerge"], &["-C", "--unmerge", "-c", "--depclean"]),
    (&["nix-env"], &["-e", "--uninstall", "--rollback", "--delete-generations"]),
    (&["nix-collect-garbage"], &["-d", "--delete-old", "--delete-older-than*"]),
    (&["nix-store"], &["--delete", "--gc"]),
    (&["pkgutil"], &["--forget"]),
    (&["slapt-get", "pacstall", "mhwd", "mhwd-kernel"], &["--remove", "-r", "-R"]),
    (&["guix"], &["-r", "--remove*", "--roll-back", "--delete-generations*"]),
    (&["opkg-cl"], &["remove"]),
    (&["tdnf"], &["erase", "remove"]),
];

/// Managers whose first word says it.
const BY_VERB: [&str; 45] = [
    "yum",
    "dnf",
    "dnf4",
    "dnf5",
    "microdnf",
    "zypper",
    "apk",
    "snap",
    "flatpak",
    "brew",
    "port",
    "pkg",
    "opkg",
    "eopkg",
    "choco",
    "scoop",
    "winget",
    "guix",
    "rpm-ostree",
    "nala",
    "apt-fast",
    "pikman",
    "oma",
    "deb-get",
    "pamac",
    "pkgin",
    "prt-get",
    "slackpkg",
    "sbopkg",
    "lure",
    "upt",
    "synopkg",
    "tlmgr",
    "swupd",
    "pkcon",
    "cave",
    "equo",
    "am",
    "appman",
    "vso",
    "paxs",
    "shelly",
    "apx",
    "urpmi",
    "unopkg",
];

/// Whether a program is one of them.
pub(super) fn known(name: &str) -> bool {
    matches!(name, "apt" | "apt-get" | "aptitude" | "rpm")
        || REMOVERS.contains(&name)
        || BY_VERB.contains(&name)
        || BY_OPTION.iter().any(|(names, _)| names.contains(&name))
}

/// Whether these words remove packages. `verbs` are the words that are no options.
pub(super) fn removes(name: &str, words: &[&str], verbs: &[&str]) -> bool {
    let verb = verbs.first().copied().unwrap_or_default();
    if REMOVERS.contains(&name) {
        return !words.is_empty();
    }
    match name {
        "apt" | "apt-get" | "aptitude" => {
            return verbs.iter().take(3).any(|verb| matches!(*verb, "remove" | "purge" | "autopurge"))
                || verb == "autoremove" && words.contains(&"--purge");
        }
        "snap" if verb == "stop" || verb == "disable" || words.contains(&"--dangerous") => return true,
        "rpm" => {
            return words.iter().any(|word| {
                *word == "--erase"
                    || (word.starts_with('-')
                        && !word.starts_with("--")
                        && word.contains('e')
                        && !word.contains('q'))
            });
        }
        _ => {}
    }
    let said = |wanted: &&str| {
        words.iter().any(|word| {
            wanted.strip_suffix('*').map_or_else(|| word == wanted, |start| word.starts_with(start))
        })
    };
    if BY_OPTION.iter().any(|(names, options)| names.contains(&name) && options.iter().any(said)) {
        return true;
    }
    BY_VERB.contains(&name)
        && matches!(
            verb,
            "remove"
                | "erase"
                | "uninstall"
                | "purge"
                | "del"
                | "delete"
                | "rm"
                | "un"
                | "unregister"
                | "autoremove"
                | "gc"
                | "bundle-remove"
                | "removerepo"
                | "remove-all"
        )
}

#[cfg(test)]
mod tests {
    fn found(line: &str) -> bool {
        let all: Vec<&str> = line.split(' ').collect();
        let (name, words) = all.split_first().unwrap();
        let verbs: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
        super::removes(name, words, &verbs)
    }

    #[test]
    fn removal_is_seen_in_verbs_options_and_names() {
        for line in [
            "dnf remove x",
            "pacman -Rns x",
            "guix package -r x",
            "removepkg x",
            "dpkg -P x",
            "nala purge x",
            "nix-collect-garbage --delete-old",
            "rpm -e x",
        ] {
            assert!(found(line), "{line}");
        }
    }

    #[test]
    fn installing_and_asking_are_not_removal() {
        for line in ["dnf install x", "pacman -Syu", "guix package -i x", "dpkg -l", "nala list", "rpm -qa"] {
            assert!(!found(line), "{line}");
        }
    }
}
