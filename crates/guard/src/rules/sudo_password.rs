//! `sudo_password`: sudo -S and helper programs.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "hands sudo a password without a person",
    keys: &["sudo-privilege-flag", "sudo stdin"],
    matches,
    catches: &["echo pw | sudo -S ls", "sudo -S ls <<< pw", "printf 'x\\n' | sudo --stdin id", "sudo -A ls"],
    spares: &["sudo ls", "sudo apt-get install x", "sudo -u me ls -s", "sudo -n true"],
    ..Rule::new("sudo_password")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::SudoPassword
}
