//! Words with which a tool that can do much harm only looks.

use super::harms::said;
use crate::walk::Arg;

/// Programs, and the words with which they change nothing.
const PEEKS: [(&[&str], &[&str]); 16] = [
    (&["visudo"], &["-c", "--check"]),
    (&["modprobe"], &["--show-depends", "-D", "-n", "--dry-run", "-c", "--showconfig"]),
    (&["fdesetup"], &["status", "list", "isactive", "haspersonalrecoverykey", "version"]),
    (&["e2fsck", "fsck", "fsck.ext4", "fsck.ext3", "fsck.vfat", "xfs_repair"], &["-n", "-N"]),
    (&["bless"], &["--info", "--getBoot", "-info"]),
    (&["ntpdate"], &["-q"]),
    (&["rtcwake"], &["--mode show", "-m show", "--mode no", "-m no", "-n", "--dry-run", "--list-modes"]),
    (&["kubeadm"], &["upgrade plan", "token list", "config view", "certs check-expiration"]),
    (&["npm", "pnpm", "yarn", "gem"], &["owner ls", "owner list"]),
    (&["cargo"], &["owner --list", "owner -l"]),
    (&["xfs_admin"], &["-l", "-u", "--list", "-lu"]),
    (&["pacman", "yay", "paru"], &["-Rp", "-Rsp", "-Rh", "--print"]),
    (&["bmaptool"], &["create"]),
    (&["frpc", "frps"], &["verify", "completion"]),
    (&["flashrom"], &["--flash-name", "--flash-size", "-L", "--list-supported"]),
    (&["needrestart"], &["-r l", "-b"]),
];

/// Tools of many verbs, each of which has help of its own.
const HELPS: [&str; 30] = [
    "git",
    "docker",
    "podman",
    "kubectl",
    "helm",
    "rclone",
    "gh",
    "glab",
    "terraform",
    "tofu",
    "gcloud",
    "az",
    "aws",
    "doctl",
    "flyctl",
    "fly",
    "heroku",
    "npm",
    "pnpm",
    "yarn",
    "cargo",
    "pip",
    "brew",
    "systemctl",
    "restic",
    "borg",
    "zfs",
    "zpool",
    "nomad",
    "vault",
];

/// Whether a program is in the list at all.
pub(super) fn knows(name: &str) -> bool {
    PEEKS.iter().any(|(names, _)| names.contains(&name))
}

/// Whether a program is asked for its help or version, and nothing else.
pub(super) fn help(name: &str, args: &[Arg<'_>]) -> bool {
    let asks = match args {
        [only] => matches!(&*only.text, "--help" | "--version"),
        // `tool verb --help`: of tools that read their words themselves.
        [verb, last] => &*last.text == "--help" && HELPS.contains(&name) && !verb.text.starts_with('-'),
        [verb, noun, last] => {
            &*last.text == "--help"
                && HELPS.contains(&name)
                && [verb, noun]
                    .iter()
                    .all(|word| word.text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'))
                && !matches!(&*verb.text, "run" | "exec" | "-c")
        }
        _ => false,
    };
    asks && !matches!(name, "echo" | "printf" | "test" | "[")
}

/// Whether these words make a program only look.
pub(super) fn only(name: &str, args: &[Arg<'_>]) -> bool {
    PEEKS.iter().any(|(names, words)| names.contains(&name) && words.iter().any(|word| said(word, args)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Span;

    fn looks(line: &str) -> bool {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let args: Vec<Arg<'_>> = words.map(|word| Arg { text: word.into(), span: Span::default() }).collect();
        help(name, &args) || only(name, &args)
    }

    #[test]
    fn help_and_checks_change_nothing() {
        for line in
            ["rmmod --help", "visudo -c", "e2fsck -n disk.img", "kubeadm upgrade plan", "npm owner ls x"]
        {
            assert!(looks(line), "{line}");
        }
    }

    #[test]
    fn anything_else_may() {
        for line in
            ["rmmod x --help x", "visudo -f x", "kubeadm upgrade apply", "npm owner add x", "echo --help"]
        {
            assert!(!looks(line), "{line}");
        }
    }
}
