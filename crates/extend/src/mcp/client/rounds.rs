//! A request that a server answers with questions: they are put to whoever watches the request, and it is
//! sent again with the answers.

use hermes_core::cx::ToolCx;
use rmcp::model::{ClientRequest, InputRequiredResult, InputResponses, ServerResult};

use super::call::{CallError, said};
use super::server::Server;

/// Rounds in which a server may ask for more before it answers.
const ROUNDS: usize = 8;

impl Server {
    /// Sends a request until it is answered with something else than a question.
    pub(super) async fn ask_on(
        &self,
        request: &mut ClientRequest,
        cx: &ToolCx,
        repeat: bool,
    ) -> Result<ServerResult, CallError> {
        for _ in 0..ROUNDS {
            if let ClientRequest::CallToolRequest(call) = &*request {
                self.may_call(&call.params.name).await?;
            }
            let more = match self.ask(request, cx, repeat).await? {
                ServerResult::InputRequiredResult(more) => more,
                answer => return Ok(answer),
            };
            let state = more.request_state.clone();
            let answers = Box::pin(self.answers(more, cx)).await?;
            put(request, answers, state);
        }
        Err(CallError::Refused(format!("it asked for more {ROUNDS} times without an answer")))
    }

    /// Answers what a server wants to know before it can answer, in the name of this very request.
    async fn answers(
        &self,
        more: InputRequiredResult,
        cx: &ToolCx,
    ) -> Result<Option<InputResponses>, CallError> {
        let live = self.inner.live().await?;
        let mut answers = InputResponses::default();
        for (key, question) in more.input_requests.unwrap_or_default() {
            let answer = live.client.input(question, cx).await;
            answers.insert(key, answer.map_err(|why| CallError::Refused(said(&why)))?);
        }
        Ok((!answers.is_empty()).then_some(answers))
    }
}

/// Puts the answers of a round into the request.
fn put(request: &mut ClientRequest, answers: Option<InputResponses>, state: Option<String>) {
    let (responses, kept) = match request {
        ClientRequest::CallToolRequest(it) => (&mut it.params.input_responses, &mut it.params.request_state),
        ClientRequest::ReadResourceRequest(it) => {
            (&mut it.params.input_responses, &mut it.params.request_state)
        }
        ClientRequest::GetPromptRequest(it) => (&mut it.params.input_responses, &mut it.params.request_state),
        // No other request may be answered with questions.
        _ => return,
    };
    (*responses, *kept) = (answers, state);
}
