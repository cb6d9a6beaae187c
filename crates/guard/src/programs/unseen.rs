//! A program whose name cannot be known, or only in part.
//!
//! `$EDITOR notes.txt` and `$(npm bin)/eslint` are everyday; `$x -rf /` is not. The known part of
//! the name, the arguments, and where the unknown part came from decide.

use super::{base_name, code, lookup, named};
use crate::effect::{Kind, Span};
use crate::place::Place;
use crate::walk::{Arg, Flow, HOLE, Walk, glob_matches};

/// Runs a program whose name has holes.
pub(crate) fn run(walk: &mut Walk<'_>, raw: &str, args: &[Arg<'_>], stdin: &Flow, span: Span) -> Flow {
    let rest = args.get(1..).unwrap_or_default();
    let origin = walk.last_unknown;
    if !walk.scope.runnable.is_empty() && walk.scope.runnable.contains(&walk.path(raw)) {
        walk.emit(Kind::MadeRunnable, "makes a file executable and runs it", span);
    }
    let name = base_name(raw);
    if !name.contains(HOLE) && !name.is_empty() {
        // The folder is unknown, the program is not.
        return named(walk, name, rest, stdin, span);
    }
    // An unset variable vanishes: `r${nothing}m` is `rm`.
    let without: String = raw.chars().filter(|c| *c != HOLE).collect();
    let short = base_name(&without);
    if short.len() > 1 && lookup(short).is_some() {
        return named(walk, short, rest, stdin, span);
    }
    if without.is_empty() {
        if origin.network || origin.decoded {
            code::unseen(walk, origin, span);
        } else if !(origin.settings || conventional(walk)) {
            walk.emit(Kind::RunUnseen, "runs a program that cannot be known beforehand", span);
        }
    } else if origin.network || origin.decoded {
        code::unseen(walk, origin, span);
    }
    if suspicious(walk, rest) {
        walk.emit(Kind::RunUnseen, "runs an unknown program on sensitive paths", span);
    }
    Flow::unknown(origin)
}

/// Variables that hold the name of a program by custom.
const KNOWN: [&str; 36] = [
    "EDITOR",
    "VISUAL",
    "PAGER",
    "CC",
    "CXX",
    "LD",
    "AR",
    "AS",
    "NM",
    "STRIP",
    "RANLIB",
    "OBJCOPY",
    "CPP",
    "FC",
    "PYTHON",
    "PYTHON3",
    "NODE",
    "NPM",
    "JAVA",
    "JAVACMD",
    "MAKE",
    "CARGO",
    "RUSTC",
    "BROWSER",
    "GIT",
    "DOCKER",
    "KUBECTL",
    "GO",
    "PIP",
    "RUBY",
    "PERL",
    "TERRAFORM",
    "CMAKE",
    "GRADLE",
    "MVN",
    "YARN",
];

/// Whether the unknown program is called the way `$EDITOR file` or `"$CC" -c x.c` are: by an
/// upper-case variable that the text did not set itself.
fn conventional(walk: &Walk<'_>) -> bool {
    let Some(name) = walk.head.as_deref() else { return false };
    (KNOWN.contains(&name) || name.ends_with("_BIN") || name.ends_with("_EXE")) && !walk.scope.knows(name)
}

/// Arguments that would be terrible for a deleting or overwriting program.
fn suspicious(walk: &Walk<'_>, args: &[Arg<'_>]) -> bool {
    let forced = args.iter().any(|arg| {
        let text = &*arg.text;
        text.starts_with('-')
            && !text.starts_with("--")
            && text.len() <= 4
            && text.contains(['r', 'R'])
            && text.contains('f')
    });
    args.iter().filter(|arg| !arg.text.starts_with('-')).any(|arg| {
        let place = walk.target(&arg.text).place;
        (arg.text.starts_with(['/', '~'])
            && matches!(place, Place::Root | Place::SystemTop | Place::HomeTop | Place::Device))
            || (forced && place != Place::Temp)
    })
}

/// Programs a wildcard is likely to stand for, in order of what it would be worst to miss.
const LIKELY: [&str; 35] = [
    "rm",
    "dd",
    "mkfs",
    "mkfs.ext4",
    "mkfs.xfs",
    "mkfs.btrfs",
    "mke2fs",
    "wipefs",
    "poweroff",
    "halt",
    "shred",
    "bash",
    "sh",
    "dash",
    "zsh",
    "python3",
    "python",
    "perl",
    "ruby",
    "node",
    "curl",
    "wget",
    "nc",
    "chmod",
    "chown",
    "mv",
    "cp",
    "kill",
    "shutdown",
    "reboot",
    "sudo",
    "cat",
    "base64",
    "find",
    "tee",
];

/// A program name with wildcards: `/bin/r?`, `/???/??n/[r]m`.
pub(crate) fn globbed(walk: &mut Walk<'_>, raw: &str, args: &[Arg<'_>], stdin: &Flow, span: Span) -> Flow {
    let name = base_name(raw);
    if raw.starts_with('[') && raw.contains("]::") {
        // A type of another shell, which reads the text besides.
        return Flow::none();
    }
    if raw.chars().filter(|c| *c == '*').count() > 8 || raw.len() > 256 {
        walk.emit(Kind::RunUnseen, "runs a program named by wildcards", span);
        return Flow::none();
    }
    if let Some(found) = LIKELY.iter().find(|known| glob_matches(name, known)) {
        if raw.starts_with('/') && !matches!(*found, "cat" | "find" | "cp" | "mv") {
            walk.emit(Kind::Hidden, "names a program by wildcards", span);
        }
        return named(walk, found, args, stdin, span);
    }
    if raw.contains('/') && !raw.starts_with('/') {
        return Flow::none();
    }
    walk.emit(Kind::RunUnseen, "runs a program named by wildcards", span);
    Flow::none()
}
