//! Options that name an output file, in the spellings most programs share.
//!
//! A program need not be known for its output to matter: whatever writes to a disk through an
//! option overwrites that disk.

use super::disks;
use crate::effect::{Effect, How, Kind};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, Origin, Walk};

/// Options, without their dashes, whose value is a file or folder that is written.
const WRITES: [&str; 21] = [
    "o",
    "of",
    "out",
    "outfile",
    "outFile",
    "output",
    "output-file",
    "output-document",
    "output-path",
    "output-dir",
    "out-dir",
    "outdir",
    "dest",
    "destination",
    "save",
    "save-to",
    "write-to",
    "log-file",
    "logfile",
    "dump-bin",
    "junit-xml",
];

/// Whether an option, without its dashes, names what is written.
fn writes(name: &str) -> bool {
    WRITES.contains(&name)
}

/// The output file that the option at `at` names.
pub(super) fn named<'a>(args: &'a [Arg<'_>], at: usize) -> Option<&'a str> {
    value(args, at, writes)
}

/// What is named by the option at `at`, if it is one of these.
fn value<'a>(args: &'a [Arg<'_>], at: usize, is: impl Fn(&str) -> bool) -> Option<&'a str> {
    let text = &*args.get(at)?.text;
    let bare = text.trim_start_matches('-');
    if let Some((name, file)) = bare.split_once('=') {
        return is(name).then_some(file);
    }
    if bare.len() == text.len() {
        return None;
    }
    if is(bare) {
        return args.get(at + 1).map(|next| &*next.text);
    }
    // `-o/path`
    let (letter, file) = bare.split_at_checked(1)?;
    (file.starts_with('/') && text.len() == bare.len() + 1 && is(letter)).then_some(file)
}

/// Options, without their dashes, whose value is the folder that a package manager puts things into.
fn folders(name: &str) -> &'static [&'static str] {
    match name {
        "pip" | "pip3" => &["t", "target", "prefix", "root", "d", "dest", "src"],
        "npm" | "pnpm" | "yarn" => &["prefix", "C", "dir", "cwd", "modules-folder", "pack-destination"],
        "gem" => &["i", "install-dir", "n", "bindir"],
        "cargo" => &["root", "target-dir", "artifact-dir"],
        "composer" => &["d", "working-dir"],
        _ => &[],
    }
}

/// Whether a package manager is told to put something somewhere, and not only to run or look at what is there.
fn puts(args: &[Arg<'_>]) -> bool {
    let verb = |arg: &Arg<'_>| {
        matches!(
            &*arg.text,
            "install"
                | "i"
                | "ci"
                | "add"
                | "update"
                | "upgrade"
                | "up"
                | "link"
                | "download"
                | "wheel"
                | "pack"
                | "init"
                | "create"
                | "require"
                | "build"
        )
    };
    args.iter().any(verb)
}

/// A known program that is told to put something among the agent's own files, and whose own reader said nothing of
/// it.
fn among_the_agents(walk: &mut Walk<'_>, call: Call<'_>, before: usize) {
    if searches(call.name) {
        return;
    }
    let folders = if puts(call.args) { folders(call.name) } else { &[] };
    for (at, arg) in call.args.iter().enumerate().filter(|(_, arg)| arg.text.starts_with('-')) {
        let is = |name: &str| writes(name) || folders.contains(&name);
        let Some(target) = value(call.args, at, is).map(|place| walk.target(place)) else { continue };
        let told = walk.effects.get(before..).unwrap_or_default();
        let known = |effect: &Effect| effect.kind == Kind::Write && effect.touches(&[Place::AgentConfig]);
        if target.place == Place::AgentConfig && !told.iter().any(known) {
            return walk.emit_on(Kind::Write, "puts files there", arg.span, vec![target], How::default());
        }
    }
}

/// Whether a word can be an option that names an output.
fn may_name(text: &str) -> bool {
    matches!(text.as_bytes().first(), Some(b'-' | b'o' | b'd'))
}

/// What a program nobody knows writes: its output files, and disks it is handed.
pub(super) fn of_stranger(walk: &mut Walk<'_>, call: Call<'_>) {
    let mut edits = false;
    for (at, arg) in call.args.iter().enumerate() {
        let text = &*arg.text;
        if !may_name(text) {
            continue;
        }
        edits |=
            matches!(text, "-i" | "--in-place" | "--inplace" | "--set" | "--write" | "--del" | "--merge");
        if let Some(file) = named(call.args, at) {
            let place = walk.target(file).place;
            if !matches!(place, Place::Device | Place::Credential) {
                walk.write_file(file, made_from(call), false, "writes its output", arg.span);
            }
        }
    }
    disks::handed(walk, call, false);
    if edits {
        for arg in call.args.iter().filter(|arg| arg.text.starts_with(['/', '~'])) {
            let target = walk.target(&arg.text);
            if target.place != Place::Device {
                walk.emit_on(Kind::Write, "edits a file in place", arg.span, vec![target], How::default());
            }
        }
    }
}

/// What a program nobody knows makes: of files that are here, unless it is told an address or fed.
fn made_from(call: Call<'_>) -> Flow {
    let elsewhere = call.stdin.present() || call.args.iter().any(|arg| arg.text.contains("://"));
    let files = call.args.iter().filter(|arg| !arg.text.starts_with('-')).count() > 1;
    Flow::unknown(Origin { file: files && !elsewhere, settings: files && !elsewhere, ..Origin::default() })
}

/// A known program that is told to write its output to a disk or a file of the system, and whose
/// own reader said nothing.
pub(super) fn of_known(walk: &mut Walk<'_>, call: Call<'_>, before: usize) {
    among_the_agents(walk, call, before);
    let elsewhere = |text: &str| text.contains("/dev/") || text.contains("/etc/") || text.contains("/usr/");
    if !call.args.iter().any(|arg| elsewhere(&arg.text)) && !disks::in_devices(walk) {
        return;
    }
    let told = walk.effects.get(before..).unwrap_or_default();
    let nothing = told.is_empty();
    if !told.iter().any(|effect| effect.touches(&[Place::Device]) && is_final(effect)) {
        disks::handed(walk, call, true);
    }
    if !nothing || searches(call.name) {
        return;
    }
    for (at, arg) in call.args.iter().enumerate() {
        if may_name(&arg.text)
            && let Some(file) = named(call.args, at).filter(|file| elsewhere(file))
        {
            let target = walk.target(file);
            if matches!(target.place, Place::SystemConfig | Place::System) {
                let how = How::default();
                return walk.emit_on(Kind::Write, "writes its output", arg.span, vec![target], how);
            }
        }
    }
}

/// Whether an effect on a disk already says that the disk is overwritten.
const fn is_final(effect: &Effect) -> bool {
    effect.how.grave || matches!(effect.kind, Kind::Write)
}

/// Programs whose `-o` is no output: the word after it is a pattern, a list or an option.
pub(super) fn searches(name: &str) -> bool {
    matches!(
        name,
        "grep"
            | "egrep"
            | "fgrep"
            | "rg"
            | "ag"
            | "ack"
            | "ls"
            | "mount"
            | "ssh"
            | "scp"
            | "ps"
            | "find"
            | "set"
            | "echo"
            | "printf"
            | "test"
            | "["
            | "git"
            | "sgdisk"
            | "fsck"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Span;

    fn args(line: &str) -> Vec<Arg<'_>> {
        line.split(' ').map(|word| Arg { text: word.into(), span: Span::default() }).collect()
    }

    #[test]
    fn an_output_is_found_after_an_option_and_glued_to_it() {
        assert_eq!(named(&args("-out /dev/sda"), 0), Some("/dev/sda"));
        assert_eq!(named(&args("--output=/dev/sda"), 0), Some("/dev/sda"));
        assert_eq!(named(&args("-o/dev/sda"), 0), Some("/dev/sda"));
        assert_eq!(named(&args("of=/dev/sda"), 0), Some("/dev/sda"));
        assert_eq!(named(&args("--dump-bin /etc/passwd"), 0), Some("/etc/passwd"));
        assert_eq!(named(&args("--report /dev/sda"), 0), None);
        assert_eq!(named(&args("--config /etc/x"), 0), None);
        assert_eq!(named(&args("output /dev/sda"), 0), None);
        assert_eq!(named(&args("-o"), 0), None);
        assert_eq!(named(&args("-é/x"), 0), None);
    }
}
