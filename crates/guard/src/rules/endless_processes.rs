//! `endless_processes`: a loop without end that puts something in the background each time.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "starts processes in an endless loop",
    keys: &[],
    matches,
    catches: &["while true; do ./worker & done"],
    spares: &["while true; do ./poll; sleep 5; done", "for f in *; do gzip $f & done; wait"],
    ..Rule::new("endless_processes")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::ForkBomb && !effect.how.grave
}
