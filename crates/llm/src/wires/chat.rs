//! Requests in the language of `OpenAI` chat completions.

use hermes_core::model::{ModelRequest, Part};
use serde_json::{Map, Value, json};

use super::{effort, streams};
use crate::adapt::Lessons;
use crate::endpoint::{CacheTtl, Endpoint};
use crate::lenient::sendable;
use crate::prepare::{Said, ToolResult, Turn, prepare};
use crate::provider::{EffortStyle, MaxTokens, Thoughts};

/// Messages that carry a cache mark, besides the system prompt.
const MARKED: usize = 3;

/// In the place of a picture for a model that does not see.
pub(super) const NOT_SHOWN: &str = "[a picture, not shown: this model does not look at pictures]";

pub(super) fn body(
    endpoint: &Endpoint,
    request: &ModelRequest,
    tools: bool,
    lessons: Lessons,
) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), endpoint.model.as_str().into());
    body.insert("messages".into(), messages(endpoint, request, lessons).into());
    if tools {
        body.insert("tool_choice".into(), "auto".into());
    }
    if let Some(most) = request.max_tokens.or(endpoint.max_tokens).filter(|_| !lessons.no_max_tokens) {
        let completion =
            endpoint.quirks.max_tokens == MaxTokens::MaxCompletionTokens || lessons.completion_tokens;
        let name = if completion { "max_completion_tokens" } else { "max_tokens" };
        body.insert(name.into(), most.into());
    }
    if let Some(effort) = effort(endpoint, request, lessons) {
        think(&mut body, endpoint.quirks.effort, effort);
    }
    if streams(endpoint, lessons) {
        body.insert("stream".into(), true.into());
        if endpoint.quirks.stream_options && !lessons.no_stream_options {
            body.insert("stream_options".into(), json!({ "include_usage": true }));
        }
    }
    body
}

fn think(body: &mut Map<String, Value>, style: EffortStyle, effort: &str) {
    let off = effort == "none";
    match style {
        EffortStyle::None => {}
        EffortStyle::Word => {
            let word = match effort {
                "xhigh" | "max" | "ultra" => "high",
                other => other,
            };
            body.insert("reasoning_effort".into(), word.into());
        }
        EffortStyle::Object if off => {
            body.insert("reasoning".into(), json!({ "enabled": false }));
        }
        EffortStyle::Object => {
            body.insert("reasoning".into(), json!({ "enabled": true, "effort": effort }));
        }
        EffortStyle::Switch => {
            let kind = if off { "disabled" } else { "enabled" };
            body.insert("thinking".into(), json!({ "type": kind }));
        }
    }
}

fn messages(endpoint: &Endpoint, request: &ModelRequest, lessons: Lessons) -> Vec<Value> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        let role = if wants_developer(endpoint) { "developer" } else { "system" };
        messages.push(json!({ "role": role, "content": sendable(&request.system) }));
    }
    let mut pictures = Vec::new();
    for turn in prepare(&request.messages, endpoint.quirks.call_ids) {
        if !matches!(turn, Turn::Tool(_)) && !pictures.is_empty() && !matches!(turn, Turn::User(_)) {
            messages.push(json!({ "role": "user", "content": std::mem::take(&mut pictures) }));
        }
        match turn {
            Turn::User(parts) => messages.push(user(endpoint, std::mem::take(&mut pictures), &parts)),
            Turn::Assistant(said) => messages.push(assistant(endpoint, &said, lessons)),
            Turn::Tool(result) => messages.push(tool(endpoint, &result, &mut pictures)),
        }
    }
    if !pictures.is_empty() {
        messages.push(json!({ "role": "user", "content": pictures }));
    }
    if endpoint.quirks.cache.wanted_by(&endpoint.model) && !lessons.no_cache_marks {
        mark(&mut messages, endpoint.cache_ttl);
    }
    messages
}

/// Newer `OpenAI` models take their orders from the developer.
fn wants_developer(endpoint: &Endpoint) -> bool {
    let model = endpoint.model.to_ascii_lowercase();
    endpoint.quirks.developer && ["gpt-5", "codex", "o1", "o3", "o4"].iter().any(|name| model.contains(name))
}

fn user(endpoint: &Endpoint, mut content: Vec<Value>, parts: &[&Part]) -> Value {
    let words: Option<Vec<_>> = parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => Some(sendable(text)),
            Part::Image { .. } => None,
        })
        .collect();
    if let Some(words) = words
        && content.is_empty()
    {
        return json!({ "role": "user", "content": words.join("\n\n") });
    }
    content.extend(parts.iter().map(|part| match part {
        Part::Text { text } => json!({ "type": "text", "text": sendable(text) }),
        Part::Image { url } => picture(endpoint, url),
    }));
    json!({ "role": "user", "content": content })
}

fn picture(endpoint: &Endpoint, url: &str) -> Value {
    if endpoint.sees && url.starts_with("data:video/") {
        json!({ "type": "video_url", "video_url": { "url": url } })
    } else if endpoint.sees {
        json!({ "type": "image_url", "image_url": { "url": url } })
    } else {
        json!({ "type": "text", "text": NOT_SHOWN })
    }
}

fn assistant(endpoint: &Endpoint, said: &Said<'_>, lessons: Lessons) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    let content = if said.text.is_empty() { Value::Null } else { sendable(&said.text).into() };
    message.insert("content".into(), content);
    if !lessons.no_thoughts {
        thoughts(&mut message, endpoint, said);
    }
    if !said.calls.is_empty() {
        let extras = said.message.keep.get("call_extra").filter(|_| is_from(endpoint, said));
        let calls: Vec<Value> = said
            .calls
            .iter()
            .map(|called| {
                let function =
                    json!({ "name": called.call.name, "arguments": sendable(&called.call.arguments) });
                let mut call = json!({ "id": called.id, "type": "function", "function": function });
                if let Some(extra) = extras.and_then(|extras| extras.get(&called.call.id))
                    && let Some(call) = call.as_object_mut()
                {
                    call.insert("extra_content".into(), extra.clone());
                }
                call
            })
            .collect();
        message.insert("tool_calls".into(), calls.into());
    }
    message.into()
}

/// Whether an answer came from the endpoint that is asked now.
pub(super) fn is_from(endpoint: &Endpoint, said: &Said<'_>) -> bool {
    said.message.keep.get("from").and_then(Value::as_str) == Some(endpoint.label().as_str())
}

fn thoughts(message: &mut Map<String, Value>, endpoint: &Endpoint, said: &Said<'_>) {
    let reasoning = said.message.reasoning.as_deref().unwrap_or_default();
    match endpoint.quirks.thoughts {
        Thoughts::Drop => {}
        Thoughts::InTurn(_) if !said.in_turn => {}
        Thoughts::InTurn(field) | Thoughts::Always(field) => {
            if !reasoning.is_empty() {
                message.insert(field.into(), sendable(reasoning).into());
            }
        }
        Thoughts::Details => {
            if let Some(details) =
                said.message.keep.get("reasoning_details").filter(|_| is_from(endpoint, said))
            {
                message.insert("reasoning_details".into(), details.clone());
            }
        }
    }
}

fn tool(endpoint: &Endpoint, result: &ToolResult<'_>, pictures: &mut Vec<Value>) -> Value {
    for url in result.images {
        if endpoint.sees {
            let words = format!("Picture from the result of {} ({}):", result.name, result.id);
            pictures.push(json!({ "type": "text", "text": words }));
            pictures.push(picture(endpoint, url));
        }
    }
    json!({ "role": "tool", "tool_call_id": result.id, "name": result.name, "content": sendable(result.content) })
}

/// Puts cache marks on the system prompt and the last messages that have words.
fn mark(messages: &mut [Value], ttl: CacheTtl) {
    let is_system = |message: &Value| matches!(message["role"].as_str(), Some("system" | "developer"));
    let (system, rest) = match messages.split_first_mut() {
        Some((first, rest)) if is_system(first) => (Some(first), rest),
        Some(_) => (None, messages),
        None => return,
    };
    let marked = rest.iter_mut().rev().filter(|message| !message["content"].is_null()).take(MARKED);
    for message in system.into_iter().chain(marked) {
        let Some(content) = message.get_mut("content") else { continue };
        if let Some(text) = content.as_str() {
            *content = json!([{ "type": "text", "text": text }]);
        }
        if let Some(Value::Object(last)) = content.as_array_mut().and_then(|parts| parts.last_mut()) {
            last.insert("cache_control".into(), cache_control(ttl));
        }
    }
}

/// A cache mark.
pub(super) fn cache_control(ttl: CacheTtl) -> Value {
    match ttl {
        CacheTtl::Short => json!({ "type": "ephemeral" }),
        CacheTtl::Long => json!({ "type": "ephemeral", "ttl": "1h" }),
    }
}
