//! `rl_start_training`: a training run with what was selected.

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::{Act, ActKind, Effect};
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::rl;
use crate::rl::desk::{CHOICE, chosen};
use crate::rl::grounds::Grounds;
use crate::rl::runs::{RUNS, Runs};
use crate::toolsets::rl as rl_set;

pub(crate) const TOOL: ToolDef = ToolDef::of::<StartTraining>("rl_start_training", &rl_set::TOOLSET)
    .emoji("🧪")
    .gate(rl::gate)
    .requires_env(rl::KEYS)
    .variables(rl::variables)
    .winds_up();

/// What is said of a run that has begun.
const STARTED: &str =
    "its programs are being started; rl_check_status tells how it goes, and its metrics every 30 minutes";

/// Start a training run with the selected environment and its configuration. It costs credit at Tinker and takes
/// hours; it goes on when the session ends. The answer comes at once, with the id of the run: its programs are
/// then started one after the other, which takes about two minutes. Try the environment out first.
#[derive(Deserialize, JsonSchema)]
struct StartTraining {}

impl Tool for StartTraining {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        let detail = "Tinker: a training run with the selected environment, up to 2500 steps over hours, paid from \
                      the account of TINKER_API_KEY; three programs of tinker-atropos run on this machine meanwhile";
        let act = Effect::Act(Act { kind: ActKind::Spend, detail: detail.to_owned() });
        let mut effects = vec![act, Effect::ReadSlot(CHOICE), Effect::WriteSlot(RUNS)];
        if let Some(grounds) = Grounds::declared(services, place) {
            effects.extend(grounds.supervise().map(Effect::Exec));
            effects.extend([
                grounds.reads_checkout(),
                grounds.reads_logs(),
                Effect::Write(grounds.configs()),
            ]);
        }
        effects
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let chosen = chosen(cx)?;
        let grounds = Grounds::of(cx)?;
        grounds.check(cx).await?;
        let permit = cx.may_run(&grounds.supervise()?)?;
        let run = Runs::of(cx)?.start(&chosen, permit).await?;
        let record = &run.record;
        Ok(json!({
            "run_id": record.run_id,
            "status": run.status(),
            "environment": record.environment,
            "config": record.config,
            "wandb_project": record.wandb_project,
            "wandb_run_name": record.wandb_run_name,
            "config_path": record.config_path,
            "logs": record.logs,
            "message": run.error().unwrap_or_else(|| STARTED.to_owned()),
        }))
    }
}
