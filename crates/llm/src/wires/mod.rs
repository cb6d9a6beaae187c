//! The three languages models are spoken to in. Pure: a request becomes a body, a stream of events
//! becomes an answer; nothing here opens a connection.

mod answer;
mod chat;
mod chat_answer;
mod messages;
mod messages_answer;
mod numbers;
mod responses;
mod responses_answer;

use std::sync::Arc;

use hermes_core::model::{ModelEvent, ModelReply, ModelRequest};
use serde_json::{Map, Value};

use crate::adapt::Lessons;
use crate::endpoint::Endpoint;
use crate::lenient;
use crate::provider::Wire;
use hermes_net::SseEvent;

pub(crate) use answer::Answer;

/// What goes wrong while an answer is read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// The server says so, in this JSON.
    Said(Value),
    /// It cannot be understood.
    Garbled(String),
}

/// The path of a request below the base address.
pub(crate) fn path(wire: Wire, base_url: &str) -> &'static str {
    match wire {
        Wire::Chat => "/chat/completions",
        Wire::Responses => "/responses",
        Wire::Messages if base_url.trim_end_matches('/').ends_with("/v1") => "/messages",
        Wire::Messages => "/v1/messages",
    }
}

/// The definitions of the tools in the words of a wire; none when there are no tools.
pub(crate) fn tools(wire: Wire, tools: &Arc<str>, lessons: Lessons) -> Option<Arc<str>> {
    let trimmed = tools.trim();
    if trimmed.is_empty() || trimmed == "[]" {
        return None;
    }
    if wire == Wire::Chat && !lessons.plain_schemas {
        return Some(Arc::clone(tools));
    }
    let mut all: Vec<Value> = serde_json::from_str(tools).ok()?;
    if lessons.plain_schemas {
        all.iter_mut().for_each(without_patterns);
    }
    let all: Vec<Value> = match wire {
        Wire::Chat => all,
        Wire::Responses => all.iter().filter_map(responses::tool).collect(),
        Wire::Messages => all.iter().filter_map(messages::tool).collect(),
    };
    serde_json::to_string(&all).ok().map(Into::into)
}

/// Takes out what servers that turn schemas into grammars stumble over.
fn without_patterns(value: &mut Value) {
    match value {
        Value::Object(object) => {
            // A parameter may itself be called `pattern`; then its value is a schema, not text.
            object.retain(|key, value| !(matches!(key.as_str(), "pattern" | "format") && value.is_string()));
            object.values_mut().for_each(without_patterns);
        }
        Value::Array(items) => items.iter_mut().for_each(without_patterns),
        _ => {}
    }
}

/// The body of a request. The same conversation gives the same bytes.
pub(crate) fn body(
    endpoint: &Endpoint,
    request: &ModelRequest,
    tools: Option<&str>,
    lessons: Lessons,
) -> String {
    let mut body = match endpoint.wire {
        Wire::Chat => chat::body(endpoint, request, tools.is_some(), lessons),
        Wire::Responses => responses::body(endpoint, request, tools, lessons),
        Wire::Messages => messages::body(endpoint, request, lessons),
    };
    for (name, value) in &endpoint.extra_body {
        body.insert(name.clone(), value.clone());
    }
    splice(&body, tools)
}

/// Writes the body with the tools as they stand: they are large, and already written.
fn splice(body: &Map<String, Value>, tools: Option<&str>) -> String {
    let mut text = serde_json::to_string(body).unwrap_or_default();
    if let Some(tools) = tools
        && text.pop().is_some()
    {
        text.reserve(tools.len() + 12);
        text.push_str(",\"tools\":");
        text.push_str(tools);
        text.push('}');
    }
    text
}

/// Whether the request asks for a stream.
fn streams(endpoint: &Endpoint, lessons: Lessons) -> bool {
    endpoint.stream && !lessons.no_stream
}

/// How hard to think, where the request or the endpoint says.
fn effort<'a>(endpoint: &'a Endpoint, request: &'a ModelRequest, lessons: Lessons) -> Option<&'a str> {
    let effort = request.effort.as_deref().or(endpoint.effort.as_deref()).map(str::trim);
    effort.filter(|effort| !effort.is_empty() && !lessons.no_effort)
}

/// Reads an answer in one of the languages.
pub(crate) enum Decoder {
    Chat(chat_answer::ChatDecoder),
    Responses(responses_answer::ResponsesDecoder),
    Messages(messages_answer::MessagesDecoder),
}

impl Decoder {
    pub(crate) fn new(wire: Wire, answer: Answer) -> Self {
        match wire {
            Wire::Chat => Self::Chat(chat_answer::ChatDecoder::new(answer)),
            Wire::Responses => Self::Responses(responses_answer::ResponsesDecoder::new(answer)),
            Wire::Messages => Self::Messages(messages_answer::MessagesDecoder::new(answer)),
        }
    }

    /// Takes one event of a stream.
    pub(crate) fn event(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.answer().ended = true;
            return Ok(());
        }
        let value =
            lenient::parse(data).ok_or_else(|| Fault::Garbled(format!("no JSON: {}", shorten(data))))?;
        if event.event == "error" && value.get("error").is_none() && value.get("type").is_none() {
            return Err(Fault::Said(value));
        }
        match self {
            Self::Chat(decoder) => decoder.chunk(&value, out),
            Self::Responses(decoder) => decoder.event(&value, out),
            Self::Messages(decoder) => decoder.event(&value, out),
        }
    }

    /// Takes an answer that came whole.
    pub(crate) fn whole(&mut self, value: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        match self {
            Self::Chat(decoder) => decoder.chunk(value, out),
            Self::Responses(decoder) => decoder.whole(value, out),
            Self::Messages(decoder) => decoder.whole(value, out),
        }?;
        self.answer().ended = true;
        Ok(())
    }

    /// The answer, when nothing more comes.
    pub(crate) fn finish(self, out: &mut Vec<ModelEvent>) -> Result<ModelReply, Fault> {
        match self {
            Self::Chat(decoder) => decoder.into_answer().finish(out),
            Self::Responses(decoder) => decoder.into_answer().finish(out),
            Self::Messages(decoder) => decoder.into_answer().finish(out),
        }
    }

    fn answer(&mut self) -> &mut Answer {
        match self {
            Self::Chat(decoder) => decoder.answer(),
            Self::Responses(decoder) => decoder.answer(),
            Self::Messages(decoder) => decoder.answer(),
        }
    }
}

/// An excerpt for an error message.
pub(crate) fn shorten(text: &str) -> String {
    const MOST: usize = 300;
    let flat: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= MOST { flat } else { flat.chars().take(MOST).chain(['…']).collect() }
}

#[cfg(test)]
mod tests;
