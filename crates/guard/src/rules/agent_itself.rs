//! `agent_itself`: the agent's own life and rules, changed from inside.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "stops, restarts, updates or loosens the agent",
    keys: &["self-lifecycle", "self-kill", "hermes gateway stop", "kill hermes/gateway process"],
    matches,
    catches: &[
        "hermes gateway stop",
        "hermes update",
        "pkill hermes",
        "hermes gateway run &",
        "launchctl kickstart -k gui/501/ai.hermes.gateway",
        "HERMES_YOLO_MODE=1 hermes chat",
        "hermes -p work cron create @daily Look",
        "env -u _HERMES_RUN hermes tools call cronjob '{\"action\": \"create\"}'",
        "hermes send --to telegram hi",
        "hermes tools enable terminal",
        "hermes setup OPENAI_API_KEY=x",
        "hermes skills trust",
        "hermes skills pin mine",
        "hermes mcp tools files --accept",
        "hermes plugins disable watcher",
        "hermes plugins trust .hermes/plugins/watcher",
        "hermes plugins trust --revoke .hermes/plugins/watcher",
        "hermes hooks revoke ./watch.sh",
        "hermes tools call todo --accept-hooks",
    ],
    spares: &[
        "hermes tools list",
        "hermes setup --list",
        "hermes --version",
        "hermes chat -q hi",
        "pgrep hermes",
        "hermes skills list",
        "hermes mcp tools files",
        "hermes hooks list",
    ],
    ..Rule::new("agent_itself")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Agent
}
