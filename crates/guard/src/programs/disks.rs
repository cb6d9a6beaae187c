//! Disks among the words of a program: which of them it writes, and which it only reads.
//!
//! Most programs name their output with an option, which [`super::outputs`] knows. The others
//! write a bare word, and where that stands is told here. A disk in a place nobody knows is
//! asked about; a disk that is written is overwritten.

use super::outputs;
use crate::effect::{How, Kind, Target};
use crate::place::Place;
use crate::walk::{Arg, Call, Walk};

/// Where among its words a program has what it writes.
#[derive(Debug, Clone, Copy)]
enum At {
    /// The last one, after what is copied.
    Last,
    /// Any that is not announced as an input.
    Any,
    /// Any, after what is copied.
    After,
    /// The first bare one after so many others.
    First(usize),
    /// The value of one of these options.
    Option(&'static [&'static str]),
}

/// Programs, the words that must be among theirs (one of them, if there are any), and where the
/// output stands.
type Row = (&'static [&'static str], &'static [&'static str], At);

const WRITERS: &[Row] = &[
    // Sound and pictures: made from something, or recorded.
    (&["ffmpeg", "avconv", "mencoder"], &[], At::Any),
    (&["rec", "arecord", "parec", "pw-record", "wf-recorder", "scanimage"], &[], At::Any),
    (&["import", "scrot", "maim", "grim", "screencapture", "gnome-screenshot"], &[], At::Any),
    (&["sox", "convert", "magick", "gm", "cwebp", "rsvg-convert", "lame", "flac"], &[], At::Last),
    (&["pdftotext", "pdf2ps", "ps2pdf", "wkhtmltopdf", "img2pdf", "qpdf"], &[], At::Last),
    // Images of disks and memories.
    (&["qemu-img"], &["convert", "dd", "rebase"], At::Last),
    (&["qemu-img"], &["create", "resize", "commit"], At::Any),
    (
        &["nbdcopy", "virt-clone", "virt-resize", "xfs_copy", "dmg2img", "simg2img", "lz4", "uniq"],
        &[],
        At::Last,
    ),
    (&["mksquashfs", "gensquashfs", "objcopy", "genext2fs"], &[], At::Last),
    (&["ddrescue", "dd_rescue", "e2image", "xxd", "ntfscp", "wimapply", "wimlib-imagex"], &[], At::After),
    (&["rpi-imager", "etcher", "etcher-cli", "balena-etcher", "usbimager", "woeusb"], &[], At::Any),
    (&["bmaptool", "balena", "partimage", "ventoy", "Ventoy2Disk.sh"], COPIES, At::Any),
    (&["mkfile", "isohybrid"], &[], At::Any),
    (&["mformat"], &[], At::Option(&["-i"])),
    (&["partclone.restore", "partclone.dd", "ntfsclone"], &[], At::Option(&["-O", "--overwrite"])),
    (&["xorriso"], &[], At::Option(&["-outdev", "-dev"])),
    (&["fio"], &["--rw=write", "--rw=randwrite", "--rw=rw", "--rw=randrw", "--rw=trim"], At::Any),
    (&["fio"], &["--readwrite=write", "--readwrite=randwrite", "write", "randwrite", "randrw"], At::Any),
    // Copies from elsewhere.
    (&["aws", "gsutil", "gcloud", "mc", "s3cmd", "s5cmd", "rclone", "azcopy"], COPIES, At::Last),
    (&["kubectl", "oc", "docker", "podman", "nerdctl", "crictl", "lxc", "incus", "adb"], COPIES, At::Last),
    (&["multipass", "vagrant", "hdfs", "hadoop"], COPIES, At::Last),
    (&["socat"], &[], At::Last),
    // Archives and backups.
    (&["zip", "logsave", "script"], &[], At::First(0)),
    (&["7z", "7za", "7zz", "rar"], &["a", "u"], At::First(1)),
    (&["ar", "jar"], &[], At::First(1)),
    (&["tar", "gtar", "bsdtar"], &["-c", "--create"], At::Option(&["-f", "--file"])),
    (&["cpio"], &[], At::Option(&["-F", "-O", "--file"])),
    (&["dump", "xfsdump", "star"], &[], At::Option(&["-f", "-0f", "-0uf", "-0af"])),
    (&["restic", "borg", "duplicity"], &[], At::Option(&["--target"])),
    (&["mysqldump", "mariadb-dump"], &[], At::Option(&["-r", "--result-file"])),
    (&["pg_dump", "pg_dumpall"], &[], At::Option(&["-f", "--file"])),
    (&["mongodump", "redis-cli"], &[], At::Option(&["--archive", "--rdb"])),
    (&["tcpdump", "tshark", "dumpcap"], &[], At::Option(&["-w"])),
    (&["unsquashfs"], &[], At::Option(&["-d", "-dest"])),
    (&["git"], &["archive", "format-patch", "diff", "log", "show"], At::Option(&["-o", "--output"])),
    (&["git"], &["bundle"], At::Any),
    (&["age"], &[], At::Option(&["-o", "--output"])),
];

/// Verbs that copy their first thing over their last.
const COPIES: &[&str] = &[
    "cp", "copy", "copyto", "mv", "move", "moveto", "sync", "rsync", "get", "-get", "pull", "download",
    "flash", "restore", "mirror", "transfer", "-i", "-I", "install",
];

/// Whether a word announces what is read.
fn announces_input(word: &str) -> bool {
    matches!(
        word,
        "-i" | "-if" | "-in" | "-input" | "--in" | "--input" | "--infile" | "--source" | "--src" | "--from"
    )
}

/// The part of a word that may be a disk: the word itself, or what stands behind `of=`, `-o` or,
/// for programs that write addresses so, `file:`.
fn path_in<'a>(name: &str, word: &'a str) -> &'a str {
    if word.starts_with(['/', '.', '~']) {
        return if name == "socat" { word.split(',').next().unwrap_or(word) } else { word };
    }
    let Some(at) = word.find("/dev/") else { return word };
    let (head, path) = word.split_at(at);
    let addresses = matches!(name, "socat" | "magick" | "convert" | "gm" | "ffmpeg");
    let glued = head.len() == 2 && head.starts_with('-');
    if head.contains(char::is_whitespace) {
        return word;
    }
    if head.ends_with('=') || glued || (addresses && head.ends_with(':')) {
        return path.split(',').next().unwrap_or(path);
    }
    word
}

/// Judges the disks a program is given. Of a program that is known only what it writes counts;
/// its own reader has told the rest.
pub(super) fn handed(walk: &mut Walk<'_>, call: Call<'_>, known: bool) {
    let mut unclear = Vec::new();
    let mut read = Vec::new();
    for (at, arg) in call.args.iter().enumerate() {
        let Some(target) = disk(walk, call.name, &arg.text) else { continue };
        let before = at.checked_sub(1).and_then(|before| call.args.get(before));
        if writes(call, at, known) {
            return overwrites(walk, arg, target);
        }
        if before.is_some_and(|word| announces_input(&word.text)) {
            read.push(target);
        } else {
            unclear.push(target);
        }
    }
    if known || only_reads(call.name) {
        return;
    }
    // A disc in its drive is there to be read.
    read.retain(|target| !target.text.starts_with("/dev/sr"));
    for (targets, what) in [(unclear, "hands a disk to a program nobody knows"), (read, "reads a raw device")]
    {
        if !targets.is_empty() {
            walk.emit_on(Kind::Device, what, call.span, targets, How::default());
        }
    }
}

/// The disk a word names.
fn disk(walk: &Walk<'_>, name: &str, word: &str) -> Option<Target> {
    let path = path_in(name, word);
    if !(path.contains("/dev/") || in_devices(walk) && !path.contains('/')) {
        return None;
    }
    Some(walk.target(path)).filter(|target| target.place == Place::Device)
}

/// Whether names of disks need no folder at this point.
pub(super) fn in_devices(walk: &Walk<'_>) -> bool {
    walk.scope.cwd.starts_with("/dev")
}

/// Whether the program writes what its word at `at` names.
fn writes(call: Call<'_>, at: usize, known: bool) -> bool {
    let args = call.args;
    let text = |at: usize| args.get(at).map_or("", |arg| &*arg.text);
    let before = at.checked_sub(1).map_or("", text);
    if !outputs::searches(call.name)
        && (outputs::named(args, at).is_some()
            || before == "-O"
            || before.starts_with('-')
                && !before.contains('=')
                && outputs::named(args, at.wrapping_sub(1)).is_some())
    {
        return true;
    }
    let here = |row: &&Row| {
        let (names, words, _) = row;
        names.contains(&call.name)
            && (words.is_empty() || args.iter().take(16).any(|arg| words.contains(&&*arg.text)))
    };
    if WRITERS.iter().filter(here).any(|(_, _, place)| stands(*place, args, at)) {
        return true;
    }
    if announces_input(before) {
        return false;
    }
    // What it reads was named by an option, so a bare word at the end is what it writes.
    !known
        && at + 1 == args.len()
        && args
            .iter()
            .zip(args.iter().skip(1))
            .any(|(option, file)| announces_input(&option.text) && !file.text.starts_with('-'))
}

/// Whether the word at `at` stands in that place.
fn stands(place: At, args: &[Arg<'_>], at: usize) -> bool {
    let bare = |arg: &&Arg<'_>| !arg.text.starts_with('-') || &*arg.text == "-";
    let earlier = args.get(..at).unwrap_or_default();
    let copied = || {
        earlier
            .iter()
            .filter(bare)
            .any(|arg| !arg.text.starts_with(['+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']))
    };
    let announced = || earlier.last().is_some_and(|before| announces_input(&before.text));
    match place {
        At::Last => at + 1 == args.len() && copied() && !announced(),
        At::Any => !announced(),
        At::After => copied() && !announced(),
        At::First(count) => earlier.iter().filter(bare).count() == count,
        At::Option(names) => {
            let word = args.get(at).map_or("", |arg| &*arg.text);
            let glued = |name: &&str| word.strip_prefix(*name).is_some_and(|rest| rest.starts_with('='));
            earlier.last().is_some_and(|before| names.contains(&&*before.text)) || names.iter().any(glued)
        }
    }
}

fn overwrites(walk: &mut Walk<'_>, arg: &Arg<'_>, target: Target) {
    let how = How { grave: true, ..How::default() };
    walk.emit_on(Kind::Device, "overwrites a device", arg.span, vec![target], how);
}

/// Takes back what was noted about a disk since `before` when the program only showed a sum of its
/// bytes. Memory is not a disk.
pub(super) fn glanced(walk: &mut Walk<'_>, name: &str, before: usize) {
    if walk.effects.len() == before || !only_sums(name) {
        return;
    }
    let disk = |target: &Target| !["/dev/mem", "/dev/kmem", "/dev/port"].contains(&target.text.as_str());
    let mut at = 0;
    walk.effects.retain(|effect| {
        at += 1;
        at <= before
            || effect.kind != Kind::Device
            || effect.what != "reads a raw device"
            || !effect.targets.iter().all(disk)
    });
}

fn only_sums(name: &str) -> bool {
    name == "cmp" || name.ends_with("sum")
}

/// Programs that only look at disks.
fn only_reads(name: &str) -> bool {
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
            | "ffprobe"
            | "ffplay"
            | "mplayer"
            | "mediainfo"
            | "binwalk"
            | "swaplabel"
            | "multipath"
            | "lsdev"
            | "sg_readcap"
            | "sg_vpd"
            | "diskscan"
            | "diff"
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
    fn a_disk_is_found_behind_the_ways_an_output_is_written() {
        assert_eq!(path_in("x", "of=/dev/sda"), "/dev/sda");
        assert_eq!(path_in("x", "-o/dev/sda"), "/dev/sda");
        assert_eq!(path_in("x", "id=0,dest=/dev/sda1"), "/dev/sda1");
        assert_eq!(path_in("magick", "rgb:/dev/sda"), "/dev/sda");
        assert_eq!(path_in("socat", "/dev/sda,wronly"), "/dev/sda");
        assert_eq!(path_in("scp", "host:/dev/sda"), "host:/dev/sda");
        assert_eq!(path_in("x", "../../dev/sda"), "../../dev/sda");
        assert_eq!(path_in("script", "dd if=/dev/sda"), "dd if=/dev/sda");
    }

    #[test]
    fn an_output_is_known_by_its_place() {
        assert!(stands(At::Last, &args("a /dev/sda"), 1));
        assert!(!stands(At::Last, &args("/dev/sda a"), 0));
        assert!(stands(At::After, &args("-r 3 img /dev/sda map"), 3));
        assert!(!stands(At::After, &args("-r 3 /dev/sda img"), 2));
        assert!(stands(At::First(1), &args("a -t7z /dev/sda x"), 2));
        assert!(stands(At::Option(&["--file"]), &args("--file=/dev/sda"), 0));
        assert!(stands(At::Option(&["-f"]), &args("-f /dev/sda"), 1));
        assert!(!stands(At::Option(&["-f"]), &args("/dev/sda -f"), 0));
    }
}
