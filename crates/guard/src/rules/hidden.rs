//! `hidden`: look-alike letters, invisible and control characters, wildcards for program names.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "hides what it does from the reader",
    keys: &[],
    matches,
    catches: &["r\u{200b}m -rf x", "ｒｍ -rf x", "echo \u{202e} abc", "/bin/r? x"],
    spares: &["echo héllo", "git commit -m 'naïve café ☕'", "echo 你好"],
    ..Rule::new("hidden")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Hidden
}
