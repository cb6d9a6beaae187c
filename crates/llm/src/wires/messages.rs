//! Requests in the language of Anthropic messages.

use hermes_core::model::{ModelRequest, Part};
use serde_json::{Map, Value, json};

use super::chat::{NOT_SHOWN, cache_control, is_from};
use super::{effort, streams};
use crate::adapt::Lessons;
use crate::endpoint::Endpoint;
use crate::lenient::{self, sendable};
use crate::prepare::{Said, ToolResult, Turn, prepare};

/// Messages that carry a cache mark, besides the system prompt.
const MARKED: usize = 3;

/// Pictures from results that are sent; older ones are left out.
const MAX_RESULT_PICTURES: usize = 3;

/// The limit of an answer when nobody says one: this wire must have it.
const MAX_TOKENS: u64 = 32_000;

pub(super) fn body(endpoint: &Endpoint, request: &ModelRequest, lessons: Lessons) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), endpoint.model.as_str().into());
    let marks = endpoint.quirks.cache.wanted_by(&endpoint.model) && !lessons.no_cache_marks;
    if !request.system.is_empty() {
        let mut block = json!({ "type": "text", "text": sendable(&request.system) });
        if marks {
            mark(&mut block, endpoint);
        }
        body.insert("system".into(), json!([block]));
    }
    let mut messages = messages(endpoint, request, lessons);
    if marks {
        mark_last(&mut messages, endpoint);
    }
    body.insert("messages".into(), messages.into());
    let most = request.max_tokens.or(endpoint.max_tokens).unwrap_or(MAX_TOKENS);
    let most = think(&mut body, endpoint, request, lessons, most);
    body.insert("max_tokens".into(), most.into());
    if streams(endpoint, lessons) {
        body.insert("stream".into(), true.into());
    }
    body
}

/// Asks for thoughts where it was told how hard to think; answers the limit that leaves room.
fn think(
    body: &mut Map<String, Value>,
    endpoint: &Endpoint,
    request: &ModelRequest,
    lessons: Lessons,
    most: u64,
) -> u64 {
    let Some(effort) = effort(endpoint, request, lessons).filter(|effort| *effort != "none") else {
        return most;
    };
    if is_adaptive(&endpoint.model) {
        let effort = match effort {
            "minimal" => "low",
            "xhigh" | "ultra" => "max",
            other => other,
        };
        body.insert("thinking".into(), json!({ "type": "adaptive" }));
        body.insert("output_config".into(), json!({ "effort": effort }));
        return most;
    }
    let budget: u64 = match effort {
        "minimal" | "low" => 4_096,
        "medium" => 8_192,
        "high" => 16_384,
        _ => 32_768,
    };
    // A call in progress must begin with the thoughts it came from; without them, no thinking.
    if !begins_with_thoughts(body) {
        return most;
    }
    body.insert("thinking".into(), json!({ "type": "enabled", "budget_tokens": budget }));
    most.max(budget.saturating_add(4_096))
}

/// Models that decide themselves how long to think.
fn is_adaptive(model: &str) -> bool {
    let model = model.to_ascii_lowercase().replace('.', "-");
    let new = ["-4-6", "-4-7", "-4-8", "-4-9", "opus-5", "sonnet-5", "haiku-5"];
    model.contains("claude") && new.iter().any(|name| model.contains(name))
}

fn begins_with_thoughts(body: &Map<String, Value>) -> bool {
    let messages = body.get("messages").and_then(Value::as_array);
    let last = messages.into_iter().flatten().rev().find(|message| message["role"] == "assistant");
    let blocks = last.and_then(|message| message["content"].as_array());
    blocks.is_none_or(|blocks| {
        let calls = blocks.iter().any(|block| block["type"] == "tool_use");
        let thinks = blocks.first().is_some_and(is_thought);
        thinks || !calls
    })
}

fn is_thought(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

/// A tool in the words of this wire.
pub(super) fn tool(definition: &Value) -> Option<Value> {
    let function = definition.get("function")?;
    let name = function.get("name")?;
    let description = function.get("description").cloned().unwrap_or_else(|| "".into());
    let mut schema = function.get("parameters").and_then(Value::as_object).cloned().unwrap_or_default();
    // At the top only an object is taken.
    for field in ["oneOf", "allOf", "anyOf"] {
        schema.shift_remove(field);
    }
    schema.entry("type").or_insert_with(|| "object".into());
    schema.entry("properties").or_insert_with(|| json!({}));
    Some(json!({ "name": name, "description": description, "input_schema": schema }))
}

fn messages(endpoint: &Endpoint, request: &ModelRequest, lessons: Lessons) -> Vec<Value> {
    let turns = prepare(&request.messages, endpoint.quirks.call_ids);
    let pictures: usize =
        turns.iter().map(|turn| if let Turn::Tool(result) = turn { result.images.len() } else { 0 }).sum();
    let mut too_many = pictures.saturating_sub(MAX_RESULT_PICTURES);
    let mut messages = Messages(Vec::with_capacity(turns.len()));
    if matches!(turns.first(), Some(Turn::Assistant(_))) {
        messages.add("user", vec![json!({ "type": "text", "text": "(The conversation goes on.)" })]);
    }
    for turn in &turns {
        match turn {
            Turn::User(parts) => {
                messages.add("user", parts.iter().map(|part| self::part(endpoint, part)).collect());
            }
            Turn::Assistant(said) => messages.add("assistant", assistant(endpoint, said, lessons)),
            Turn::Tool(result) => {
                let skip = too_many.min(result.images.len());
                too_many -= skip;
                messages.add("user", vec![tool_result(endpoint, result, skip)]);
            }
        }
    }
    messages.0
}

/// Messages in which roles take turns.
struct Messages(Vec<Value>);

impl Messages {
    fn add(&mut self, role: &str, blocks: Vec<Value>) {
        if blocks.is_empty() {
            return;
        }
        if let Some(last) = self.0.last_mut().filter(|last| last["role"] == role)
            && let Some(content) = last.get_mut("content").and_then(Value::as_array_mut)
        {
            content.extend(blocks);
            return;
        }
        self.0.push(json!({ "role": role, "content": blocks }));
    }
}

fn part(endpoint: &Endpoint, part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({ "type": "text", "text": sendable(text) }),
        Part::Image { url } => picture(endpoint, url),
    }
}

fn picture(endpoint: &Endpoint, url: &str) -> Value {
    if !endpoint.sees {
        return json!({ "type": "text", "text": NOT_SHOWN });
    }
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let source = match inline {
        Some((kind, bytes)) => json!({ "type": "base64", "media_type": kind, "data": bytes }),
        None => json!({ "type": "url", "url": url }),
    };
    json!({ "type": "image", "source": source })
}

fn assistant(endpoint: &Endpoint, said: &Said<'_>, lessons: Lessons) -> Vec<Value> {
    let mut blocks = Vec::new();
    if is_from(endpoint, said) && !lessons.no_thoughts {
        let kept = said.message.keep.get("thinking_blocks").and_then(Value::as_array);
        blocks.extend(kept.into_iter().flatten().cloned());
    }
    // Words of nothing but space are refused here.
    if !said.text.trim().is_empty() {
        blocks.push(json!({ "type": "text", "text": sendable(said.text.trim_end()) }));
    }
    for called in &said.calls {
        let input = object(&called.call.arguments);
        blocks.push(json!({ "type": "tool_use", "id": called.id, "name": called.call.name, "input": input }));
    }
    blocks
}

/// Arguments as the object this wire must have; what is none is passed on as text.
fn object(arguments: &str) -> Value {
    match lenient::parse(arguments) {
        Some(Value::Object(object)) => Value::Object(object),
        _ if arguments.trim().is_empty() => json!({}),
        _ => json!({ "arguments": sendable(arguments) }),
    }
}

fn tool_result(endpoint: &Endpoint, result: &ToolResult<'_>, skip: usize) -> Value {
    let text = if result.content.trim().is_empty() { "(empty)".into() } else { sendable(result.content) };
    let shown = result.images.iter().skip(skip).filter(|_| endpoint.sees);
    let mut content = vec![json!({ "type": "text", "text": text })];
    content.extend(shown.map(|url| picture(endpoint, url)));
    let content = if content.len() == 1 { Value::String(text.into_owned()) } else { content.into() };
    json!({ "type": "tool_result", "tool_use_id": result.id, "content": content })
}

fn mark(block: &mut Value, endpoint: &Endpoint) {
    if let Some(block) = block.as_object_mut() {
        block.insert("cache_control".into(), cache_control(endpoint.cache_ttl));
    }
}

/// Marks the last block of the last messages; thoughts take no mark.
fn mark_last(messages: &mut [Value], endpoint: &Endpoint) {
    for message in messages.iter_mut().rev().take(MARKED) {
        let blocks = message.get_mut("content").and_then(Value::as_array_mut);
        if let Some(last) = blocks.and_then(|blocks| blocks.iter_mut().rev().find(|block| !is_thought(block)))
        {
            mark(last, endpoint);
        }
    }
}
