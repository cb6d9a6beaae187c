//! What a server may ask of us while it works.
//!
//! Every question is asked in the name of a call that runs; without one there is nobody to answer for
//! it, and the answer is no. Asking the model, and asking the person, are off unless configured.

#![expect(
    deprecated,
    reason = "servers of older versions of the protocol ask for roots and samples, and log"
)]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_core::clarify::{Answer, Asker, Question};
use hermes_core::cx::ToolCx;
use hermes_core::host::Host;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, Implementation, InputRequest, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ProtocolVersion, Root,
    SamplingMessage,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::{Notify, RwLock, RwLockReadGuard};

use super::config::{Sampling, ServerConfig};
use super::log::Log;
use super::{Sample, Sampler};

/// Longest words of progress that are shown.
const MAX_WORDS: usize = 120;

/// Our side of a connection.
pub(crate) struct Client {
    pub(crate) server: String,
    pub(crate) root: String,
    pub(crate) sampling: Sampling,
    pub(crate) elicitation: Option<Duration>,
    pub(crate) log: Arc<Log>,
    pub(crate) host: Arc<dyn Host>,
    /// Calls that run now, the newest last.
    running: Mutex<Vec<Running>>,
    /// Held while a call is sent and not yet among those that run: a quick server may ask about it
    /// before we know that it is on its way.
    sending: RwLock<()>,
    /// The list of tools is not what it was.
    pub(crate) changed: Arc<Notify>,
    /// When the model was asked for it.
    asked: Mutex<VecDeque<Duration>>,
    /// Whether the person said that it may go on asking the model.
    agreed: AtomicBool,
}

/// A call that runs.
struct Running {
    token: ProgressToken,
    cx: ToolCx,
    /// How far it was last told to be; what is told out of order is not shown.
    far: f64,
}

impl Client {
    pub(crate) fn new(config: &ServerConfig, root: String, log: Arc<Log>, host: Arc<dyn Host>) -> Self {
        Self {
            server: config.name.clone(),
            root,
            sampling: config.sampling.clone(),
            elicitation: config.elicitation,
            log,
            host,
            running: Mutex::default(),
            sending: RwLock::default(),
            changed: Arc::new(Notify::new()),
            asked: Mutex::default(),
            agreed: AtomicBool::new(false),
        }
    }

    /// To be held while a call is sent, until it has [begun](Self::began).
    pub(crate) async fn sending(&self) -> RwLockReadGuard<'_, ()> {
        self.sending.read().await
    }

    /// A call begins; its progress is told to whoever looks on.
    pub(crate) fn began(&self, token: ProgressToken, cx: ToolCx) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).push(Running {
            token,
            cx,
            far: f64::MIN,
        });
    }

    /// It is over.
    pub(crate) fn ended(&self, token: &ProgressToken) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).retain(|call| call.token != *token);
    }

    /// The call in whose name something is asked.
    async fn call(&self) -> Option<ToolCx> {
        drop(self.sending.write().await);
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.last().map(|call| call.cx.clone())
    }

    /// Whether the budget of this minute has room for another request.
    fn within_budget(&self) -> bool {
        let now = self.host.now();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|at| now.saturating_sub(*at) < Duration::from_mins(1));
        if asked.len() >= self.sampling.per_minute as usize {
            return false;
        }
        asked.push_back(now);
        true
    }

    /// Asks the person whether the server may ask the model.
    async fn may_sample(&self, cx: &ToolCx, request: &CreateMessageRequestParams) -> Result<(), String> {
        if self.agreed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let asker = cx.service::<Arc<dyn Asker>>().ok_or("nobody is there to agree to it")?;
        let words = request.messages.last().map(|message| text_of(message).0).unwrap_or_default();
        let words: String = words.chars().take(600).collect();
        let text = format!("MCP server `{}` wants your model to answer this:\n{words}\nMay it?", self.server);
        let choices = ["Yes, this once", "Yes, until this program ends", "No"].map(str::to_owned).to_vec();
        match asker.ask(Question { text, choices }).await {
            Answer::Said(said) if said.starts_with("Yes, until") => {
                self.agreed.store(true, Ordering::Relaxed);
                Ok(())
            }
            Answer::Said(said) if said.starts_with("Yes") => Ok(()),
            Answer::Said(_) => Err("the person said no".to_owned()),
            Answer::Nobody => Err("nobody is there to agree to it".to_owned()),
            Answer::TimedOut => Err("nobody answered in time".to_owned()),
        }
    }

    /// The model the server would like best of those it may have. Without a list it has no choice: a
    /// name of its own would be somebody's money.
    fn wished(&self, request: &CreateMessageRequestParams) -> Option<String> {
        let hints = request.model_preferences.as_ref()?.hints.as_ref()?;
        let mut names = hints.iter().filter_map(|hint| hint.name.as_ref());
        names.find(|name| self.sampling.allowed_models.contains(name)).cloned()
    }

    async fn sample(&self, request: CreateMessageRequestParams) -> Result<CreateMessageResult, String> {
        if !self.sampling.enabled {
            return Err("it may not ask the model: `sampling.enabled` is not set".to_owned());
        }
        let cx = self.call().await.ok_or("no call of its runs now")?;
        let sampler = cx.service::<Arc<dyn Sampler>>().cloned().ok_or("there is no model to ask")?;
        if !self.within_budget() {
            return Err(format!("it has asked {} times in a minute", self.sampling.per_minute));
        }
        self.may_sample(&cx, &request).await?;
        let sample = Sample {
            system: request.system_prompt.clone(),
            messages: request
                .messages
                .iter()
                .map(|message| {
                    let (words, role) = text_of(message);
                    (role, words)
                })
                .collect(),
            max_tokens: request.max_tokens.min(self.sampling.max_tokens),
            model: self.sampling.model.clone().or_else(|| self.wished(&request)),
            allowed_models: self.sampling.allowed_models.clone(),
        };
        let limit = self.host.sleep(self.sampling.timeout);
        let answer = match futures::future::select(sampler.sample(sample), limit).await {
            futures::future::Either::Left((answer, _)) => answer?,
            futures::future::Either::Right(_) => return Err("the model took too long".to_owned()),
        };
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text(answer.text), answer.model))
    }

    async fn elicit(&self, request: ElicitRequestParams) -> ElicitResult {
        let decline = || ElicitResult::new(ElicitationAction::Decline);
        let Some(patience) = self.elicitation else { return decline() };
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request else {
            return decline();
        };
        let Some(cx) = self.call().await else { return decline() };
        let Some(asker) = cx.service::<Arc<dyn Asker>>() else { return decline() };
        let schema = serde_json::to_value(&requested_schema).unwrap_or_default();
        let filled = Box::pin(form(&self.server, &message, &schema, asker.as_ref()));
        match futures::future::select(filled, self.host.sleep(patience)).await {
            futures::future::Either::Left((Some(content), _)) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content))
            }
            futures::future::Either::Left((None, _)) => decline(),
            futures::future::Either::Right(_) => ElicitResult::new(ElicitationAction::Cancel),
        }
    }
}

/// The words of a message, and who said them.
fn text_of(message: &SamplingMessage) -> (String, String) {
    let value = serde_json::to_value(message).unwrap_or_default();
    let role = value.get("role").and_then(Value::as_str).unwrap_or("user").to_owned();
    let texts = |content: &Value| match content {
        Value::Array(items) => {
            items.iter().filter_map(|item| item.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
        }
        one => one.get("text").and_then(Value::as_str).unwrap_or("[not text]").to_owned(),
    };
    (value.get("content").map(texts).unwrap_or_default(), role)
}

/// Asks for every field of a form, one question each; nothing when the person does not want to.
async fn form(server: &str, message: &str, schema: &Value, asker: &dyn Asker) -> Option<Map<String, Value>> {
    let mut filled = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let intro = format!("MCP server `{server}` asks: {message}");
    if fields.is_empty() {
        let choices = ["Accept", "Decline"].map(str::to_owned).to_vec();
        let said = asker.ask(Question { text: intro, choices }).await;
        return matches!(said, Answer::Said(word) if word == "Accept").then_some(filled);
    }
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    for (name, field) in &fields {
        let about = field.get("description").or_else(|| field.get("title")).and_then(Value::as_str);
        let text = format!("{intro}\n{name}{}", about.map(|about| format!(": {about}")).unwrap_or_default());
        let choices = choices_of(field);
        let Answer::Said(said) = asker.ask(Question { text, choices }).await else { return None };
        if said.trim().is_empty() {
            match (field.get("default"), required.contains(&name.as_str())) {
                (Some(usual), _) => drop(filled.insert(name.clone(), usual.clone())),
                (None, true) => return None,
                (None, false) => {}
            }
            continue;
        }
        filled.insert(name.clone(), typed(&said, field)?);
    }
    Some(filled)
}

fn choices_of(field: &Value) -> Vec<String> {
    if field.get("type").and_then(Value::as_str) == Some("boolean") {
        return vec!["yes".to_owned(), "no".to_owned()];
    }
    let listed = field.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    let listed: Vec<String> = listed.iter().filter_map(|it| Some(it.as_str()?.to_owned())).collect();
    // No more than four can be shown; the person may write the others.
    if listed.len() <= 4 { listed } else { Vec::new() }
}

/// The answer as the field wants it.
fn typed(said: &str, field: &Value) -> Option<Value> {
    let said = said.trim();
    match field.get("type").and_then(Value::as_str) {
        Some("boolean") => Some(matches!(said.to_lowercase().as_str(), "yes" | "true" | "y" | "1").into()),
        Some("integer") => said.parse::<i64>().ok().map(Into::into),
        Some("number") => said.parse::<f64>().ok().map(Into::into),
        Some("array") => Some(said.split(',').map(|item| Value::from(item.trim())).collect()),
        _ => Some(said.into()),
    }
}

/// How far a call is, in a few words.
fn words(progress: &ProgressNotificationParam) -> String {
    let number = match progress.total.filter(|total| *total > 0.0) {
        Some(total) => format!("{:.0} %", 100.0 * progress.progress / total),
        None => format!("{}", progress.progress),
    };
    let text = match &progress.message {
        Some(message) if !message.trim().is_empty() => format!("{number} {}", message.trim()),
        _ => number,
    };
    text.chars().filter(|c| !c.is_control()).take(MAX_WORDS).collect()
}

impl Client {
    /// Answers what a server wants to know in the middle of a call.
    pub(crate) async fn input(&self, request: InputRequest) -> Result<Value, ErrorData> {
        let told = |value: Result<Value, serde_json::Error>| {
            value.map_err(|error| ErrorData::internal_error(error.to_string(), None))
        };
        match request {
            InputRequest::CreateMessage(request) => {
                let answer = self.sample(request.params).await;
                let answer = answer.map_err(|why| ErrorData::invalid_request(why, None))?;
                told(serde_json::to_value(answer))
            }
            InputRequest::Elicitation(request) => {
                told(serde_json::to_value(self.elicit(request.params).await))
            }
            InputRequest::ListRoots(_) => told(serde_json::to_value(self.roots())),
            _ => Err(ErrorData::invalid_request("this program does not know the question", None)),
        }
    }

    fn roots(&self) -> ListRootsResult {
        ListRootsResult::new(vec![Root::new(self.root.clone())])
    }
}

impl rmcp::ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::builder().enable_roots().build();
        if self.sampling.enabled {
            capabilities.sampling = Some(rmcp::model::SamplingCapability::default());
        }
        if self.elicitation.is_some() {
            capabilities.elicitation = Some(rmcp::model::ElicitationCapability::default());
        }
        ClientConfig::new(capabilities, Implementation::new("hermes", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_roots(&self, _cx: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _cx: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let answer = self.sample(params).await;
        answer.map_err(|why| {
            self.log.line(&format!("[asking the model was refused: {why}]"));
            ErrorData::invalid_request(why, None)
        })
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _cx: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.elicit(request).await)
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _cx: NotificationContext<RoleClient>) {
        drop(self.sending.write().await);
        let cx = {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            let call = running.iter_mut().find(|call| call.token == progress.progress_token);
            call.filter(|call| progress.progress > call.far).map(|call| {
                call.far = progress.progress;
                call.cx.clone()
            })
        };
        if let Some(cx) = cx {
            cx.progress(&words(&progress));
        }
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _cx: NotificationContext<RoleClient>,
    ) {
        self.log.line(&format!("[log] {}", message.data));
    }

    async fn on_tool_list_changed(&self, _cx: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _cx: NotificationContext<RoleClient>) {}

    async fn on_resource_list_changed(&self, _cx: NotificationContext<RoleClient>) {}
}
