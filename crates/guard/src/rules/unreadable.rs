//! `unreadable`: text nested or grown beyond what can be followed.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "could not be read to the end",
    keys: &[],
    matches,
    catches: &[
        "a=x; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; a=$a$a$a$a$a$a$a$a; $a",
        "$($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($(",
    ],
    spares: &["echo $(echo $(echo hi))"],
    ..Rule::new("unreadable")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Unreadable
}
