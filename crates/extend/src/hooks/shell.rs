//! A shell hook: one program for one event.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::hook::{Before, CallEnd, CallView, EventKind, Hook, HookEvent, HookFailure, Reaction};
use hermes_core::host::{Host, blocking};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::line::Line;
use super::matcher::Matcher;
use super::observers::Observers;
use super::run::{Ran, run};
use super::{answer, payload};
use crate::launch::{Consent, Launch, Program};

/// Shell hooks come after the hooks of plugins.
const ORDER: i32 = 100;
/// Beyond the program's own limit, for its start and its end.
const SLACK: Duration = Duration::from_secs(2);

/// Says whether a command may run as it is now.
pub trait Consents: Send + Sync {
    /// The digest that was accepted, or in words why it may not run.
    fn allowed(&self, event: EventKind, command: &str, words: &[String]) -> Result<String, String>;
}

/// What the configuration says about a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellHookSpec {
    /// When it runs.
    pub event: EventKind,
    /// The command as it is written.
    pub command: String,
    /// Its words, or why it has none.
    pub words: Result<Vec<String>, String>,
    /// Which tools it is for: the whole name must match.
    pub matcher: Option<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether a call is not run when the hook fails.
    pub policy: bool,
    /// Where it runs.
    pub cwd: PathBuf,
}

/// A hook that is a program.
pub struct ShellHook {
    name: String,
    spec: Arc<ShellHookSpec>,
    matcher: Matcher,
    doors: Doors,
    observers: Observers,
    /// What it was not told yet, where nobody waits for it.
    untold: Arc<Line<Value>>,
}

/// What a run needs.
#[derive(Clone)]
struct Doors {
    launcher: Arc<dyn Launch>,
    consents: Arc<dyn Consents>,
    host: Arc<dyn Host>,
}

/// What came of trying a hook out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// How the program ended.
    pub ran: Ran,
    /// What its answer means, in words; an error says why it means nothing.
    pub meaning: Result<String, String>,
}

impl ShellHook {
    /// A hook as the configuration wants it.
    pub fn new(
        spec: ShellHookSpec,
        launcher: &Arc<dyn Launch>,
        consents: &Arc<dyn Consents>,
        observers: &Observers,
        host: &Arc<dyn Host>,
    ) -> Self {
        let matcher = Matcher::new(spec.matcher.as_deref(), spec.policy);
        let doors =
            Doors { launcher: Arc::clone(launcher), consents: Arc::clone(consents), host: Arc::clone(host) };
        let name = format!("{} hook `{}`", spec.event.name(), spec.command);
        Self {
            name,
            spec: Arc::new(spec),
            matcher,
            doors,
            observers: observers.clone(),
            untold: Line::new(observers),
        }
    }

    /// Runs it once with this document, whether or not it was accepted.
    pub fn try_out(&self, told: &Value) -> Result<Tried, String> {
        let words = self.spec.words.as_ref().map_err(Clone::clone)?;
        let consent = Consent::Configured(format!("hooks.{}", self.spec.event.name()));
        let ran = launch(&self.doors, &self.spec, words, consent, told, &CancellationToken::new())?;
        let said = &ran.said;
        let meaning = match self.spec.event {
            EventKind::PreToolCall => answer::before(said).map(|before| match before {
                Before::Continue => "the call goes on".to_owned(),
                Before::Block { message } => format!("the call is blocked: {message}"),
                Before::Ask { message, arguments: None } => format!("somebody is asked: {message}"),
                Before::Ask { message, arguments: Some(arguments) } => {
                    let arguments = Value::Object(arguments);
                    format!("somebody is asked, with the call rewritten to {arguments}: {message}")
                }
                Before::Rewrite(arguments) => format!("the call is rewritten: {}", Value::Object(arguments)),
            }),
            EventKind::TransformToolResult => answer::result(said).map(|new| match new {
                Some(new) => format!("the result becomes {new}"),
                None => "the result stays".to_owned(),
            }),
            EventKind::TransformTerminalOutput => answer::output(said).map(|new| match new {
                Some(new) => format!("the output becomes {new:?}"),
                None => "the output stays".to_owned(),
            }),
            kind if kind.is_observed() => Ok("its answer is not looked at".to_owned()),
            kind => answer::reaction(kind, said).map(|reaction| match reaction {
                Some(Reaction::Context(context)) => format!("the model is told: {context}"),
                Some(Reaction::Answer(answer)) => format!("the answer becomes {answer:?}"),
                Some(Reaction::GoOn(message)) => format!("it is not the end yet: {message}"),
                None => "nothing changes".to_owned(),
            }),
        };
        Ok(Tried { ran, meaning })
    }

    /// Whether it is about calls of tools.
    pub fn is_about_calls(&self) -> bool {
        use EventKind::{PostToolCall, PreToolCall, TransformTerminalOutput, TransformToolResult};
        matches!(self.spec.event, PreToolCall | PostToolCall | TransformToolResult | TransformTerminalOutput)
    }

    /// What it answers to this document. The program ends with the wish for an answer.
    async fn asked(&self, told: Value) -> Result<Ran, HookFailure> {
        let (doors, spec) = (self.doors.clone(), Arc::clone(&self.spec));
        let stop = CancellationToken::new();
        let _wanted = stop.clone().drop_guard();
        let done = blocking(&self.doors.host, move || consented(&doors, &spec, &told, &stop)).await;
        let ran = done.map_err(|lost| HookFailure(lost.to_string()))?.map_err(HookFailure)?;
        if ran.well {
            return Ok(ran);
        }
        let ended = format!("{}{}", ran.ended, complaint(&ran));
        // A no is a no. Else a policy hook that did not end well has not answered; of a plain one the answer
        // counts however it ended.
        if matches!(answer::before(&ran.said), Ok(Before::Block { .. })) {
            return Ok(ran);
        }
        if self.spec.policy || ran.said.is_empty() {
            return Err(HookFailure(ended));
        }
        self.observers.note(&format!("hook {}: {ended}", self.name));
        Ok(ran)
    }

    /// Tells it, and does not wait.
    fn observe(&self, told: Value) {
        let Some(teller) = self.untold.add(told) else { return };
        let (doors, spec, name) = (self.doors.clone(), Arc::clone(&self.spec), self.name.clone());
        let observers = self.observers.clone();
        self.doors.host.run_blocking(Box::new(move || {
            for told in teller {
                let why = match consented(&doors, &spec, &told, &CancellationToken::new()) {
                    Ok(ran) if ran.well => continue,
                    Ok(ran) => format!("{}{}", ran.ended, complaint(&ran)),
                    Err(why) => why,
                };
                observers.note(&format!("{name}: {why}"));
            }
        }));
    }

    fn cwd(&self) -> String {
        self.spec.cwd.to_string_lossy().into_owned()
    }

    fn is_for(&self, kind: EventKind) -> bool {
        self.spec.event == kind
    }
}

/// Runs it if it was accepted as it is now.
fn consented(
    doors: &Doors,
    spec: &ShellHookSpec,
    told: &Value,
    stop: &CancellationToken,
) -> Result<Ran, String> {
    let words = spec.words.as_ref().map_err(Clone::clone)?;
    let digest = doors.consents.allowed(spec.event, &spec.command, words)?;
    launch(doors, spec, words, Consent::Accepted { what: spec.command.clone(), digest }, told, stop)
}

fn launch(
    doors: &Doors,
    spec: &ShellHookSpec,
    words: &[String],
    consent: Consent,
    told: &Value,
    stop: &CancellationToken,
) -> Result<Ran, String> {
    let (program, arguments) = words.split_first().ok_or_else(|| "there is no command".to_owned())?;
    let program = Program {
        program: program.clone(),
        arguments: arguments.iter().cloned().map(Into::into).collect(),
        variables: Vec::new(),
        directory: Some(spec.cwd.clone()),
        consent,
    };
    run(doors.launcher.as_ref(), &program, told.to_string().into_bytes(), spec.timeout, &doors.host, stop)
}

fn complaint(ran: &Ran) -> String {
    match ran.complained.lines().last() {
        Some(line) => format!(" ({})", line.chars().take(200).collect::<String>()),
        None => String::new(),
    }
}

impl Hook for ShellHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn order(&self) -> i32 {
        ORDER
    }

    fn is_policy(&self) -> bool {
        self.spec.policy
    }

    fn deadline(&self) -> Duration {
        self.spec.timeout.saturating_add(SLACK)
    }

    fn wants(&self, tool: &str) -> bool {
        match self.spec.event {
            EventKind::PreToolCall | EventKind::PostToolCall | EventKind::TransformToolResult => {
                self.matcher.fits(tool)
            }
            EventKind::TransformTerminalOutput => tool == "terminal",
            _ => false,
        }
    }

    fn before<'a>(&'a self, call: &'a CallView) -> BoxFuture<'a, Result<Before, HookFailure>> {
        Box::pin(async move {
            if !self.is_for(EventKind::PreToolCall) {
                return Ok(Before::Continue);
            }
            let ran = self.asked(payload::of_call(self.spec.event, call, None, &self.cwd())).await?;
            answer::before(&ran.said).map_err(HookFailure)
        })
    }

    fn transform<'a>(
        &'a self,
        call: &'a CallView,
        end: &'a CallEnd,
    ) -> BoxFuture<'a, Result<Option<Value>, HookFailure>> {
        Box::pin(async move {
            match self.spec.event {
                EventKind::TransformToolResult => {
                    let told = payload::of_call(self.spec.event, call, Some(end), &self.cwd());
                    answer::result(&self.asked(told).await?.said).map_err(HookFailure)
                }
                EventKind::TransformTerminalOutput if end.result.get("output").is_some() => {
                    let ran = self.asked(payload::of_output(call, end, &self.cwd())).await?;
                    let output = answer::output(&ran.said).map_err(HookFailure)?;
                    Ok(output.map(|output| {
                        let mut result = end.result.clone();
                        if let Some(fields) = result.as_object_mut() {
                            fields.insert("output".to_owned(), Value::String(output));
                        }
                        result
                    }))
                }
                _ => Ok(None),
            }
        })
    }

    fn after<'a>(&'a self, call: &'a CallView, end: &'a CallEnd) -> BoxFuture<'a, ()> {
        if self.is_for(EventKind::PostToolCall) {
            self.observe(payload::of_call(self.spec.event, call, Some(end), &self.cwd()));
        }
        Box::pin(std::future::ready(()))
    }

    fn hears(&self, kind: EventKind) -> bool {
        self.is_for(kind)
    }

    fn told<'a>(&'a self, event: &'a HookEvent) -> BoxFuture<'a, Result<Option<Reaction>, HookFailure>> {
        Box::pin(async move {
            let told = payload::of_event(event, &self.cwd());
            if event.kind.is_observed() {
                self.observe(told);
                return Ok(None);
            }
            let ran = self.asked(told).await?;
            answer::reaction(event.kind, &ran.said).map_err(HookFailure)
        })
    }
}
