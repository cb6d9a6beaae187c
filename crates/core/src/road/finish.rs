//! Steps 8 to 10: shape the answer, let hooks see it, write it down.
//!
//! Shaping is: a JSON value, secrets out, strangers' words marked, size capped with the rest in a
//! file. It is done again after hooks have changed the answer, so no hook can undo it.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::call::CallId;
use crate::definitions::Toolbox;
use crate::error::ToolError;
use crate::hook::{CallEnd, CallView};
use crate::json::exact;
use crate::loop_guard::digest;
use crate::outcome::{Attachment, Outcome, Status};
use crate::road::hooks::Touched;
use crate::road::run::Ran;
use crate::road::{Redact, Refusal, Refused, Road, unbroken};
use crate::session::Session;
use crate::shape::cap::{MaxSize, Oversize, ResultSize, is_over, pageable, replacement, turn_budget};
use crate::shape::error_text::sanitise_error;
use crate::shape::untrusted::mark;
use crate::tool::{Reply, ToolEntry, Trust};
use crate::watch::Watcher;

/// An answer on its way out.
struct Shaped {
    value: Value,
    body: String,
    spilled: Option<PathBuf>,
    /// Whether it says only that the answer is kept back.
    withheld: bool,
}

impl Road {
    /// The end of a call that ran, or was about to.
    pub(super) async fn finish(
        &self,
        session: &Session,
        toolbox: &Toolbox,
        ran: Ran,
        end: Result<Reply, ToolError>,
        cancel: &CancellationToken,
    ) -> Outcome {
        let trust = match &end {
            Err(error) if error.is_ours() => Trust::Trusted,
            _ => ran.entry.trust(),
        };
        let (mut status, mut value, mut attachments) = answer(end);
        status = ran.stopped.unwrap_or(status);
        if ran.view.within.is_none() {
            value = note_repetition(session, &ran, status, value);
        }
        let shaped = self.shape(session, &ran.view.id, &ran.entry, value).await;
        let Ran { view, entry, took, mut notes, .. } = ran;
        status = if shaped.withheld { kept_back(status) } else { status };
        let mut end = CallEnd { status, result: Value::Null, took, env_type: None };
        let mut shaped = if toolbox.hooks().is_empty() {
            shaped
        } else {
            end.env_type = self.env_type_of(session, &entry, &view.arguments);
            self.through_hooks(session, toolbox, (&view, &entry, cancel), &mut end, shaped, &mut notes).await
        };
        if shaped.withheld {
            attachments.clear();
        }
        // The mark comes last: whatever is inside it, nothing stands outside.
        if trust == Trust::Untrusted {
            shaped.body = to_text(&mark(entry.name(), shaped.value));
        }
        let outcome = Outcome {
            id: view.id,
            given_id: view.given_id,
            tool: view.tool,
            status: end.status,
            body: shaped.body,
            spilled: shaped.spilled,
            attachments,
            notes,
            took,
        };
        self.record(session, outcome).await
    }

    /// The end of a call that was not run.
    pub(super) async fn refuse(&self, session: &Session, toolbox: &Toolbox, refused: Refused) -> Outcome {
        let Refused { id, given_id, tool, view, why, mut notes } = refused;
        let (status, result) = match why {
            Refusal::Error(error) => (status_of(&error), error_value(&error)),
            Refusal::Repeated(words) => (Status::Repeated, words),
        };
        let result = self.without_secrets(result).unwrap_or_else(|withheld| withheld);
        let body = to_text(&result);
        if let Some(view) = &view {
            if let Some(watcher) = session.extensions().get::<Arc<dyn Watcher>>() {
                watcher.refused(view);
            }
            let end = CallEnd { status, result, took: Duration::ZERO, env_type: None };
            self.after(toolbox, view, &end, &mut notes).await;
        }
        let (spilled, attachments, took) = (None, Vec::new(), Duration::ZERO);
        let outcome = Outcome { id, given_id, tool, status, body, spilled, attachments, notes, took };
        self.record(session, outcome).await
    }

    async fn through_hooks(
        &self,
        session: &Session,
        toolbox: &Toolbox,
        (view, entry, cancel): (&CallView, &Arc<ToolEntry>, &CancellationToken),
        end: &mut CallEnd,
        mut shaped: Shaped,
        notes: &mut Vec<String>,
    ) -> Shaped {
        end.result = std::mem::take(&mut shaped.value);
        let touched = self.transform(toolbox, view, end, notes, cancel).await;
        if touched > Touched::No {
            let (changed, before) = (std::mem::take(&mut end.result), shaped.withheld);
            shaped = self.shape(session, &view.id, entry, changed).await;
            shaped.withheld |= before || touched == Touched::Withheld;
            end.result = std::mem::take(&mut shaped.value);
        }
        if shaped.withheld {
            end.status = kept_back(end.status);
        }
        self.after(toolbox, view, end, notes).await;
        shaped.value = std::mem::take(&mut end.result);
        shaped
    }

    async fn shape(&self, session: &Session, id: &CallId, entry: &ToolEntry, value: Value) -> Shaped {
        let (mut value, withheld) = match self.without_secrets(value) {
            Ok(value) => (value, false),
            Err(instead) => (instead, true),
        };
        let mut body = to_text(&value);
        let mut spilled = None;
        let limit = self.limits.results.threshold(entry.max_result_size(), None);
        if limit.is_some_and(|limit| is_over(&body, limit)) {
            (value, spilled) = self.move_to_file(session, id.as_str(), &value, &body).await;
            body = to_text(&value);
        }
        Shaped { value, body, spilled, withheld }
    }

    /// The whole result goes to a file; what stays says where, and how it begins.
    async fn move_to_file(
        &self,
        session: &Session,
        id: &str,
        value: &Value,
        body: &str,
    ) -> (Value, Option<PathBuf>) {
        let page = pageable(value);
        let saved = match &self.spill {
            Some(spill) => {
                unbroken(async { spill.keep(session.id(), id, page.text.clone()).await }).await.ok()
            }
            None => None,
        };
        let named = saved.as_ref().map(|path| path.to_string_lossy());
        let oversize = Oversize {
            original: value,
            page: &page,
            size_chars: body.chars().count(),
            saved_to: named.as_deref(),
        };
        (replacement(&oversize, &self.limits.results), saved)
    }

    /// Makes a batch of answers fit its turn: the largest are moved to files first.
    pub(super) async fn fit_turn(&self, session: &Session, toolbox: &Toolbox, outcomes: &mut [Outcome]) {
        let pages_itself = |outcome: &Outcome| {
            let tool = toolbox.find(&outcome.tool);
            tool.is_some_and(|tool| tool.entry().max_result_size() == Some(MaxSize::Unlimited))
        };
        let sizes: Vec<ResultSize> = outcomes
            .iter()
            .map(|outcome| ResultSize {
                chars: outcome.body.chars().count(),
                spillable: outcome.spilled.is_none() && !pages_itself(outcome),
            })
            .collect();
        for at in turn_budget(&sizes, &self.limits.results) {
            let Some(outcome) = outcomes.get_mut(at) else { continue };
            let Ok(value) = serde_json::from_str::<Value>(&outcome.body) else { continue };
            let (short, saved) = self.move_to_file(session, outcome.id.as_str(), &value, &outcome.body).await;
            outcome.body = to_text(&short);
            outcome.spilled = saved;
            if let Some(why) = self.unwritten(session, outcome).await {
                outcome.notes.push(why);
            }
        }
    }

    /// The value without what is secret in it; what is said instead of it when nobody could look through it.
    fn without_secrets(&self, mut value: Value) -> Result<Value, Value> {
        if let Some(redact) = &self.redact {
            let cleaned = catch_unwind(AssertUnwindSafe(|| redact_strings(redact.as_ref(), &mut value)));
            if cleaned.is_err() {
                let words = "the result is withheld: it could not be searched for secrets";
                return Err(json!({ "error": words }));
            }
        }
        Ok(value)
    }

    async fn record(&self, session: &Session, mut outcome: Outcome) -> Outcome {
        // They may quote what a hook or a server said.
        for note in &mut outcome.notes {
            *note = match self.without_secrets(Value::String(std::mem::take(note))) {
                Ok(Value::String(clean)) => clean,
                _ => "a note is withheld: it could not be searched for secrets".to_owned(),
            };
        }
        if let Some(why) = self.unwritten(session, &outcome).await {
            outcome.notes.push(why);
        }
        if let Some(watcher) = session.extensions().get::<Arc<dyn Watcher>>() {
            watcher.ended(&outcome);
        }
        outcome
    }

    /// Writes the end of a call down; what comes back is why that failed.
    async fn unwritten(&self, session: &Session, outcome: &Outcome) -> Option<String> {
        let journal = self.journal.as_ref()?;
        let written = unbroken(async { journal.finished(session.id(), outcome).await }).await;
        written.err().map(|why| format!("the result could not be recorded: {why}"))
    }
}

/// What a handler handed back, as a value with its status, and what comes beside it.
fn answer(end: Result<Reply, ToolError>) -> (Status, Value, Vec<Attachment>) {
    let mut attachments = Vec::new();
    let value = match end {
        Ok(Reply::Attached(value, beside)) => {
            attachments = beside;
            value
        }
        Ok(Reply::Json(value)) => value,
        Ok(Reply::Text(text)) => from_text(&text),
        Ok(Reply::Bytes(bytes)) => from_text(&String::from_utf8_lossy(&bytes)),
        Err(error) => return (status_of(&error), error_value(&error), attachments),
    };
    // A tool may answer with an error of its own making; a field that is null or false is none.
    let failed = match value.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    };
    (if failed { Status::Failed } else { Status::Ok }, value, attachments)
}

/// How a call ended whose answer is kept back: whoever reads that it went well would miss it. What went wrong
/// before stays what it is.
fn kept_back(status: Status) -> Status {
    if status.is_ok() { Status::Withheld } else { status }
}

/// Text that is a JSON object or list is that, with every digit of its numbers; other text is the result.
fn from_text(text: &str) -> Value {
    match exact(text) {
        Some(value @ (Value::Object(_) | Value::Array(_))) => value,
        _ => json!({ "result": text }),
    }
}

fn status_of(error: &ToolError) -> Status {
    match error {
        ToolError::Arguments(_) => Status::Invalid,
        ToolError::UnknownTool(_) => Status::Unknown,
        ToolError::Denied { .. } | ToolError::Undeclared(_) => Status::Denied,
        ToolError::TimedOut(_)
        | ToolError::Unanswered(_)
        | ToolError::NotSent(_)
        | ToolError::OutOfTime(_) => Status::TimedOut,
        ToolError::Cancelled => Status::Cancelled,
        ToolError::Broken(_) => Status::Broken,
        ToolError::NeedsSession(_)
        | ToolError::Unrecorded(_)
        | ToolError::Failed(_)
        | ToolError::File(_)
        | ToolError::Web(_)
        | ToolError::Environment(_) => Status::Failed,
    }
}

fn error_value(error: &ToolError) -> Value {
    json!({ "error": sanitise_error(&error.to_string()) })
}

/// Adds the loop guard's remark, if it has one.
fn note_repetition(session: &Session, ran: &Ran, status: Status, value: Value) -> Value {
    let result = digest(&value);
    let (tool, read_only) = (ran.view.tool.as_ref(), ran.entry.is_read_only());
    let finding = session.guard(|guard| guard.after(tool, ran.digest, read_only, status.is_ok(), result));
    match finding {
        None => value,
        Some(finding) => finding.attach(value),
    }
}

fn redact_strings(redact: &dyn Redact, value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = redact.redact(text) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact_strings(redact, item)),
        Value::Object(fields) => fields.values_mut().for_each(|field| redact_strings(redact, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A value as text; values always can be written.
fn to_text(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
