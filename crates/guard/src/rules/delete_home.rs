//! `delete_home`: deleting somebody's home, or all homes.

use super::{Hold, Rule};
use crate::effect::{Effect, Kind};
use crate::place::Place;

pub(crate) const RULE: Rule = Rule {
    says: "deletes a whole home folder",
    keys: &["rm-home"],
    hold: Hold::Never,
    matches,
    catches: &[
        "rm -rf ~",
        "rm -rf $HOME",
        "rm -rf ~/*",
        "rm -rf /home",
        "rm -rf /root",
        "rm -rf /home/other",
        "cd && rm -rf *",
        "find ~ -delete",
    ],
    spares: &["rm -rf ~/.cache/pip", "ls ~", "du -sh ~/*"],
    ..Rule::new("delete_home")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Delete && effect.touches(&[Place::HomeTop])
}
