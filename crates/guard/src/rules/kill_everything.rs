//! `kill_everything`: `kill -1`, `killall5` and the like.

use super::{Hold, Rule};
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "signals every process",
    keys: &["kill-all", "kill all processes"],
    hold: Hold::Never,
    matches,
    catches: &[
        "kill -9 -1",
        "kill -- -1",
        "kill -KILL -1",
        "kill -s KILL -1",
        "killall5 -9",
        "python3 -c 'import os; os.kill(-1, 9)'",
    ],
    spares: &["kill -1 1234", "kill -HUP 1234", "kill 1234", "kill -0 1234"],
    ..Rule::new("kill_everything")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Kill && effect.how.grave
}
