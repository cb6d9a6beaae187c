//! Lets an MCP server ask the conversation's model, when its configuration and the person allow it.

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::json::{Dialect, sanitize};
use hermes_core::model::{Message, Model, ModelRequest};
use hermes_extend::mcp::client::{Sample, SampleCall, SampleTool, Sampled, Sampler};
use serde_json::{Value, json};

use super::models::{self, ModelWish};
use crate::runtime::Runtime;

/// Asks a model in the name of a server.
pub(crate) struct ModelSampler {
    pub(crate) runtime: Runtime,
    /// The conversation's own; where there is no conversation, the one that the configuration names is chosen
    /// when a server asks.
    pub(crate) own: Option<Arc<dyn Model>>,
}

impl Sampler for ModelSampler {
    fn sample(&self, request: Sample) -> BoxFuture<'_, Result<Sampled, String>> {
        Box::pin(async move {
            let model = self.model(request.model.as_deref()).await?;
            if !may_answer(model.name(), &request.allowed_models) {
                let name = model.name();
                return Err(format!("{name} may not answer it: it is not in `sampling.allowed_models`"));
            }
            let asked = ModelRequest {
                system: request.system.unwrap_or_default().into(),
                messages: vec![Message::user(as_one(&request.messages))],
                tools: definitions(&request.tools).into(),
                max_tokens: Some(u64::from(request.max_tokens)),
                effort: None,
                session: None,
            };
            let reply = model.ask(&asked, &|_| {}).await.map_err(|wrong| wrong.to_string())?;
            let calls = reply.message.calls.into_iter().enumerate();
            // Its arguments are mended by whoever carries a call out, which is the server.
            let calls = calls.map(|(at, call)| SampleCall {
                id: if call.id.is_empty() { format!("call-{at}") } else { call.id },
                name: call.name,
                arguments: serde_json::from_str(&call.arguments).unwrap_or_default(),
            });
            let calls = calls.collect();
            Ok(Sampled { text: reply.message.text, model: model.name().to_owned(), calls })
        })
    }
}

impl ModelSampler {
    async fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>, String> {
        if let (None, Some(own)) = (name, &self.own) {
            return Ok(Arc::clone(own));
        }
        let wish = ModelWish { model: name.map(str::to_owned), ..ModelWish::default() };
        let chosen = models::choose(&self.runtime, &wish).await.map_err(|wrong| wrong.to_string())?;
        let none = || {
            name.map_or_else(|| "there is no model".to_owned(), |name| format!("there is no model `{name}`"))
        };
        chosen.list.first().cloned().ok_or_else(none)
    }
}

/// Whether a model is on the list, by its name with or without its provider; an empty list has all.
fn may_answer(name: &str, allowed: &[String]) -> bool {
    let bare = name.split_once('/').map_or(name, |(_, bare)| bare);
    allowed.is_empty() || allowed.iter().any(|one| one == name || one == bare)
}

/// The tools of a server as a model reads them.
fn definitions(tools: &[SampleTool]) -> String {
    let one = |tool: &SampleTool| {
        let parameters = sanitize(&tool.schema, Dialect::Lenient).into_owned();
        let function =
            json!({ "name": tool.name, "description": tool.description, "parameters": parameters });
        json!({ "type": "function", "function": function })
    };
    Value::Array(tools.iter().map(one).collect()).to_string()
}

/// What was said so far, as one text: a server's messages are never taken for the model's own.
fn as_one(messages: &[(String, String)]) -> String {
    match messages {
        [(_, only)] => only.clone(),
        several => {
            let told: Vec<String> = several.iter().map(|(who, words)| format!("{who}: {words}")).collect();
            told.join("\n\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::may_answer;

    #[test]
    fn a_model_on_the_list_may_answer_and_an_empty_list_has_all() {
        let list = ["gpt-4o-mini".to_owned(), "anthropic/claude".to_owned()];

        assert!(may_answer("openai/gpt-4o-mini", &list) && may_answer("anthropic/claude", &list));
        assert!(!may_answer("openai/gpt-4o", &list) && !may_answer("other/claude", &list));
        assert!(may_answer("anything/at-all", &[]));
    }
}
