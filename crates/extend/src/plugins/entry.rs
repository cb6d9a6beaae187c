//! An offered tool as an entry of the registry: it takes the road like every other, and its handler
//! is a request to the program it lives in.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::future::BoxFuture;
use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolError;
use hermes_core::gate::Gate;
use hermes_core::outcome::Attachment;
use hermes_core::registry::{Scope, Source};
use hermes_core::session::Place;
use hermes_core::tool::{Handler, MaxSize, PreparedCall, Reply, ToolEntry};
use hermes_core::toolset::DynamicToolset;
use serde_json::{Map, Value, json};

use super::desk::Desk;
use super::offer::OfferedTool;
use super::subject::{CHECK, Subject};
use crate::rpc::RpcError;

/// The one state that tools in foreign programs share: their calls never overlap within a batch.
const STATE: &str = "state in foreign tools";

/// Remembers checks that did not answer.
pub trait Checks: Send + Sync {
    /// Whether this one did not, a while ago.
    fn hung_lately(&self, check: &str) -> bool;

    /// This one did not.
    fn hung(&self, check: &str);
}

/// Who a tool belongs to, and what it may.
#[derive(Clone)]
pub struct Owner {
    /// The program it lives in.
    pub subject: Arc<Subject>,
    /// Where it may ask for more.
    pub desk: Arc<Desk>,
    /// The toolset of tools that name none.
    pub toolset: String,
    /// Whether it may stand in for tools of others.
    pub may_override: bool,
    /// Variables that its code reads: what is missing of them is told when its own check says no.
    pub reads: Vec<String>,
    /// Where checks that did not answer are remembered, and by what: nowhere when they are to be asked in any
    /// case.
    pub checks: Option<(Arc<dyn Checks>, String)>,
}

/// The tools of one source, and the toolsets they are in. A name that cannot be had costs that tool and
/// nothing else.
pub fn scope(source: Source, tools: &[OfferedTool], owner: &Owner) -> Scope {
    let entries: Vec<ToolEntry> = tools.iter().map(|tool| entry(tool, owner)).collect();
    let mut names: Vec<Arc<str>> = entries.iter().map(|entry| Arc::clone(entry.toolset())).collect();
    names.sort();
    names.dedup();
    let toolsets = names.into_iter().map(|name| DynamicToolset { name, ..DynamicToolset::default() });
    let scope = toolsets.fold(Scope::new(source).in_parts(), Scope::toolset);
    entries.into_iter().fold(scope, Scope::tool)
}

/// The entry of an offered tool.
fn entry(tool: &OfferedTool, owner: &Owner) -> ToolEntry {
    let toolset = Some(tool.toolset.as_str()).filter(|name| !name.is_empty()).unwrap_or(&owner.toolset);
    let name: Arc<str> = tool.name.as_str().into();
    let (subject, desk) = (Arc::clone(&owner.subject), Arc::clone(&owner.desk));
    let handler = OfferedHandler { subject, desk, name: Arc::clone(&name) };
    let mut entry = ToolEntry::new(name, toolset, tool.lazy_definition(), handler)
        .gate(gate(tool, owner))
        .requires_env(tool.requires_env.iter().cloned())
        .trusted()
        .alone();
    if !tool.emoji.is_empty() {
        entry = entry.emoji(tool.emoji.clone());
    }
    if let Some(max) = tool.max_result_size_chars {
        entry = entry.max_result(max_size(max));
    }
    if tool.overrides && owner.may_override {
        entry = entry.overriding();
    }
    entry
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just before")]
fn max_size(chars: f64) -> MaxSize {
    if chars.is_finite() && chars < 1e15 {
        MaxSize::Chars(chars.max(0.0) as usize)
    } else {
        MaxSize::Unlimited
    }
}

/// Its variables first, and only then its own check: a program is not started for what is missing anyway.
fn gate(tool: &OfferedTool, owner: &Owner) -> Gate {
    let (subject, reads) = (&owner.subject, owner.reads.clone());
    let needs = tool.requires_env.clone();
    if !tool.check {
        return match needs.as_slice() {
            [] => Gate::Open,
            _ => Gate::All(needs.into_iter().map(Gate::env).collect()),
        };
    }
    let words = format!("the check of `{}` in {} agrees", tool.name, subject.name());
    let (subject, name) = (Arc::clone(subject), tool.name.clone());
    let memory = owner.checks.clone().map(|(checks, of)| (checks, format!("{of} {name}")));
    Gate::check(words, move |probe| {
        let missing: Vec<String> =
            needs.iter().filter(|name| !probe.env(name)).map(|name| format!("needs {name}")).collect();
        let unset: Vec<String> = reads.iter().filter(|name| !probe.env(name)).cloned().collect();
        let (subject, name, memory) = (Arc::clone(&subject), name.clone(), memory.clone());
        async move {
            if !missing.is_empty() {
                return Err(missing.join("; "));
            }
            if memory.as_ref().is_some_and(|(checks, check)| checks.hung_lately(check)) {
                return Err("its check did not answer a while ago, and is asked again later".to_owned());
            }
            let Some(said) = subject.check(&name).await else {
                if let Some((checks, check)) = memory {
                    checks.hung(&check);
                }
                let limit = CHECK.as_secs();
                return Err(format!(
                    "its check does not answer; it may take {limit} s, and is asked again later"
                ));
            };
            let said = said.map_err(|wrong| format!("its check failed: {wrong}"))?;
            match said.get("available").and_then(Value::as_bool) {
                Some(true) => Ok(()),
                _ => Err(refusal(&said, &unset)),
            }
        }
    })
}

/// Why a tool's own check keeps it out.
fn refusal(said: &Value, unset: &[String]) -> String {
    match (said.get("reason").and_then(Value::as_str), unset) {
        (Some(reason), _) => reason.to_owned(),
        (None, []) => "its own check says no".to_owned(),
        (None, unset) => format!("its own check says no; not set: {}", unset.join(", ")),
    }
}

/// Calls an offered tool.
#[derive(Clone)]
struct OfferedHandler {
    subject: Arc<Subject>,
    desk: Arc<Desk>,
    name: Arc<str>,
}

struct OfferedCall {
    of: OfferedHandler,
    arguments: Map<String, Value>,
}

impl Handler for OfferedHandler {
    fn prepare(&self, arguments: Map<String, Value>) -> Result<Box<dyn PreparedCall>, ToolError> {
        Ok(Box::new(OfferedCall { of: self.clone(), arguments }))
    }
}

impl PreparedCall for OfferedCall {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        // Whoever put the file there, or accepted it, agreed to what it does; what that is nobody knows, and
        // so nothing else runs beside it and a call that was cut off does not run at all.
        vec![Effect::WriteSlot(STATE)]
    }

    fn run(self: Box<Self>, cx: &ToolCx) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(call(self.of, self.arguments, cx))
    }
}

async fn call(of: OfferedHandler, arguments: Map<String, Value>, cx: &ToolCx) -> Result<Reply, ToolError> {
    let OfferedHandler { subject, desk, name } = of;
    let admitted = desk.admit(cx);
    let session = cx.session_id();
    let params = json!({
        "name": &*name,
        "arguments": arguments,
        "within": admitted.number(),
        "context": {
            "task_id": session,
            "session_id": session,
            "tool_call_id": cx.told_id(),
            "user_task": null,
        },
    });
    match subject.ask("tool.call", params).await {
        Ok(said) => {
            if let Some(trace) = said.get("trace").and_then(Value::as_str) {
                desk.raised(trace.to_owned());
            }
            reply(said, &name)
        }
        Err(RpcError::Answered { message, .. }) => Err(ToolError::Broken(message)),
        Err(RpcError::NotSent(why)) => Err(ToolError::Failed(format!(
            "`{name}` did not run: {} cannot be used now ({why})",
            subject.name()
        ))),
        Err(RpcError::Ended(how)) => Err(ToolError::Failed(format!(
            "the process of {} ended while `{name}` ran ({how}); the call may have had its effect and is not \
             repeated; the process comes back with the next call",
            subject.name()
        ))),
    }
}

fn reply(mut said: Value, name: &str) -> Result<Reply, ToolError> {
    let text = |key: &str| said.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(text) = text("text") {
        return Ok(Reply::Text(text));
    }
    if let Some(raised) = text("raised") {
        return Err(ToolError::Broken(raised));
    }
    if let Some(kind) = text("contract") {
        return Ok(Reply::Json(json!({
            "error": format!("the handler of `{name}` returned {kind} instead of a JSON text"),
            "error_type": "tool_result_contract",
            "tool": name,
            "result_type": kind,
        })));
    }
    if let Some(parts) = said.get("multimodal") {
        return Ok(multimodal(parts));
    }
    Ok(Reply::Json(said.get_mut("result").map(Value::take).unwrap_or(said)))
}

/// Text and pictures: the text is the document, the pictures come beside it.
fn multimodal(value: &Value) -> Reply {
    let parts = value.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut texts: Vec<&str> = value.get("text_summary").and_then(Value::as_str).into_iter().collect();
    let mut pictures = Vec::new();
    for part in parts {
        texts.extend(part.get("text").and_then(Value::as_str));
        let url = part.get("image_url").map(|image| image.get("url").unwrap_or(image));
        pictures.extend(url.and_then(Value::as_str).and_then(picture));
    }
    Reply::Attached(json!({ "text": texts.join("\n"), "pictures": pictures.len() }), pictures)
}

/// A picture from a `data:` URL.
fn picture(url: &str) -> Option<Attachment> {
    let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    let bytes = BASE64_STANDARD.decode(data).ok()?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|size| size <= Attachment::MAX_BYTES);
    fits.then(|| Attachment {
        media_type: media_type.to_owned(),
        name: "picture".to_owned(),
        bytes: bytes.into(),
    })
}
