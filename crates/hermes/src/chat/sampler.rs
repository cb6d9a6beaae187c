//! Lets an MCP server ask the conversation's model, when its configuration and the person allow it.

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::model::{Message, Model, ModelRequest};
use hermes_extend::mcp::client::{Sample, Sampled, Sampler};

/// Asks a model in the name of a server.
pub(crate) struct ModelSampler(pub(crate) Arc<dyn Model>);

impl Sampler for ModelSampler {
    fn sample(&self, request: Sample) -> BoxFuture<'_, Result<Sampled, String>> {
        Box::pin(async move {
            let asked = ModelRequest {
                system: request.system.unwrap_or_default().into(),
                messages: vec![Message::user(as_one(&request.messages))],
                tools: "[]".into(),
                max_tokens: Some(u64::from(request.max_tokens)),
                effort: None,
                session: None,
            };
            let reply = self.0.ask(&asked, &|_| {}).await.map_err(|wrong| wrong.to_string())?;
            Ok(Sampled { text: reply.message.text, model: self.0.name().to_owned() })
        })
    }
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
