//! `environment`: preloaded libraries, start files, search paths anybody can write.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "loads code through the environment",
    keys: &[],
    matches,
    catches: &[
        "LD_PRELOAD=./x.so ls",
        "BASH_ENV=/tmp/x bash -c true",
        "export PATH=/tmp:$PATH",
        "PERL5OPT=-Mevil perl x.pl",
    ],
    spares: &["FOO=1 make", "export PATH=$HOME/bin:$PATH", "NODE_ENV=test npm test", "PAGER=cat git log"],
    ..Rule::new("environment")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Environment
}
