//! `rl_check_status`: how a run stands.

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

pub(crate) const TOOL: ToolDef = ToolDef::of::<CheckStatus>("rl_check_status", &rl_set::TOOLSET)
    .emoji("🧪")
    .gate(rl::gate)
    .requires_env(rl::KEYS)
    .variables(rl::variables)
    .untrusted();

/// How a training run stands: whether its programs run, and its metrics (step, reward, loss, share of right
/// answers) from Weights & Biases. Metrics change slowly, so they are told once in 30 minutes for a run that goes
/// on; the answer says when the next are due.
#[derive(Deserialize, JsonSchema)]
struct CheckStatus {
    /// The run's id, as `rl_start_training` told it
    run_id: String,
}

impl Tool for CheckStatus {
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
        if let Some(said) = runs.last_words(&run).await {
            set(&mut answer, "last_output", json!(said));
        }
        if let Some(seconds) = run.must_wait() {
            set(&mut answer, "rate_limited", json!(true));
            set(&mut answer, "message", json!(due(seconds)));
            set(&mut answer, "next_check_in_seconds", json!(seconds));
            return Ok(answer);
        }
        metrics(cx, &runs, &run, &mut answer).await?;
        Ok(answer)
    }
}

fn due(seconds: u64) -> String {
    format!(
        "metrics of this run were told less than 30 minutes ago; the next in {} minutes",
        seconds.div_ceil(60)
    )
}

/// Adds what Weights & Biases knows. That it cannot be asked is told, and is no failure: the rest is known.
async fn metrics(cx: &ToolCx, runs: &Runs<'_>, run: &Run, answer: &mut Value) -> Result<(), ToolError> {
    match wandb::look(cx, &run.names(), 1).await {
        Ok(Some(seen)) => {
            set(answer, "wandb_url", json!(seen.url));
            set(answer, "metrics", seen.brief());
            runs.checked(run).await?;
            if run.trains() {
                set(answer, "next_check_in_seconds", json!(rl::record::PAUSE));
            }
        }
        Ok(None) => set(answer, "metrics", json!("Weights & Biases has none of this run yet")),
        Err(ToolError::Cancelled) => {
            return Err(ToolError::Cancelled);
        }
        Err(why) => set(answer, "wandb_error", json!(why.to_string())),
    }
    Ok(())
}
