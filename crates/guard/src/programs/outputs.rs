//! Options that name an output file, in the spellings most programs share.
//!
//! A program need not be known for its output to matter: whatever writes to a disk through an
//! option overwrites that disk.

use crate::effect::{How, Kind, Target};
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
fn named<'a>(args: &'a [Arg<'_>], at: usize) -> Option<&'a str> {
    let text = &*args.get(at)?.text;
    let bare = text.trim_start_matches('-');
    if let Some((name, file)) = bare.split_once('=') {
        return writes(name).then_some(file);
    }
    if bare.len() == text.len() {
        return None;
    }
    if writes(bare) {
        return args.get(at + 1).map(|next| &*next.text);
    }
    // `-o/path`
    bare.strip_prefix('o').filter(|file| file.starts_with('/') && text.len() == bare.len() + 1)
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
            let target = walk.target(file);
            if target.place == Place::Device {
                overwrites(walk, arg, target);
            } else if target.place != Place::Credential {
                walk.write_file(file, Flow::unknown(Origin::default()), false, "writes its output", arg.span);
            }
        }
    }
    let benchmarks = call.name == "fio" && call.args.iter().any(|arg| arg.text.contains("write"));
    if !reads_devices(call.name) || benchmarks {
        handed_disks(walk, call);
    }
    if edits {
        for arg in call.args.iter().filter(|arg| arg.text.starts_with(['/', '~'])) {
            let target = walk.target(&arg.text);
            if target.place != Place::Device {
                walk.emit_on(Kind::Write, "edits a file in place", arg.span, vec![target], How::default());
            }
        }
    }
}

/// A known program that is told to write its output to a disk or a file of the system, and whose
/// own reader said nothing.
pub(super) fn of_known(walk: &mut Walk<'_>, call: Call<'_>, before: usize) {
    let told = walk.effects.len() > before;
    let elsewhere = |text: &str| text.contains("/dev/") || text.contains("/etc/") || text.contains("/usr/");
    if told || searches(call.name) || !call.args.iter().any(|arg| elsewhere(&arg.text)) {
        return;
    }
    for (at, arg) in call.args.iter().enumerate() {
        if may_name(&arg.text)
            && let Some(file) = named(call.args, at).filter(|file| elsewhere(file))
        {
            let target = walk.target(file);
            match target.place {
                Place::Device => return overwrites(walk, arg, target),
                Place::SystemConfig | Place::System => {
                    let how = How::default();
                    return walk.emit_on(Kind::Write, "writes its output", arg.span, vec![target], how);
                }
                _ => {}
            }
        }
    }
}

fn overwrites(walk: &mut Walk<'_>, arg: &Arg<'_>, target: Target) {
    let how = How { grave: true, ..How::default() };
    walk.emit_on(Kind::Device, "overwrites a device", arg.span, vec![target], how);
}

fn handed_disks(walk: &mut Walk<'_>, call: Call<'_>) {
    let devices: Vec<Target> = call
        .args
        .iter()
        .filter(|arg| arg.text.len() > 5)
        .map(|arg| arg.text.split_once('=').map_or(&*arg.text, |(_, value)| value))
        .filter(|path| path.starts_with("/dev/"))
        .map(|path| walk.target(path))
        .filter(|target| target.place == Place::Device)
        .collect();
    if !devices.is_empty() {
        walk.emit_on(
            Kind::Device,
            "hands a disk to a program nobody knows",
            call.span,
            devices,
            How::default(),
        );
    }
}

/// Programs whose `-o` is no output: the word after it is a pattern, a list or an option.
fn searches(name: &str) -> bool {
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

/// Programs that only look at disks.
fn reads_devices(name: &str) -> bool {
    matches!(
        name,
        "smartctl"
            | "blkid"
            | "findmnt"
            | "udevadm"
            | "lshw"
            | "iostat"
            | "iotop"
            | "blockdev"
            | "dumpe2fs"
            | "xfs_info"
            | "photorec"
            | "testdisk"
            | "sginfo"
            | "sg_inq"
            | "lsscsi"
            | "hwinfo"
            | "inxi"
            | "fatlabel"
            | "e2label"
            | "minicom"
            | "picocom"
            | "cu"
            | "esptool"
            | "esptool.py"
            | "avrdude"
            | "arduino-cli"
            | "stty"
            | "setserial"
            | "v4l2-ctl"
            | "fio"
            | "ioping"
            | "cdrdao"
            | "eject"
            | "isoinfo"
            | "xfs_db"
            | "lsdvd"
            | "vlc"
            | "mpv"
            | "pvdisplay"
            | "lvdisplay"
            | "vgdisplay"
            | "pvs"
            | "lvs"
            | "vgs"
            | "pvscan"
            | "lvscan"
            | "dmstats"
            | "grub-probe"
            | "linux-boot-prober"
            | "os-prober"
            | "fls"
            | "icat"
            | "mmls"
            | "fsstat"
            | "handbrakecli"
            | "HandBrakeCLI"
            | "readcd"
            | "cdparanoia"
            | "hd-idle"
            | "ledctl"
            | "ntfsinfo"
            | "exfatlabel"
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
    }
}
