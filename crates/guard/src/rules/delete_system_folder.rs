//! `delete_system_folder`: deleting `/etc`, `/usr`, `/var` and their like, or everything in them.

use super::{Hold, Rule};
use crate::effect::{Effect, Kind};
use crate::place::Place;

pub(crate) const RULE: Rule = Rule {
    says: "deletes a folder the system needs",
    keys: &["rm-system"],
    hold: Hold::Never,
    matches,
    catches: &[
        "mv /usr /tmp/x",
        "tar cf x.tar --remove-files /etc",
        "rm -rf /etc",
        "rm -rf /usr/*",
        "sudo rm -r /var",
        "find /boot -delete",
        "rm -rf /e*",
        "mv /etc /dev/null",
    ],
    spares: &["ls /etc", "rm -rf /usr/share/foo", "rm -rf /var/tmp/build-1", "cat /etc/*.conf"],
    ..Rule::new("delete_system_folder")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Delete && effect.touches(&[Place::SystemTop])
}
