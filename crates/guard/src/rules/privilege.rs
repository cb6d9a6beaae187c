//! `privilege`: root shells, privileged containers, disks handed in.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "opens a shell or a container with more rights",
    keys: &["sudo-privilege-flag", "sudo shell"],
    matches,
    catches: &[
        "sudo -nEs <<< 'id > /root/owned'",
        "sudo -s",
        "sudo -i",
        "sudo su",
        "sudo bash",
        "su -",
        "docker run -v /:/host alpine ls",
        "docker run --privileged x sh -c id",
    ],
    spares: &["sudo ls -s", "sudo apt install x", "su -c 'ls' me", "docker run --rm -v $PWD:/app x make"],
    ..Rule::new("privilege")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Privilege
}
