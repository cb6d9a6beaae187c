//! `rl_list_runs`: every run there was.

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::rl;
use crate::rl::grounds::Grounds;
use crate::rl::record::Run;
use crate::rl::runs::Runs;
use crate::toolsets::rl as rl_set;

pub(crate) const TOOL: ToolDef = ToolDef::of::<ListRuns>("rl_list_runs", &rl_set::TOOLSET)
    .emoji("🧪")
    .gate(rl::gate)
    .requires_env(rl::KEYS)
    .variables(rl::variables)
    .read_only();

/// List all training runs, the latest first, with what each trains on and how it stands.
#[derive(Deserialize, JsonSchema)]
struct ListRuns {}

impl Tool for ListRuns {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        Grounds::declared(services, place).iter().map(Grounds::reads_logs).collect()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let runs = Runs::of(cx)?.all().await?;
        let row = |run: &Run| {
            json!({
                "run_id": run.record.run_id,
                "environment": run.record.environment,
                "status": run.status(),
                "wandb_run_name": run.record.wandb_run_name,
                "started_at": run.record.started_at,
            })
        };
        let rows: Vec<Value> = runs.iter().map(row).collect();
        Ok(json!({ "runs": rows, "count": rows.len() }))
    }
}
