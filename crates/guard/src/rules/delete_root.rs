//! `delete_root`: deleting `/`, in whatever spelling.

use super::{Hold, Rule};
use crate::effect::{Effect, Kind};
use crate::place::Place;

pub(crate) const RULE: Rule = Rule {
    says: "deletes the whole file system",
    keys: &["rm-root", "delete in root path"],
    hold: Hold::Never,
    matches,
    catches: &[
        "rm -rf /",
        "rm -rf /*",
        "sudo rm -rf --no-preserve-root /",
        "find / -delete",
        "cd / && rm -rf *",
        "rm -rf //",
        "rm -rf /etc/..",
        "x=/; rm -rf $x",
        "r''m -rf /",
        "echo cm0gLXJmIC8= | base64 -d | sh",
    ],
    spares: &[
        "echo 'rm -rf /'",
        "rm -rf ./target",
        "git commit -m 'never rm -rf /'",
        "# rm -rf /",
        "grep -r 'rm -rf /' .",
        "find / -name core",
    ],
    ..Rule::new("delete_root")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Delete && effect.touches(&[Place::Root])
}
