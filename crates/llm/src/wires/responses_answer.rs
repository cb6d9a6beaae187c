//! Answers in the language of `OpenAI` responses, streamed or whole.

use hermes_core::model::{Finish, ModelEvent, Usage};
use serde_json::{Map, Value};

use super::Fault;
use super::answer::{Answer, Slot};
use super::numbers::tokens;

/// Reads events.
pub(crate) struct ResponsesDecoder {
    answer: Answer,
    reasoning: Vec<Value>,
    /// Words came as they were written, so the finished items repeat them.
    streamed_text: bool,
    streamed_thoughts: bool,
}

impl ResponsesDecoder {
    pub(super) fn new(answer: Answer) -> Self {
        Self { answer, reasoning: Vec::new(), streamed_text: false, streamed_thoughts: false }
    }

    pub(super) fn answer(&mut self) -> &mut Answer {
        &mut self.answer
    }

    pub(super) fn into_answer(mut self) -> Answer {
        if !self.reasoning.is_empty() {
            self.answer.keep.insert("reasoning_items".into(), self.reasoning.into());
        }
        self.answer
    }

    pub(super) fn event(&mut self, event: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        let delta = || event.get("delta").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "response.output_text.delta" => {
                self.streamed_text = true;
                self.answer.text(delta(), out)
            }
            "response.refusal.delta" => {
                self.streamed_text = true;
                self.answer.finish = Some(Finish::Refused);
                self.answer.text(delta(), out)
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.streamed_thoughts = true;
                self.answer.thought(delta(), out)
            }
            "response.reasoning_summary_part.done" => self.answer.thought("\n\n", out),
            "response.output_item.added" => self.item_begins(event, out),
            "response.function_call_arguments.delta" => {
                let text = delta();
                self.answer.grow(text.len())?;
                if let Some(slot) = self.answer.slot(&key(event)) {
                    slot.arguments.push_str(text);
                }
                Ok(())
            }
            "response.function_call_arguments.done" => {
                let whole = event.get("arguments").and_then(Value::as_str);
                if let (Some(slot), Some(whole)) = (self.answer.slot(&key(event)), whole) {
                    whole.clone_into(&mut slot.arguments);
                }
                Ok(())
            }
            "response.output_item.done" => match event.get("item") {
                Some(item) => self.item(&key(event), item, out),
                None => Ok(()),
            },
            "response.completed" | "response.incomplete" | "response.done" => {
                self.answer.ended = true;
                event.get("response").map_or(Ok(()), |response| self.end(response))
            }
            "response.failed" => Err(Fault::Said(event.get("response").unwrap_or(event).clone())),
            "error" => Err(Fault::Said(event.clone())),
            "" if event.get("error").is_some_and(|error| !error.is_null()) => Err(Fault::Said(event.clone())),
            _ => Ok(()),
        }
    }

    pub(super) fn whole(&mut self, response: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        if response.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::Said(response.clone()));
        }
        let Some(items) = response.get("output").and_then(Value::as_array) else {
            return Err(Fault::Garbled("the answer has no output".into()));
        };
        for (index, item) in items.iter().enumerate() {
            self.item(&index.to_string(), item, out)?;
        }
        self.end(response)
    }

    fn item_begins(&mut self, event: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        match event.get("item") {
            Some(item) if kind(item) == "function_call" => self.answer.begin(slot(&key(event), item), out),
            _ => Ok(()),
        }
    }

    /// A finished item.
    fn item(&mut self, key: &str, item: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        match kind(item) {
            "function_call" => {
                let done = slot(key, item);
                match self.answer.slot(key) {
                    Some(known) if known.id == done.id || known.id.is_empty() => {
                        *known = done;
                        Ok(())
                    }
                    _ => self.answer.begin(done, out),
                }
            }
            "message" if !self.streamed_text => {
                for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
                    if let Some(text) = part.get("text").and_then(Value::as_str) {
                        self.answer.text(text, out)?;
                    }
                    if let Some(refusal) = part.get("refusal").and_then(Value::as_str) {
                        self.answer.text(refusal, out)?;
                        self.answer.finish = Some(Finish::Refused);
                    }
                }
                Ok(())
            }
            "reasoning" => self.thought(item, out),
            _ => Ok(()),
        }
    }

    fn thought(&mut self, item: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        if !self.streamed_thoughts {
            for list in ["summary", "content"] {
                for part in item.get(list).and_then(Value::as_array).into_iter().flatten() {
                    let text = part.get("text").and_then(Value::as_str).unwrap_or_default();
                    self.answer.thought(text, out)?;
                }
            }
        }
        // Only what is encrypted can be sent back: the server keeps nothing.
        if let Some(sealed) = item.get("encrypted_content").and_then(Value::as_str) {
            self.answer.grow(sealed.len())?;
            let mut kept = Map::new();
            kept.insert("type".into(), "reasoning".into());
            kept.insert(
                "summary".into(),
                item.get("summary").cloned().unwrap_or_else(|| Value::Array(Vec::new())),
            );
            kept.insert("encrypted_content".into(), sealed.into());
            self.reasoning.push(kept.into());
        }
        Ok(())
    }

    fn end(&mut self, response: &Value) -> Result<(), Fault> {
        let text =
            |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.answer.model = text(response, "model");
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            self.answer.usage = count(usage);
        }
        let finish = match text(response, "status").as_str() {
            "failed" | "cancelled" => return Err(Fault::Said(response.clone())),
            "incomplete" => match response.get("incomplete_details").map(|details| text(details, "reason")) {
                Some(reason) if reason == "content_filter" => Finish::Refused,
                _ => Finish::Length,
            },
            _ => Finish::Stop,
        };
        if self.answer.finish.is_none() {
            self.answer.finish = Some(finish);
        }
        Ok(())
    }
}

fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// What an event is about: the number of its item in the output.
fn key(event: &Value) -> String {
    match event.get("output_index").and_then(Value::as_u64) {
        Some(index) => index.to_string(),
        None => event.get("item_id").and_then(Value::as_str).unwrap_or_default().to_owned(),
    }
}

fn slot(key: &str, item: &Value) -> Slot {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let arguments = match item.get("arguments") {
        Some(Value::Object(object)) => Value::Object(object.clone()).to_string(),
        _ => text("arguments"),
    };
    let id = if text("call_id").is_empty() { text("id") } else { text("call_id") };
    Slot { key: key.to_owned(), id, name: text("name"), arguments, extra: None }
}

fn count(usage: &Value) -> Usage {
    let of = |paths: &[&str]| tokens(usage, paths).unwrap_or(0);
    Usage {
        input: of(&["input_tokens"]),
        output: of(&["output_tokens"]),
        cache_read: of(&["input_tokens_details.cached_tokens"]),
        cache_write: 0,
        reasoning: of(&["output_tokens_details.reasoning_tokens"]),
    }
}
