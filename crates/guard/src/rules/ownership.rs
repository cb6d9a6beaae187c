//! `ownership`: recursive changes to root, or owners of system files.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "changes owners broadly",
    keys: &["chown-root-recursive", "recursive chown to root"],
    matches,
    catches: &[
        "chown -R root d",
        "chown -R root:root .",
        "chown --recursive root d",
        "chown me /etc/passwd",
        "chown -R me /usr",
    ],
    spares: &["chown -R me .", "chown me:me file", "sudo chown -R $USER ./data"],
    ..Rule::new("ownership")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Ownership
}
