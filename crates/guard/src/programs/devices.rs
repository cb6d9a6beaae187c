//! Disks: formatting, partitioning, overwriting.

use super::opts::{Spec, parse};
use super::{Handler, amount};
use crate::effect::{How, Kind, Target};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, HOLE, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    if name.starts_with("mkfs") || name.starts_with("newfs") {
        return Some(format);
    }
    Some(match name {
        "mke2fs" | "mkdosfs" | "mkntfs" | "mkswap" | "mkexfatfs" | "mkudffs" | "mkreiserfs" => format,
        "wipefs" | "blkdiscard" | "sgdisk" | "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "parted"
        | "hdparm" | "nvme" | "badblocks" | "partprobe" | "dmsetup" | "cryptsetup" | "mdadm" | "lvremove"
        | "vgremove" | "pvremove" | "lvreduce" | "zpool" | "zfs" | "btrfs" | "diskutil" | "tune2fs"
        | "resize2fs" | "debugfs" | "sg_format" | "e2image" | "flashrom" | "flashcp" | "nandwrite"
        | "sg_sanitize" | "sg_write_same" | "sg_unmap" | "fsck" | "e2fsck" | "flash_erase" | "mtd"
        | "asr" | "xfs_repair" | "ddrescue" | "gpart" | "swapoff" => partition,
        "vgreduce" | "pvcreate" | "vgcreate" | "xfs_growfs" | "ntfsclone" | "bmaptool" | "gparted"
        | "partclone.restore" | "sfill" | "ntfsresize" | "lvresize" | "growpart" => disk_tool,
        "lvm" => volumes,
        "mknod" => node,
        "dd" | "dcfldd" | "dc3dd" | "gdd" => dd,
        _ => return None,
    })
}

/// `lvm lvremove …` is `lvremove …`.
fn volumes(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    super::run(walk, call.args, call.stdin, call.span)
}

fn devices(walk: &Walk<'_>, call: Call<'_>) -> Vec<Target> {
    call.args
        .iter()
        .filter(|arg| !arg.text.starts_with('-'))
        .map(|arg| walk.target(&arg.text))
        .filter(|target| target.place == Place::Device)
        .collect()
}

fn format(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.args.iter().any(|arg| matches!(&*arg.text, "-V" | "--version" | "--help" | "-h"))
        && call.args.len() == 1
    {
        return Flow::none();
    }
    let parsed =
        parse(call.args, Spec { short: "tLbFUmOEIiNTJGgCDKMorSsn", long: &["type", "label"], stops: false });
    let named: Vec<Target> =
        call.args.iter().filter(|arg| !arg.text.starts_with('-')).map(|arg| walk.target(&arg.text)).collect();
    let _ = parsed;
    // A disk image in the workspace is a file like any other.
    let image = !named.is_empty()
        && named.iter().all(|target| target.place != Place::Device && !target.text.contains('…'))
        && named.iter().any(|target| {
            (target.text.contains('.') || call.name == "mkswap")
                && matches!(
                    target.place,
                    Place::Workspace | Place::Temp | Place::Made | Place::Rebuilt | Place::Home
                )
        });
    if !image {
        walk.emit_on(
            Kind::Device,
            "makes a new file system",
            call.span,
            named,
            How { grave: true, ..How::default() },
        );
    }
    Flow::none()
}

/// Whether a tool for disks works on an image in the project: a file like any other.
fn on_image(walk: &Walk<'_>, call: Call<'_>) -> bool {
    let image = |arg: &&Arg<'_>| {
        [".img", ".raw", ".iso", ".ext4", ".ext2", ".fat", ".squashfs"]
            .iter()
            .any(|end| arg.text.ends_with(end))
    };
    matches!(
        call.name,
        "debugfs"
            | "tune2fs"
            | "resize2fs"
            | "e2fsck"
            | "fsck"
            | "parted"
            | "fdisk"
            | "sfdisk"
            | "sgdisk"
            | "gdisk"
            | "xfs_repair"
            | "wipefs"
            | "e2image"
            | "cryptsetup"
    ) && call.args.iter().any(|arg| image(&arg))
        && call.args.iter().filter(image).all(|arg| {
            matches!(
                walk.target(&arg.text).place,
                Place::Workspace | Place::Temp | Place::Made | Place::Rebuilt
            )
        })
        && !call.args.iter().any(|arg| arg.text.contains("/dev/") || arg.text.contains(HOLE))
}

fn partition(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    let targets = devices(walk, call);
    if targets.is_empty() && on_image(walk, call) {
        return Flow::none();
    }
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let harmful = match call.name {
        "wipefs" => has(&["-a", "--all", "-o", "--offset", "-af", "-fa"]) && !has(&["-n", "--no-act"]),
        "fdisk" | "sfdisk" | "gdisk" | "cfdisk" => {
            !has(&["-l", "--list", "-d", "--dump", "-s", "-x", "-V"])
                && (call.stdin.present() || !targets.is_empty())
        }
        "parted" if ["mklabel", "rm ", "mkpart"].iter().any(|verb| call.stdin.seen().contains(verb)) => true,
        "parted" => words.iter().any(|word| {
            ["mklabel", "mktable", "rm", "mkpart", "resizepart", "rescue"]
                .iter()
                .any(|verb| word.split_whitespace().any(|part| part == *verb))
        }),
        "sgdisk" => {
            has(&["-Z", "-z", "--zap-all", "--zap", "-o", "--clear"])
                || words.iter().any(|word| {
                    word.starts_with("-d") || word.starts_with("--delete") || word.starts_with("-oZ")
                })
        }
        "hdparm" => words.iter().any(|word| {
            word.contains("security-erase")
                || word.contains("trim-sector")
                || word.contains("write-sector")
                || word.contains("make-bad-sector")
                || *word == "-Y"
        }),
        "nvme" => has(&["format", "sanitize", "write", "write-zeroes", "dsm"]),
        "badblocks" => words.iter().any(|word| word.starts_with('-') && word.contains('w')),
        "partprobe" => false,
        "tune2fs" | "resize2fs" | "xfs_repair" => words.len() > 1 && !has(&["-l", "-n"]),
        "fsck" => has(&["-y", "-a", "-p"]) || words.iter().any(|word| word.starts_with("-y")),
        "swapoff" => !words.is_empty(),
        "dmsetup" => has(&["remove", "remove_all", "wipe_table"]),
        "cryptsetup" => {
            has(&["luksFormat", "erase", "luksErase", "luksKillSlot", "reencrypt", "luksRemoveKey"])
        }
        "mdadm" => has(&["--zero-superblock", "--stop", "-S", "--fail", "--remove", "--create", "-C"]),
        "zpool" => has(&["destroy", "labelclear", "remove", "detach", "create", "replace", "split"]),
        "zfs" => {
            has(&["destroy", "rollback"])
                && !words
                    .iter()
                    .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('n'))
        }
        "btrfs" => {
            has(&["delete", "remove"])
                || has(&["balance"]) && has(&["--force", "-f"])
                || words.windows(2).any(|pair| pair == ["subvolume", "delete"])
        }
        "diskutil" => words.first().is_some_and(|verb| {
            let verb = verb.to_ascii_lowercase();
            verb.starts_with("erase")
                || verb.starts_with("zero")
                || verb.starts_with("secureerase")
                || verb.starts_with("partition")
                || verb.starts_with("reformat")
                || verb.starts_with("randomdisk")
                || verb == "apfs"
        }),
        "debugfs" => has(&["-w"]) || !targets.is_empty(),
        "asr" => has(&["restore", "--erase"]),
        "ddrescue" | "e2image" => {
            targets.len() > 1
                || targets.len() == 1 && words.last().is_some_and(|word| word.starts_with("/dev/"))
        }
        _ => true,
    };
    if harmful {
        let grave = match call.name {
            "wipefs" | "blkdiscard" | "badblocks" | "sg_format" | "sg_sanitize" | "sg_write_same"
            | "sg_unmap" => !targets.is_empty() || call.name.len() < 11,
            "sgdisk" => has(&["-Z", "--zap-all", "-z", "--zap", "-o", "--clear"]),
            "hdparm" => words.iter().any(|word| word.contains("security-erase")),
            "nvme" => has(&["format", "sanitize", "write-zeroes"]),
            "zpool" => has(&["create", "labelclear"]) && !targets.is_empty(),
            "cryptsetup" => has(&["erase", "luksErase", "luksFormat"]) && !targets.is_empty(),
            "diskutil" => words.first().is_some_and(|verb| {
                let verb = verb.to_ascii_lowercase();
                ["erase", "zero", "secureerase", "randomdisk", "reformat"]
                    .iter()
                    .any(|start| verb.starts_with(start))
            }),
            _ => false,
        };
        walk.emit_on(
            Kind::Device,
            "changes what is on a disk",
            call.span,
            targets,
            How { grave, ..How::default() },
        );
    }
    Flow::none()
}

/// Tools that are only ever started to change a disk.
fn disk_tool(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if !call.args.is_empty() && !super::verbs::only_shows(call.args) {
        let targets = devices(walk, call);
        walk.emit_on(Kind::Device, "changes what is on a disk", call.span, targets, How::default());
    }
    Flow::none()
}

/// `mknod name b 8 0` opens a way to a disk past the names that guard it; a pipe is just a pipe.
fn node(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.args.iter().any(|arg| matches!(&*arg.text, "b" | "c" | "u")) {
        walk.emit(Kind::Device, "makes a device file", call.span);
    }
    Flow::none()
}

/// Whether a file of the project is one that somebody made, and no image to be filled.
fn is_document(path: &str) -> bool {
    const KEPT: [&str; 20] = [
        "jpg", "jpeg", "png", "pdf", "csv", "html", "css", "json", "yaml", "yml", "jar", "xlsx", "doc",
        "zip", "xml", "ini", "key", "pem", "txt", "ipynb",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    let trial = ["test", "random", "dummy", "sample", "zero", "tmp", "big", "large", "file"];
    super::files::by_hand(path)
        || ["backup", "prod"].iter().any(|word| name.contains(word))
        || name.rsplit_once('.').is_some_and(|(stem, end)| {
            stem.is_empty() || KEPT.contains(&end) && !trial.iter().any(|word| stem.contains(word))
        })
}

fn dd(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut input = call.stdin.clone();
    let mut output = None;
    for arg in call.args {
        if let Some(path) = arg.text.strip_prefix("if=") {
            input = walk.read_file(path, arg.span);
        } else if let Some(path) =
            ["of=", "wipe=", "hof=", "ofs="].iter().find_map(|key| arg.text.strip_prefix(key))
            && (walk.target(path).place == Place::Device || output.is_none())
        {
            output = Some((path.to_owned(), arg.span));
        }
    }
    let value = |name: &str| call.args.iter().rev().find_map(|arg| arg.text.strip_prefix(name));
    if let Some(count) = value("count=").or_else(|| value("size=")) {
        // What is copied has an end, but that may lie beyond any disk.
        let block = value("bs=").or_else(|| value("obs=")).unwrap_or("512");
        input.origin.endless &= amount::is_huge_product(block, count);
    }
    let Some((path, span)) = output else { return input };
    let target = walk.target(&path);
    let kept = value("conv=").is_some_and(|conv| conv.contains("notrunc"))
        && value("if=").is_some_and(|from| matches!(from, "/dev/urandom" | "/dev/random" | "/dev/zero"))
        && ![".img", ".bin", ".raw", ".iso", ".qcow2", ".vmdk"].iter().any(|end| path.ends_with(end));
    if (kept || input.text.as_deref() == Some("") || is_document(&path)) && target.place == Place::Workspace {
        super::files::emptied(walk, &[path.as_str()], span);
    }
    if input.origin.endless && matches!(target.place, Place::Elsewhere | Place::Home) {
        walk.emit_on(Kind::Device, "fills the disk without end", span, vec![target.clone()], How::default());
    }
    match target.place {
        Place::Device => walk.emit_on(
            Kind::Device,
            "overwrites a device",
            span,
            vec![target],
            How { grave: true, ..How::default() },
        ),
        Place::Unseen => walk.emit_on(
            Kind::Device,
            "overwrites something that cannot be known",
            span,
            vec![target],
            How::default(),
        ),
        Place::Elsewhere | Place::Home if path.contains(HOLE) => walk.emit_on(
            Kind::Device,
            "overwrites something that cannot be known",
            span,
            vec![target],
            How::default(),
        ),
        Place::Elsewhere | Place::Home => {
            walk.emit_on(
                Kind::Device,
                "copies raw data over a file outside the workspace",
                span,
                vec![target],
                How { recursive: true, ..How::default() },
            );
        }
        _ => walk.write_file(
            &path,
            if input.present() { input } else { Flow::unknown(Origin::default()) },
            false,
            "copies raw data over a file",
            span,
        ),
    }
    Flow::known(String::new())
}
