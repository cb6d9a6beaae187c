//! `disk_overwrite`: making a file system on a disk, or writing over one.

use super::{Hold, Rule};
use crate::effect::{Effect, Kind};
use crate::place::Place;

pub(crate) const RULE: Rule = Rule {
    says: "formats or overwrites a disk",
    keys: &[
        "mkfs",
        "dd-copy",
        "block-device-write",
        "format filesystem",
        "disk copy",
        "write to block device",
    ],
    hold: Hold::Never,
    matches,
    catches: &[
        "cryptsetup luksFormat /dev/sdb1",
        "sgdisk -Z /dev/sda",
        "diskutil eraseDisk JHFS+ X disk2",
        "mkfs.ext4 /dev/sda1",
        "dd if=/dev/zero of=/dev/sda",
        "echo x > /dev/sda",
        "cat img > /dev/nvme0n1",
        "shred /dev/sdb",
        "wipefs -a /dev/sda",
        "cp img /dev/sdb",
        "blkdiscard /dev/sda",
        "ffmpeg -i x.mp4 -f rawvideo /dev/sda",
        "qemu-img convert -O raw x.qcow2 /dev/sdb",
        "bmaptool copy x.img /dev/sdb",
        "unheard-of --output /dev/nvme0n1 x",
    ],
    spares: &[
        "dd if=/dev/zero of=./disk.img bs=1M count=10",
        "mkfs.ext4 ./disk.img",
        "lsblk",
        "echo x > /dev/null",
        "fdisk -l",
        "man mkfs",
        "ffmpeg -i /dev/video0 out.mp4",
        "dd if=/dev/sda of=./disk.img",
        "qemu-img convert -O qcow2 /dev/sda disk.qcow2",
        "smartctl -a /dev/sda",
    ],
    ..Rule::new("disk_overwrite")
};

fn matches(effect: &Effect) -> bool {
    (effect.kind == Kind::Device && effect.how.grave)
        || (effect.kind == Kind::Write && effect.touches(&[Place::Device]))
}
