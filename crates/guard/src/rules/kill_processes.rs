//! `kill_processes`: signals by name, by pattern, to groups, or to processes that were looked up.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "ends processes it did not start",
    keys: &["force-kill", "force kill processes", "self-kill", "kill process via pgrep expansion"],
    matches,
    catches: &[
        "pkill -9 python",
        "killall -9 node",
        "kill $(pgrep nginx)",
        "pidof db | xargs kill -9",
        "pgrep -f worker | parallel kill {}",
        "pgrep node | xargs -n1 sh -c 'kill -9 $0'",
        "killall -KILL java",
        "kill -9 1",
        "pkill -u me",
    ],
    spares: &[
        "sleep 60 & kill $!",
        "kill %1",
        "kill -l",
        "pgrep node",
        "pgrep node | parallel --dry-run kill {}",
        "./server & pid=$!; kill $pid",
    ],
    ..Rule::new("kill_processes")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Kill && !effect.how.grave
}
