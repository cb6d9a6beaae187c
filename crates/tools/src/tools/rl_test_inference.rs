//! `rl_test_inference`: whether an environment works, before it is trained on.

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::{Act, ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::rl;
use crate::rl::desk::{CHOICE, chosen};
use crate::rl::grounds::Grounds;
use crate::rl::tryout::{LONGEST, Plan, ask, summary};
use crate::toolsets::rl as rl_set;

pub(crate) const TOOL: ToolDef = ToolDef::of::<TestInference>("rl_test_inference", &rl_set::TOOLSET)
    .emoji("🧪")
    .gate(rl::gate)
    .requires_env(rl::KEYS)
    .variables(rl::variables)
    .timeout(LONGEST)
    .winds_up();

/// Try the selected environment out without training: it asks a few questions of models at `OpenRouter` and scores
/// their answers. Shows whether it loads, asks, reads answers and scores them as it should. Usually 3 questions with
/// 16 answers each of 3 models, 144 answers in all, which cost little; use it before a training.
#[derive(Deserialize, JsonSchema)]
struct TestInference {
    /// How many questions
    #[serde(default = "three")]
    num_steps: u32,
    /// Answers to each question; training uses as many
    #[serde(default = "sixteen")]
    group_size: u32,
    /// Models of `OpenRouter` that are asked; without it three of different sizes
    models: Option<Vec<String>>,
}

fn three() -> u32 {
    3
}

fn sixteen() -> u32 {
    16
}

impl TestInference {
    fn plan(&self) -> Result<Plan, ToolError> {
        Plan::new(self.num_steps, self.group_size, self.models.as_deref()).map_err(ToolError::Arguments)
    }
}

impl Tool for TestInference {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        // What cannot be planned does nothing but say why.
        let Ok(plan) = self.plan() else { return Vec::new() };
        let act = Effect::Act(Act { kind: ActKind::Spend, detail: plan.detail() });
        let mut effects = vec![act, Effect::ReadSlot(CHOICE)];
        if let Some(grounds) = Grounds::declared(services, place) {
            effects.extend(grounds.tryout().map(Effect::Exec));
            effects.extend([grounds.reads_checkout(), grounds.reads_logs()]);
        }
        effects
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let plan = self.plan()?;
        let chosen = chosen(cx)?;
        let grounds = Grounds::of(cx)?;
        grounds.check(cx).await?;
        let mut tested = Vec::new();
        for model in &plan.models {
            cx.progress(&format!("asking {model}"));
            tested.push(ask(cx, &grounds, &chosen, &plan, model).await?);
        }
        Ok(json!({
            "environment": chosen.found.environment.name,
            "environment_file": chosen.found.file,
            "test_config": {
                "num_steps": plan.steps,
                "group_size": plan.answers,
                "rollouts_per_model": plan.steps * plan.answers,
                "total_rollouts": plan.total(),
            },
            "summary": summary(&tested, &grounds.logs),
            "models_tested": tested,
        }))
    }
}
