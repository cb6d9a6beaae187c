//! The request of a client while it is open, for the call that it began.

#![expect(
    deprecated,
    reason = "logging and sampling are on their way out of the protocol, but clients of today use them"
)]

use futures::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, CreateMessageRequest, CreateMessageRequestParams,
    ElicitRequest, ElicitRequestParams, ElicitationSchema, InputRequest, LoggingLevel,
    LoggingMessageNotification, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, ServerNotification, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext};
use serde_json::Value;

use super::aside::Aside;
use super::calls::Wire;
use super::client::{Abilities, Ask, Level, Progress};

/// What a client hears about a question that is taken back.
const TAKEN_BACK: &str = "the question is over";

/// An open request.
pub(super) struct RequestWire {
    context: RequestContext<RoleServer>,
    progress: Option<ProgressToken>,
    /// The least grave lines that the client wants in its log, if it wants any.
    log_from: Option<Level>,
}

impl RequestWire {
    /// `log_from_session` is what the client's session wants; without sessions each request says it itself.
    pub(super) fn new(context: RequestContext<RoleServer>, log_from_session: Level) -> Self {
        let log_from = if is_sessionless(&context) {
            context.meta.log_level().map(log_from)
        } else {
            Some(log_from_session)
        };
        let progress = context.meta.get_progress_token();
        Self { context, progress, log_from }
    }

    /// The client's id of the request.
    pub(super) fn id(&self) -> String {
        self.context.id.to_string()
    }

    /// Says something that belongs to this request, where its answer will be.
    async fn say(&self, mut notification: ServerNotification) {
        if let Some(aside) = self.context.extensions.get::<Aside>() {
            aside.mark(&mut notification);
        }
        // A client that is gone has no use for it, and shows no form either.
        let _ = self.context.peer.send_notification(notification).await;
    }
}

impl Wire for RequestWire {
    fn asks_at_once(&self) -> bool {
        !is_sessionless(&self.context)
    }

    fn wants_progress(&self) -> bool {
        self.progress.is_some()
    }

    fn progress(&self, progress: Progress) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let Some(token) = &self.progress else { return };
            let mut report = ProgressNotificationParam::new(token.clone(), progress.done);
            report.total = progress.total;
            report.message = progress.message;
            // A client that is gone has no use for it.
            let _ = self.context.peer.notify_progress(report).await;
        })
    }

    fn log(&self, level: Level, data: Value) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if self.log_from.is_some_and(|least| level >= least) {
                let line =
                    LoggingMessageNotificationParam::new(on_the_wire(level), data).with_logger("hermes");
                self.say(LoggingMessageNotification::new(line).into()).await;
            }
        })
    }

    fn ask<'a>(&'a self, ask: Ask, over: BoxFuture<'a, ()>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            let peer = &self.context.peer;
            let request = match ask {
                Ask::Form(message, schema) => {
                    ServerRequest::ElicitRequest(ElicitRequest::new(form(message, schema)?))
                }
                Ask::Sample(parameters) => {
                    let parameters = sample(parameters)?;
                    let uses_tools = parameters.tools.is_some() || parameters.tool_choice.is_some();
                    if uses_tools && !peer.supports_sampling_tools() {
                        return Err("the client's model cannot be given tools".to_owned());
                    }
                    parameters.validate()?;
                    ServerRequest::CreateMessageRequest(CreateMessageRequest::new(parameters))
                }
            };
            let asked = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
            let mut asked = asked.map_err(|why| why.to_string())?;
            tokio::select! {
                said = &mut asked.rx => {
                    let said = said.map_err(|_| "the client is gone".to_owned())?;
                    serde_json::to_value(said.map_err(|why| why.to_string())?).map_err(|why| why.to_string())
                }
                () = over => {
                    let over = CancelledNotificationParam::new(Some(asked.id), Some(TAKEN_BACK.to_owned()));
                    self.say(CancelledNotification::new(over).into()).await;
                    Err(TAKEN_BACK.to_owned())
                }
            }
        })
    }

    fn taken_back(&self) -> BoxFuture<'_, ()> {
        let session = self.context.extensions.get::<Aside>().map(|aside| aside.over().clone());
        Box::pin(async move {
            let session_over = async {
                match session {
                    Some(over) => over.cancelled().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.context.ct.cancelled() => {}
                () = session_over => {}
            }
        })
    }
}

/// Whether the client speaks the protocol without sessions, where servers never ask by themselves.
pub(super) fn is_sessionless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// What the client says it can do.
pub(super) fn abilities(context: &RequestContext<RoleServer>) -> Abilities {
    let Some(can) = context.client_capabilities() else { return Abilities::default() };
    Abilities {
        // Whoever names no kind means forms, as it was before there were others.
        forms: can.elicitation.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none()),
        sampling: can.sampling.is_some(),
    }
}

/// A question as it is sent inside of a result.
pub(super) fn input_request(ask: &Ask) -> Result<InputRequest, String> {
    match ask {
        Ask::Form(message, schema) => {
            Ok(InputRequest::Elicitation(ElicitRequest::new(form(message.clone(), schema.clone())?)))
        }
        Ask::Sample(parameters) => {
            Ok(InputRequest::CreateMessage(CreateMessageRequest::new(sample(parameters.clone())?)))
        }
    }
}

fn form(message: String, schema: serde_json::Map<String, Value>) -> Result<ElicitRequestParams, String> {
    let requested_schema = ElicitationSchema::from_json_schema(schema)
        .map_err(|wrong| format!("the form cannot be shown: {wrong}"))?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

fn sample(parameters: Value) -> Result<CreateMessageRequestParams, String> {
    serde_json::from_value(parameters).map_err(|wrong| format!("the request for the model is wrong: {wrong}"))
}

fn on_the_wire(level: Level) -> LoggingLevel {
    match level {
        Level::Debug => LoggingLevel::Debug,
        Level::Info => LoggingLevel::Info,
        Level::Warning => LoggingLevel::Warning,
        Level::Error => LoggingLevel::Error,
    }
}

/// The least grave of our levels that a client of this level wants.
pub(super) fn log_from(level: LoggingLevel) -> Level {
    match level {
        LoggingLevel::Debug => Level::Debug,
        LoggingLevel::Info => Level::Info,
        LoggingLevel::Notice | LoggingLevel::Warning => Level::Warning,
        _ => Level::Error,
    }
}
