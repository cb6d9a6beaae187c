//! `disk_change`: partition tables, volumes, raw reads of a disk, raw copies outside the workspace.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "changes or reads a disk directly",
    keys: &["dd-copy", "disk copy"],
    matches,
    catches: &[
        "unheard-of /dev/sdb",
        "mknod /dev/x b 8 0",
        "dd if=/dev/sda of=./disk.img",
        "fdisk /dev/sda",
        "zpool destroy tank",
        "lvremove vg/data",
        "dd if=x of=/opt/app/data.bin",
    ],
    spares: &["dd if=a.bin of=b.bin", "zpool status", "fdisk -l /dev/sda", "df -h", "sha256sum /dev/sdb"],
    ..Rule::new("disk_change")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Device && !effect.how.grave
}
