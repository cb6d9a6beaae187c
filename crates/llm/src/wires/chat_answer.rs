//! Answers in the language of `OpenAI` chat completions, streamed or whole.

use hermes_core::model::{Finish, ModelEvent, Usage};
use serde_json::{Map, Value};

use super::Fault;
use super::answer::{Answer, Slot};
use super::numbers::tokens;

/// Reads chunks; a whole answer is one chunk whose `message` is its `delta`.
pub(crate) struct ChatDecoder {
    answer: Answer,
    details: Vec<Map<String, Value>>,
}

impl ChatDecoder {
    pub(super) fn new(answer: Answer) -> Self {
        Self { answer, details: Vec::new() }
    }

    pub(super) fn answer(&mut self) -> &mut Answer {
        &mut self.answer
    }

    pub(super) fn into_answer(mut self) -> Answer {
        if !self.details.is_empty() {
            let details = self.details.into_iter().map(Value::Object).collect();
            self.answer.keep.insert("reasoning_details".into(), Value::Array(details));
        }
        self.answer
    }

    pub(super) fn chunk(&mut self, chunk: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::Said(chunk.clone()));
        }
        if let Some(model) = chunk.get("model").and_then(Value::as_str)
            && !model.is_empty()
        {
            model.clone_into(&mut self.answer.model);
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.answer.usage = count(usage);
        }
        let Some(choice) = chunk.get("choices").and_then(|choices| choices.get(0)) else { return Ok(()) };
        if choice.get("error").is_some_and(Value::is_object) {
            return Err(Fault::Said(choice.clone()));
        }
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(delta, out)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.answer.finish = Some(why(reason));
        }
        if let Some(usage) = choice.get("usage").filter(|usage| usage.is_object()) {
            self.answer.usage = count(usage);
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let thought = ["reasoning_content", "reasoning", "thinking"]
            .iter()
            .find_map(|field| delta.get(field)?.as_str().filter(|text| !text.is_empty()));
        let details = delta.get("reasoning_details").and_then(Value::as_array);
        if let Some(thought) = thought {
            self.answer.thought(thought, out)?;
        }
        for detail in details.into_iter().flatten().filter_map(Value::as_object) {
            self.detail(detail, thought.is_none(), out)?;
        }
        match delta.get("content") {
            Some(Value::String(text)) => self.answer.text(text, out)?,
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.part(part, out)?;
                }
            }
            _ => {}
        }
        if let Some(refusal) = delta.get("refusal").and_then(Value::as_str) {
            self.answer.text(refusal, out)?;
            self.answer.finish = Some(Finish::Refused);
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(call, out)?;
        }
        if let Some(function) = delta.get("function_call").filter(|call| call.is_object()) {
            self.call(&serde_json::json!({ "index": 0, "function": function }), out)?;
        }
        Ok(())
    }

    /// A part of content that comes as a list.
    fn part(&mut self, part: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            return self.answer.text(text, out);
        }
        match part.get("thinking") {
            Some(Value::String(text)) => self.answer.thought(text, out),
            Some(Value::Array(parts)) => {
                let mut texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
                texts.try_for_each(|text| self.answer.thought(text, out))
            }
            _ => Ok(()),
        }
    }

    /// A piece of `reasoning_details`; pieces with the same number belong together.
    fn detail(
        &mut self,
        piece: &Map<String, Value>,
        say: bool,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), Fault> {
        const GROWS: [&str; 4] = ["text", "summary", "data", "signature"];
        let text = |field: &str| piece.get(field).and_then(Value::as_str);
        self.answer.grow(GROWS.iter().filter_map(|field| text(field)).map(str::len).sum())?;
        if say && let Some(words) = text("text").or_else(|| text("summary")) {
            self.answer.thought(words, out)?;
        }
        let same = |known: &&mut Map<String, Value>| {
            piece.get("index").is_some()
                && known.get("index") == piece.get("index")
                && known.get("type") == piece.get("type")
        };
        let Some(known) = self.details.iter_mut().find(same) else {
            self.details.push(piece.clone());
            return Ok(());
        };
        for (field, value) in piece {
            match (known.get_mut(field), value) {
                (Some(Value::String(old)), Value::String(new)) if GROWS.contains(&field.as_str()) => {
                    old.push_str(new);
                }
                (Some(old), new) if old.is_null() => *old = new.clone(),
                (Some(_), _) => {}
                (None, new) => {
                    known.insert(field.clone(), new.clone());
                }
            }
        }
        Ok(())
    }

    /// A piece of a call. Pieces belong together by index; a new id at a used index is a new call.
    fn call(&mut self, piece: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let id = piece.get("id").and_then(Value::as_str).unwrap_or_default();
        let function = piece.get("function").unwrap_or(piece);
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(object) => object.to_string(),
        };
        let extra = piece.get("extra_content").filter(|extra| !extra.is_null()).cloned();
        self.answer.grow(arguments.len())?;
        let key = match piece.get("index").and_then(Value::as_u64) {
            Some(index) => index.to_string(),
            None => String::from("-"),
        };
        let slot = if key == "-" { self.answer.last_slot() } else { self.answer.slot(&key) };
        let other = |slot: &&mut Slot| {
            let new_id = !id.is_empty() && !slot.id.is_empty() && slot.id != id;
            // Without index and id, a name begins a call.
            let new_name = key == "-" && id.is_empty() && !name.is_empty();
            !new_id && !new_name
        };
        let Some(slot) = slot.filter(other) else {
            let slot = Slot { key, id: id.to_owned(), name: name.to_owned(), arguments, extra };
            return self.answer.begin(slot, out);
        };
        if slot.id.is_empty() {
            id.clone_into(&mut slot.id);
        }
        if slot.name.is_empty() && !name.is_empty() {
            name.clone_into(&mut slot.name);
            out.push(ModelEvent::CallBegins { name: name.to_owned() });
        }
        slot.arguments.push_str(&arguments);
        slot.extra = extra.or(slot.extra.take());
        Ok(())
    }
}

/// Why it stopped, in our words.
fn why(reason: &str) -> Finish {
    match reason.to_ascii_lowercase().as_str() {
        "stop" | "eos" | "end_turn" | "stop_sequence" | "complete" | "completed" => Finish::Stop,
        "tool_calls" | "function_call" | "tool_use" => Finish::Calls,
        "length" | "max_tokens" | "model_length" | "max_output_tokens" => Finish::Length,
        "content_filter" | "refusal" | "safety" | "prohibited_content" | "recitation" | "blocklist" => {
            Finish::Refused
        }
        _ => Finish::Unknown,
    }
}

fn count(usage: &Value) -> Usage {
    let of = |paths: &[&str]| tokens(usage, paths).unwrap_or(0);
    Usage {
        input: of(&["prompt_tokens", "input_tokens"]),
        output: of(&["completion_tokens", "output_tokens"]),
        cache_read: of(&[
            "prompt_tokens_details.cached_tokens",
            "prompt_cache_hit_tokens",
            "cached_tokens",
            "cache_read_input_tokens",
        ]),
        cache_write: of(&["prompt_tokens_details.cache_write_tokens", "cache_creation_input_tokens"]),
        reasoning: of(&["completion_tokens_details.reasoning_tokens", "reasoning_tokens"]),
    }
}
