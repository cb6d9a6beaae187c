//! `rl_stop_training`: ends a run before its time.

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::rl;
use crate::rl::grounds::Grounds;
use crate::rl::runs::{RUNS, Runs};
use crate::toolsets::rl as rl_set;

pub(crate) const TOOL: ToolDef = ToolDef::of::<StopTraining>("rl_stop_training", &rl_set::TOOLSET)
    .emoji("🧪")
    .gate(rl::gate)
    .requires_env(rl::KEYS)
    .variables(rl::variables)
    .winds_up();

/// Stop a training run: the environment, the trainer and the API server end in this order. Use it when the metrics
/// are bad, nothing gets better, or other settings are to be tried. A run that was stopped cannot go on; the
/// weights of its last step stay at Tinker.
#[derive(Deserialize, JsonSchema)]
struct StopTraining {
    /// The run's id
    run_id: String,
}

impl Tool for StopTraining {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        let reads = Grounds::declared(services, place).map(|grounds| grounds.reads_logs());
        reads.into_iter().chain([Effect::WriteSlot(RUNS)]).collect()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let runs = Runs::of(cx)?;
        let run = runs.find(&self.run_id).await?;
        let id = &run.record.run_id;
        if !run.goes_on() {
            let status = run.status();
            let message = format!("run {id} does not run ({status})");
            return Ok(json!({ "message": message, "run_id": id, "status": status }));
        }
        let run = runs.stop(&run).await?;
        let mut answer = run.told();
        crate::api::set(&mut answer, "message", json!(format!("run {id} was stopped")));
        Ok(answer)
    }
}
