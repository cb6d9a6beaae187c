//! `rl_get_results`: what a run has come to.

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::set;
use crate::rl::grounds::Grounds;
use crate::rl::record::Run;
use crate::rl::runs::Runs;
use crate::rl::{self, wandb};
use crate::toolsets::rl as rl_set;

pub(crate) const TOOL: ToolDef = ToolDef::of::<GetResults>("rl_get_results", &rl_set::TOOLSET)
    .emoji("🧪")
    .gate(rl::gate)
    .requires_env(rl::KEYS)
    .variables(rl::variables)
    .untrusted();

/// What a training run has come to: the last value of every metric, a few points of their history, and where the
/// trained weights are.
#[derive(Deserialize, JsonSchema)]
struct GetResults {
    /// The run's id
    run_id: String,
}

impl Tool for GetResults {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        let reads = Grounds::declared(services, place).map(|grounds| grounds.reads_logs());
        reads.into_iter().chain([wandb::SERVICE.connects()]).collect()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let runs = Runs::of(cx)?;
        let run = runs.find(&self.run_id).await?;
        let mut answer = run.told();
        set(&mut answer, "config_path", json!(run.record.config_path));
        set(&mut answer, "weights", weights(&runs, &run).await);
        match wandb::look(cx, &run.names(), wandb::HISTORY).await {
            Ok(Some(seen)) => {
                set(&mut answer, "wandb_url", json!(seen.url));
                set(&mut answer, "final_metrics", json!(seen.summary));
                set(&mut answer, "history", json!(seen.history));
            }
            Ok(None) => set(&mut answer, "final_metrics", json!({})),
            Err(ToolError::Cancelled) => {
                return Err(ToolError::Cancelled);
            }
            Err(why) => set(&mut answer, "wandb_error", json!(why.to_string())),
        }
        Ok(answer)
    }
}

/// Where the weights are, as the trainer has told in its log.
async fn weights(runs: &Runs<'_>, run: &Run) -> Value {
    let Some(log) = run.log("trainer") else { return Value::Null };
    let done = runs.last_after(log, "Final weights are available here:").await;
    let last = runs.last_after(log, "Sampling client updated:").await;
    match (done, last) {
        (None, None) => Value::Null,
        (done, last) => json!({ "final": done, "last_step": last }),
    }
}
