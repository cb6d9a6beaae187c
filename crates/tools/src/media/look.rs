//! Has a model look at something, or think about something, and waits for its words.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use hermes_core::model::{Message, Model, ModelRequest, Part};
use hermes_core::side::{SideModels, Sight};

/// The name under which models for side jobs are declared as an effect.
pub(crate) const MODEL: &str = "the configured model";

/// What a model is asked.
pub(crate) struct Question {
    pub(crate) system: String,
    pub(crate) parts: Vec<Part>,
    pub(crate) max_tokens: u64,
    pub(crate) effort: Option<String>,
    pub(crate) limit: Duration,
}

/// The models for side jobs.
pub(crate) fn models(cx: &ToolCx) -> Result<&dyn SideModels, ToolError> {
    let models = cx.service::<Arc<dyn SideModels>>().map(AsRef::as_ref);
    models.ok_or_else(|| ToolError::Failed("there are no models here".to_owned()))
}

/// The model that looks at things: the first of these jobs that the settings name one for, else the usual.
pub(crate) async fn seeing(cx: &ToolCx, tasks: &[&str]) -> Result<Arc<dyn Model>, ToolError> {
    let models = models(cx)?;
    let task = tasks.iter().find(|task| models.is_set(task)).or(tasks.last()).copied().unwrap_or("vision");
    models.for_task(task, Sight::Needed).await.map_err(ToolError::Failed)
}

/// Its words. It is not waited for beyond the limit, nor when the call is taken back.
pub(crate) async fn ask(cx: &ToolCx, model: &dyn Model, question: Question) -> Result<String, ToolError> {
    let request = ModelRequest {
        system: question.system.into(),
        messages: vec![Message::User { content: question.parts }],
        tools: "[]".into(),
        max_tokens: Some(question.max_tokens),
        effort: question.effort,
        session: None,
    };
    let over = std::pin::pin!(async {
        let (late, stopped) = (cx.host().sleep(question.limit), Box::pin(cx.cancelled().cancelled()));
        match select(late, stopped).await {
            Either::Left(_) => {
                let seconds = question.limit.as_secs();
                ToolError::Failed(format!("{} did not answer within {seconds} s", model.name()))
            }
            Either::Right(_) => ToolError::Cancelled,
        }
    });
    match select(model.ask(&request, &|_| {}), over).await {
        Either::Left((Ok(reply), _)) if !reply.message.text.trim().is_empty() => {
            Ok(reply.message.text.trim().to_owned())
        }
        Either::Left((Ok(_), _)) => Err(ToolError::Failed(format!("{} said nothing", model.name()))),
        Either::Left((Err(wrong), _)) => Err(ToolError::Failed(wrong.to_string())),
        Either::Right((over, _)) => Err(over),
    }
}
