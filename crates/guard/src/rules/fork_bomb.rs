//! `fork_bomb`: functions and programs that multiply.

use super::{Hold, Rule};
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "starts copies of itself without end",
    keys: &["fork-bomb", "fork bomb"],
    hold: Hold::Never,
    matches,
    catches: &[
        ":(){ :|:& };:",
        "bomb() { bomb | bomb & }; bomb",
        "f(){ f & f & }; f",
        "perl -e 'fork while 1'",
        "python3 -c 'import os\nwhile True: os.fork()'",
    ],
    spares: &[
        "echo ':(){ :|:& };:'",
        "f() { echo hi; }; f",
        "fib() { fib $1; }",
        "for i in 1 2 3; do ./work $i & done; wait",
    ],
    ..Rule::new("fork_bomb")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::ForkBomb && effect.how.grave
}
