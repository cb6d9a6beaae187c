//! Stand-ins around a driver: a record in memory, tools that answer by script.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_agent::{AgentSettings, Driver, Event, Learnt, Steering, Tools, TurnEnd};
use hermes_core::call::ToolCall;
use hermes_core::conversation::{Conversation, Floor, Spent};
use hermes_core::model::{Message, Model, Part};
use hermes_core::outcome::{Outcome, Status};
use hermes_testkit::{FakeHost, Line, ScriptedModel};
use tokio_util::sync::CancellationToken;

/// A record in memory that counts what is done to it and can be made to fail.
#[derive(Default)]
pub(crate) struct MemoryLog {
    pub(crate) messages: Mutex<Vec<Message>>,
    pub(crate) pages: Mutex<BTreeMap<String, String>>,
    pub(crate) spent: Mutex<Vec<Spent>>,
    pub(crate) prompt: Mutex<Option<String>>,
    pub(crate) replaced: AtomicU32,
    pub(crate) synced: AtomicU32,
    /// Appends that still work.
    pub(crate) works_for: Mutex<Option<u32>>,
    pub(crate) cannot_replace: AtomicBool,
    pub(crate) cannot_page: AtomicBool,
    /// How often somebody else still has the floor when it is asked for.
    pub(crate) busy_for: AtomicU32,
}

impl MemoryLog {
    pub(crate) fn now(&self) -> Vec<Message> {
        self.messages.lock().unwrap().clone()
    }
}

impl Conversation for MemoryLog {
    fn floor(&self) -> BoxFuture<'_, Result<Option<Floor>, String>> {
        let busy = self.busy_for.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        Box::pin(async move { Ok(busy.is_err().then(|| Box::new(()) as Floor)) })
    }

    fn append<'a>(&'a self, messages: &'a [Message]) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            if let Some(left) = &mut *self.works_for.lock().unwrap() {
                *left = left.checked_sub(1).ok_or("the disk is full")?;
            }
            self.messages.lock().unwrap().extend_from_slice(messages);
            Ok(())
        })
    }

    fn messages(&self) -> BoxFuture<'_, Result<Vec<Message>, String>> {
        Box::pin(async { Ok(self.now()) })
    }

    fn replace<'a>(&'a self, messages: &'a [Message]) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            if self.cannot_replace.load(Ordering::SeqCst) {
                return Err("the disk is full".to_owned());
            }
            self.replaced.fetch_add(1, Ordering::SeqCst);
            *self.messages.lock().unwrap() = messages.to_vec();
            Ok(())
        })
    }

    fn page_out<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            if self.cannot_page.load(Ordering::SeqCst) {
                return Err("the disk is full".to_owned());
            }
            let mut pages = self.pages.lock().unwrap();
            let id = format!("page-{}", pages.len() + 1);
            pages.insert(id.clone(), text.to_owned());
            Ok(id)
        })
    }

    fn system_prompt(&self) -> BoxFuture<'_, Result<Option<String>, String>> {
        Box::pin(async { Ok(self.prompt.lock().unwrap().clone()) })
    }

    fn set_system_prompt<'a>(&'a self, prompt: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            *self.prompt.lock().unwrap() = Some(prompt.to_owned());
            Ok(())
        })
    }

    fn spent<'a>(&'a self, spent: &'a Spent) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            self.spent.lock().unwrap().push(spent.clone());
            Ok(())
        })
    }

    fn sync(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async {
            self.synced.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
    }
}

/// Tools whose names say what becomes of them: `deny_…`, `stuck_…`, `fail_…`, `none_…`; all others
/// answer with their arguments. `look_…` is harmless.
#[derive(Default)]
pub(crate) struct NamedTools {
    pub(crate) ran: Mutex<Vec<ToolCall>>,
    /// What the record held when calls were run.
    pub(crate) log: Option<Arc<MemoryLog>>,
    pub(crate) seen: Mutex<Vec<Vec<Message>>>,
    pub(crate) todos: Mutex<Option<String>>,
    pub(crate) bodies: Mutex<BTreeMap<String, String>>,
}

impl Tools for NamedTools {
    fn definitions(&self) -> BoxFuture<'_, Arc<str>> {
        Box::pin(async { Arc::from(r#"[{"name":"echo"}]"#) })
    }

    fn run<'a>(&'a self, calls: Vec<ToolCall>, cancel: &'a CancellationToken) -> BoxFuture<'a, Vec<Outcome>> {
        if let Some(log) = &self.log {
            self.seen.lock().unwrap().push(log.now());
        }
        self.ran.lock().unwrap().extend(calls.iter().cloned());
        Box::pin(async move {
            let mut outcomes = Vec::new();
            for call in calls {
                let kind = call.name.split('_').next().unwrap_or_default().to_owned();
                let status = match kind.as_str() {
                    "deny" => Status::Denied,
                    "fail" => Status::Failed,
                    "none" => Status::Unknown,
                    "stuck" => {
                        cancel.cancelled().await;
                        Status::Cancelled
                    }
                    "deaf" => std::future::pending().await,
                    "panic" => panic!("a tool broke"),
                    _ => Status::Ok,
                };
                let body = self.bodies.lock().unwrap().get(&call.name).cloned();
                outcomes.push(outcome(&call, status, body));
            }
            outcomes
        })
    }

    fn open_todos(&self) -> Option<String> {
        self.todos.lock().unwrap().clone()
    }

    fn harmless(&self, tool: &str) -> bool {
        tool.starts_with("look")
    }
}

fn outcome(call: &ToolCall, status: Status, body: Option<String>) -> Outcome {
    Outcome {
        id: "x".into(),
        given_id: call.given_id.clone(),
        tool: call.name.as_str().into(),
        status,
        body: body
            .unwrap_or_else(|| format!(r#"{{"status":"{}","got":{:?}}}"#, status.word(), call.arguments)),
        spilled: None,
        attachments: Vec::new(),
        notes: vec![],
        took: Duration::ZERO,
    }
}

/// A driver with everything around it.
pub(crate) struct Stage {
    pub(crate) host: Arc<FakeHost>,
    pub(crate) models: Vec<Arc<ScriptedModel>>,
    pub(crate) log: Arc<MemoryLog>,
    pub(crate) tools: Arc<NamedTools>,
    pub(crate) steering: Steering,
    pub(crate) cancel: CancellationToken,
    pub(crate) events: Mutex<Vec<Event>>,
    pub(crate) driver: Driver,
}

impl Stage {
    pub(crate) fn with(models: impl IntoIterator<Item = ScriptedModel>, settings: AgentSettings) -> Self {
        let host = FakeHost::new();
        let log = Arc::new(MemoryLog::default());
        let tools = Arc::new(NamedTools { log: Some(Arc::clone(&log)), ..NamedTools::default() });
        let models: Vec<Arc<ScriptedModel>> = models.into_iter().map(Arc::new).collect();
        let driver = Driver {
            host: host.clone(),
            models: models.iter().map(|model| Arc::clone(model) as Arc<dyn Model>).collect(),
            summary_model: None,
            tools: tools.clone(),
            log: log.clone(),
            settings,
            system: "You are a test.".into(),
            learnt: Arc::new(Learnt::default()),
        };
        let (steering, cancel) = (Steering::default(), CancellationToken::new());
        Self { host, models, log, tools, steering, cancel, events: Mutex::default(), driver }
    }

    pub(crate) fn saying(lines: impl IntoIterator<Item = Line>) -> Self {
        Self::with([ScriptedModel::new("one/a", lines)], AgentSettings::default())
    }

    pub(crate) async fn turn(&self, text: &str) -> TurnEnd {
        let sink = |event| self.events.lock().unwrap().push(event);
        let input = vec![Part::Text { text: text.to_owned() }];
        self.driver.turn("s1", input, &self.steering, &sink, &self.cancel).await
    }

    pub(crate) fn turn_now(&self, text: &str) -> TurnEnd {
        futures::executor::block_on(self.turn(text))
    }

    /// Takes a turn while the clock runs by itself.
    pub(crate) fn turn_with_time(&self, text: &str) -> TurnEnd {
        use futures::future::{Either, select};
        futures::executor::block_on(async {
            let clock = async {
                loop {
                    self.host.advance(Duration::from_secs(1));
                    // Lets the turn have its go.
                    let mut once = false;
                    std::future::poll_fn(|cx| {
                        if std::mem::replace(&mut once, true) {
                            return std::task::Poll::Ready(());
                        }
                        cx.waker().wake_by_ref();
                        std::task::Poll::Pending
                    })
                    .await;
                }
            };
            match select(Box::pin(self.turn(text)), Box::pin(clock)).await {
                Either::Left((end, _)) => end,
                Either::Right(((), _)) => unreachable!(),
            }
        })
    }

    pub(crate) fn text_events(&self) -> String {
        let mut text = String::new();
        for event in self.events.lock().unwrap().iter() {
            match event {
                Event::Text { text: more } => text.push_str(more),
                Event::TextVoid => text.push('↺'),
                _ => {}
            }
        }
        text
    }

    pub(crate) fn notices(&self) -> Vec<String> {
        let notice = |event: &Event| match event {
            Event::Notice { text } => Some(text.clone()),
            _ => None,
        };
        self.events.lock().unwrap().iter().filter_map(notice).collect()
    }
}

/// `u`ser, `a`nswer, answer with `c`alls, `t`ool result.
pub(crate) fn shape(messages: &[Message]) -> String {
    let letter = |message: &Message| match message {
        Message::User { .. } => 'u',
        Message::Assistant(answer) if answer.calls.is_empty() => 'a',
        Message::Assistant(_) => 'c',
        Message::Tool { .. } => 't',
    };
    messages.iter().map(letter).collect()
}
