//! `mixture_of_agents`: several models propose, one makes the answer of what they say.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::{Act, ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::keys::Keys;
use hermes_core::model::Part;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::media::look::{self, MODEL, Question};
use crate::mixture::{Asked, KEY, Mixture, mixture, task};
use crate::toolsets::moa;

pub(crate) const TOOL: ToolDef = ToolDef::of::<MixtureOfAgents>("mixture_of_agents", &moa::TOOLSET)
    .emoji("🧠")
    .gate(|| {
        Gate::check("moa", |probe| async move {
            mixture(&|key| probe.config(key), &|name| probe.env(name)).map(drop)
        })
    })
    .variables(|| vec![KEY])
    .timeout(Duration::from_mins(32))
    .waits();

/// How long one model may think.
const PATIENCE: Duration = Duration::from_mins(15);

/// How often a model is asked that fails.
const TRIES: u32 = 3;

/// Ask several of the best models the same hard question at once and get one answer made of theirs. For
/// problems where a second opinion is worth minutes and several times the price: proofs, hard mathematics,
/// tricky code, analysis with much at stake. The models see nothing but the question: put all they need into it.
#[derive(Deserialize, JsonSchema)]
struct MixtureOfAgents {
    /// The whole question, with everything that must be known for it
    user_prompt: String,
}

fn chosen(keys: &dyn Keys) -> Result<Mixture, String> {
    mixture(&|key| keys.setting(key), &|name| keys.key(name).is_some())
}

impl Tool for MixtureOfAgents {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, _place: &Place, services: &Services) -> Vec<Effect> {
        let keys = services.service::<Arc<dyn Keys>>();
        let Some(Ok(mixture)) = keys.map(|keys| chosen(keys.as_ref())) else { return Vec::new() };
        let names: Vec<String> = mixture.references.iter().map(Asked::name).collect();
        let detail = format!(
            "one question to {} models ({}) and their answers to {}",
            names.len(),
            names.join(", "),
            mixture.aggregator.name()
        );
        vec![Effect::Connect(MODEL.to_owned()), Effect::Act(Act { kind: ActKind::Spend, detail })]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let prompt = self.user_prompt.trim();
        if prompt.is_empty() {
            return Err(ToolError::Arguments("user_prompt is empty".to_owned()));
        }
        let mixture = match chosen(cx.keys()?) {
            Ok(mixture) => mixture,
            Err(why) => return Ok(failed(&why, None, &[])),
        };
        let asked = mixture.references.iter().map(|asked| propose(cx, asked, prompt, mixture.max_tokens));
        let mut proposals = Vec::new();
        let (mut heard, mut silent) = (Vec::new(), Vec::new());
        for (asked, answer) in mixture.references.iter().zip(join_all(asked).await) {
            match answer {
                Ok(text) => {
                    proposals.push(text);
                    heard.push(asked.name());
                }
                Err(ToolError::Cancelled) => return Err(ToolError::Cancelled),
                Err(why) => silent.push(format!("{}: {why}", asked.name())),
            }
        }
        if proposals.is_empty() {
            return Ok(failed("none of the models answered", Some(&mixture), &silent));
        }
        cx.progress(&format!("{} makes one answer of {}", mixture.aggregator.name(), proposals.len()));
        match aggregate(cx, &mixture, prompt, &proposals).await {
            Ok(response) => Ok(answered(&response, &mixture, &heard, &silent)),
            Err(ToolError::Cancelled) => Err(ToolError::Cancelled),
            Err(why) => Ok(failed(&why.to_string(), Some(&mixture), &silent)),
        }
    }
}

/// What one model says; it is asked again when it fails, with a pause between.
async fn propose(cx: &ToolCx, asked: &Asked, prompt: &str, max_tokens: u64) -> Result<String, ToolError> {
    let model =
        look::models(cx)?.named(asked.provider.as_deref(), &asked.model).await.map_err(ToolError::Failed)?;
    let mut last = ToolError::Failed("it was not asked".to_owned());
    for attempt in 0..TRIES {
        if attempt > 0 {
            cx.host().sleep(Duration::from_secs(2_u64.pow(attempt))).await;
        }
        let question = question(String::new(), prompt, max_tokens, asked);
        match look::ask(cx, model.as_ref(), question).await {
            Ok(text) => {
                cx.progress(&format!("{} has answered", asked.name()));
                return Ok(text);
            }
            Err(ToolError::Cancelled) => return Err(ToolError::Cancelled),
            Err(wrong) => last = wrong,
        }
    }
    Err(last)
}

async fn aggregate(
    cx: &ToolCx,
    mixture: &Mixture,
    prompt: &str,
    proposals: &[String],
) -> Result<String, ToolError> {
    let asked = &mixture.aggregator;
    let model =
        look::models(cx)?.named(asked.provider.as_deref(), &asked.model).await.map_err(ToolError::Failed)?;
    let again = || question(task(proposals), prompt, mixture.max_tokens, asked);
    match look::ask(cx, model.as_ref(), again()).await {
        Err(ToolError::Failed(_)) => look::ask(cx, model.as_ref(), again()).await,
        other => other,
    }
}

fn question(system: String, prompt: &str, max_tokens: u64, asked: &Asked) -> Question {
    let parts = vec![Part::Text { text: prompt.to_owned() }];
    Question { system, parts, max_tokens, effort: asked.effort.clone(), limit: PATIENCE }
}

fn answered(response: &str, mixture: &Mixture, heard: &[String], silent: &[String]) -> Value {
    let mut answer = json!({
        "success": true,
        "response": response,
        "models_used": { "reference_models": heard, "aggregator_model": mixture.aggregator.name() },
    });
    if let (Some(fields), false) = (answer.as_object_mut(), silent.is_empty()) {
        fields.insert("not_heard".to_owned(), json!(silent));
    }
    answer
}

fn failed(why: &str, mixture: Option<&Mixture>, silent: &[String]) -> Value {
    let names: Vec<String> = mixture.iter().flat_map(|it| it.references.iter().map(Asked::name)).collect();
    json!({
        "success": false,
        "response": null,
        "models_used": {
            "reference_models": names,
            "aggregator_model": mixture.map(|it| it.aggregator.name()),
        },
        "error": why,
        "not_heard": silent,
    })
}
