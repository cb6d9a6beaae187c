//! Requests in the language of `OpenAI` responses.

use hermes_core::hex::hex;
use hermes_core::model::{ModelRequest, Part};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::chat::{NOT_SHOWN, is_from};
use super::{effort, streams};
use crate::adapt::Lessons;
use crate::endpoint::Endpoint;
use crate::lenient::sendable;
use crate::prepare::{Said, Turn, prepare};

pub(super) fn body(
    endpoint: &Endpoint,
    request: &ModelRequest,
    tools: Option<&str>,
    lessons: Lessons,
) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), endpoint.model.as_str().into());
    if !request.system.is_empty() {
        body.insert("instructions".into(), sendable(&request.system).into());
    }
    body.insert("input".into(), input(endpoint, request, lessons).into());
    if tools.is_some() {
        body.insert("tool_choice".into(), "auto".into());
        body.insert("parallel_tool_calls".into(), true.into());
    }
    body.insert("store".into(), false.into());
    if let Some(effort) = effort(endpoint, request, lessons) {
        body.insert("reasoning".into(), json!({ "effort": known_effort(effort), "summary": "auto" }));
    }
    if !lessons.no_thoughts {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    body.insert("prompt_cache_key".into(), cache_key(request, tools.unwrap_or_default()).into());
    if let Some(most) = request.max_tokens.or(endpoint.max_tokens).filter(|_| !lessons.no_max_tokens) {
        body.insert("max_output_tokens".into(), most.into());
    }
    if streams(endpoint, lessons) {
        body.insert("stream".into(), true.into());
    }
    body
}

fn known_effort(effort: &str) -> &str {
    match effort {
        "max" | "ultra" => "xhigh",
        other => other,
    }
}

/// Requests that begin alike share a key, so that they reach the same cache.
fn cache_key(request: &ModelRequest, tools: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(request.system.as_bytes());
    digest.update([0]);
    digest.update(tools.as_bytes());
    format!("hermes-{}", hex(digest.finalize().get(..24).unwrap_or_default()))
}

/// A tool in the words of this wire: its function, without the wrapping.
pub(super) fn tool(definition: &Value) -> Option<Value> {
    let function = definition.get("function")?.as_object()?;
    let mut tool = Map::new();
    tool.insert("type".into(), "function".into());
    for field in ["name", "description", "parameters"] {
        if let Some(value) = function.get(field) {
            tool.insert(field.into(), value.clone());
        }
    }
    tool.insert("strict".into(), false.into());
    Some(tool.into())
}

fn input(endpoint: &Endpoint, request: &ModelRequest, lessons: Lessons) -> Vec<Value> {
    let mut input = Vec::with_capacity(request.messages.len());
    let mut pictures = Vec::new();
    for turn in prepare(&request.messages, endpoint.quirks.call_ids) {
        if !pictures.is_empty() && matches!(turn, Turn::Assistant(_)) {
            input.push(json!({ "role": "user", "content": std::mem::take(&mut pictures) }));
        }
        match turn {
            Turn::User(parts) => {
                let mut content = std::mem::take(&mut pictures);
                content.extend(parts.iter().map(|part| self::part(endpoint, part)));
                input.push(json!({ "role": "user", "content": content }));
            }
            Turn::Assistant(said) => assistant(endpoint, &said, lessons, &mut input),
            Turn::Tool(result) => {
                for url in result.images.iter().filter(|_| endpoint.sees) {
                    let words = format!("Picture from the result of {} ({}):", result.name, result.id);
                    pictures.push(json!({ "type": "input_text", "text": words }));
                    pictures.push(json!({ "type": "input_image", "image_url": url }));
                }
                let output = sendable(result.content);
                input.push(json!({ "type": "function_call_output", "call_id": result.id, "output": output }));
            }
        }
    }
    if !pictures.is_empty() {
        input.push(json!({ "role": "user", "content": pictures }));
    }
    input
}

fn part(endpoint: &Endpoint, part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({ "type": "input_text", "text": sendable(text) }),
        Part::Image { url } if endpoint.sees => json!({ "type": "input_image", "image_url": url }),
        Part::Image { .. } => json!({ "type": "input_text", "text": NOT_SHOWN }),
    }
}

fn assistant(endpoint: &Endpoint, said: &Said<'_>, lessons: Lessons, input: &mut Vec<Value>) {
    if is_from(endpoint, said) && !lessons.no_thoughts {
        let items = said.message.keep.get("reasoning_items").and_then(Value::as_array);
        input.extend(items.into_iter().flatten().cloned());
    }
    if !said.text.is_empty() {
        let content = json!([{ "type": "output_text", "text": sendable(&said.text) }]);
        input.push(json!({ "type": "message", "role": "assistant", "content": content }));
    }
    for called in &said.calls {
        let arguments = sendable(&called.call.arguments);
        let (id, name) = (&called.id, &called.call.name);
        input.push(json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments }));
    }
}
