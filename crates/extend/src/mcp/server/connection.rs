//! One client and its session, with the calls that wait for an answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_core::call::ToolCall;
use hermes_core::definitions::Toolbox;
use hermes_core::host::Host;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, JsonObject,
};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::calls::{self, Followed, Running};
use super::client::{Abilities, Question};
use super::content;
use super::seat::Bench;
use super::wire::{RequestWire, input_request};

/// Calls that wait for an answer at once; one more is not asked about, which means no.
const MAX_PARKED: usize = 32;

/// The key of the one question in a round.
const QUESTION: &str = "question";

/// One client and its session.
pub(super) struct Connection {
    pub(super) bench: Arc<dyn Bench>,
    host: Arc<dyn Host>,
    tasks: TaskTracker,
    /// Fires when the server ends.
    stopped: CancellationToken,
    parked: Mutex<BTreeMap<String, Parked>>,
    /// The tools as they were last listed.
    listed: Mutex<Option<Arc<Toolbox>>>,
}

/// A call that waits for the answer to a question.
struct Parked {
    name: String,
    arguments: Option<JsonObject>,
    running: Running,
    question: Question,
}

impl Connection {
    pub(super) fn new(
        bench: Arc<dyn Bench>,
        host: Arc<dyn Host>,
        tasks: TaskTracker,
        stopped: CancellationToken,
    ) -> Self {
        Self { bench, host, tasks, stopped, parked: Mutex::default(), listed: Mutex::default() }
    }

    /// Notes what a client was shown.
    pub(super) fn listed(&self, tools: &Arc<Toolbox>) {
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(tools));
    }

    /// The tools that a client last saw here; those of this moment where none did. What changed after it
    /// looked and before it listens is then told too.
    pub(super) async fn last_listed(&self) -> Arc<Toolbox> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match listed {
            Some(listed) => listed,
            None => self.bench.tools().await,
        }
    }

    /// Takes a call, or goes on with one that was asked about.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        abilities: Abilities,
        wire: &RequestWire,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, input_responses, request_state, .. } = request;
        let running = if let Some(state) = request_state {
            self.go_on(&state, &name, arguments.as_ref(), input_responses)?
        } else {
            let written = serde_json::to_string(&arguments.clone().unwrap_or_default()).unwrap_or_default();
            let call = ToolCall::new(name.as_ref(), written).with_id(wire.id());
            calls::start(Arc::clone(&self.bench), call, abilities, &self.tasks, self.stopped.child_token())
        };
        match running.follow(wire, &self.host, &name).await {
            Followed::Done(outcome) => Ok(content::result(&outcome).into()),
            Followed::Asks(running, question) => {
                let parked = Parked { name: name.into_owned(), arguments, running, question };
                Ok(self.park(parked)?.into())
            }
            Followed::Broken(broken) => {
                Err(ErrorData::internal_error(format!("the call broke: {broken}"), None))
            }
            Followed::Abandoned => Err(ErrorData::internal_error("the call was taken back", None)),
        }
    }

    /// Ends the request with a question; the call waits for the request that brings the answer.
    fn park(&self, parked: Parked) -> Result<InputRequiredResult, ErrorData> {
        let broken = |why: String| ErrorData::internal_error(why, None);
        let request: InputRequest = input_request(&parked.question.ask).map_err(broken)?;
        let state = hermes_net::random_hex().map_err(|wrong| broken(wrong.to_string()))?;
        let mut waiting = self.parked();
        waiting.retain(|_, parked| !parked.running.is_over());
        if waiting.len() >= MAX_PARKED {
            return Err(broken("too many calls wait for an answer; this one was not run".to_owned()));
        }
        waiting.insert(state.clone(), parked);
        let requests: InputRequests = [(QUESTION.to_owned(), request)].into_iter().collect();
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// The call that waits under this name, with its question answered.
    fn go_on(
        &self,
        state: &str,
        name: &str,
        arguments: Option<&JsonObject>,
        responses: Option<InputResponses>,
    ) -> Result<Running, ErrorData> {
        let unknown = |why: &'static str| ErrorData::invalid_params(why, None);
        let mut waiting = self.parked();
        let parked = waiting.get(state).ok_or_else(|| {
            unknown("no call waits under this requestState: it was answered, expired or taken back")
        })?;
        if parked.name != name || parked.arguments.as_ref() != arguments {
            return Err(unknown("requestState belongs to a call of another tool or with other arguments"));
        }
        let Some(Parked { running, question, .. }) = waiting.remove(state) else {
            return Err(unknown("no call waits under this requestState"));
        };
        let answer = responses.and_then(|mut responses| responses.remove(QUESTION));
        // Nobody waits any more when the question expired; the call says so itself.
        let _ = question.answer.send(answer.ok_or_else(|| "there was no answer".to_owned()));
        Ok(running)
    }

    fn parked(&self) -> MutexGuard<'_, BTreeMap<String, Parked>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
