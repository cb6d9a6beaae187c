//! Answers in the language of Anthropic messages, streamed or whole.

use hermes_core::model::{Finish, ModelEvent};
use serde_json::{Value, json};

use super::Fault;
use super::answer::{Answer, Slot};
use super::numbers::tokens;

/// Reads events.
pub(crate) struct MessagesDecoder {
    answer: Answer,
    /// Blocks of thought by their number, to be sent back as they are.
    thoughts: Vec<(u64, Value)>,
}

impl MessagesDecoder {
    pub(super) fn new(answer: Answer) -> Self {
        Self { answer, thoughts: Vec::new() }
    }

    pub(super) fn answer(&mut self) -> &mut Answer {
        &mut self.answer
    }

    pub(super) fn into_answer(mut self) -> Answer {
        // A thought without its signature would be refused.
        let signed = |block: &Value| {
            block["type"] == "redacted_thinking" || block["signature"].as_str().is_some_and(|s| !s.is_empty())
        };
        let blocks: Vec<Value> = self.thoughts.into_iter().map(|(_, block)| block).filter(signed).collect();
        if !blocks.is_empty() {
            self.answer.keep.insert("thinking_blocks".into(), blocks.into());
        }
        self.answer
    }

    pub(super) fn event(&mut self, event: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => {
                if let Some(message) = event.get("message") {
                    self.about(message);
                }
                Ok(())
            }
            "content_block_start" => match event.get("content_block") {
                Some(block) => self.block(index, block, false, out),
                None => Ok(()),
            },
            "content_block_delta" => match event.get("delta") {
                Some(delta) => self.delta(index, delta, out),
                None => Ok(()),
            },
            "message_delta" => {
                self.count(event);
                self.stopped(event.get("delta").unwrap_or(&Value::Null));
                Ok(())
            }
            "message_stop" => {
                self.answer.ended = true;
                Ok(())
            }
            "error" => Err(Fault::Said(event.clone())),
            "" if event.get("error").is_some_and(|error| !error.is_null()) => Err(Fault::Said(event.clone())),
            _ => Ok(()),
        }
    }

    pub(super) fn whole(&mut self, message: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        if message["type"] == "error" || message.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::Said(message.clone()));
        }
        let Some(blocks) = message.get("content").and_then(Value::as_array) else {
            return Err(Fault::Garbled("the answer has no content".into()));
        };
        self.about(message);
        for (index, block) in (0..).zip(blocks) {
            self.block(index, block, true, out)?;
        }
        self.stopped(message);
        Ok(())
    }

    fn about(&mut self, message: &Value) {
        message.get("model").and_then(Value::as_str).unwrap_or_default().clone_into(&mut self.answer.model);
        self.count(message);
    }

    fn block(
        &mut self,
        index: u64,
        block: &Value,
        whole: bool,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), Fault> {
        let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "text" => self.answer.text(text("text"), out),
            "thinking" => {
                self.answer.thought(text("thinking"), out)?;
                let kept = json!({ "type": "thinking", "thinking": text("thinking"), "signature": text("signature") });
                self.thoughts.push((index, kept));
                Ok(())
            }
            "redacted_thinking" => {
                self.answer.grow(text("data").len())?;
                self.thoughts.push((index, block.clone()));
                Ok(())
            }
            "tool_use" => {
                // In a stream the input is empty here and comes in pieces.
                let input = block
                    .get("input")
                    .filter(|input| whole || input.as_object().is_some_and(|o| !o.is_empty()));
                let arguments = input.map(ToString::to_string).unwrap_or_default();
                let (id, name) = (text("id").to_owned(), text("name").to_owned());
                self.answer.begin(Slot { key: index.to_string(), id, name, arguments, extra: None }, out)
            }
            _ => Ok(()),
        }
    }

    fn delta(&mut self, index: u64, delta: &Value, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let text = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "text_delta" => self.answer.text(text("text"), out),
            "thinking_delta" => {
                self.append(index, "thinking", text("thinking"))?;
                self.answer.thought(text("thinking"), out)
            }
            "signature_delta" => self.append(index, "signature", text("signature")),
            "input_json_delta" => {
                let piece = text("partial_json");
                self.answer.grow(piece.len())?;
                if let Some(slot) = self.answer.slot(&index.to_string()) {
                    slot.arguments.push_str(piece);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn append(&mut self, index: u64, field: &str, text: &str) -> Result<(), Fault> {
        self.answer.grow(text.len())?;
        let block = self.thoughts.iter_mut().rev().find(|(at, _)| *at == index);
        if let Some(Value::String(whole)) = block.and_then(|(_, block)| block.get_mut(field)) {
            whole.push_str(text);
        }
        Ok(())
    }

    fn count(&mut self, of: &Value) {
        let Some(counts) = of.get("usage").filter(|usage| usage.is_object()) else { return };
        let usage = &mut self.answer.usage;
        let fresh = tokens(counts, &["input_tokens"]);
        let read = tokens(counts, &["cache_read_input_tokens"]);
        let written = tokens(counts, &["cache_creation_input_tokens"]);
        // The last counts of a stream may name the answer's tokens alone.
        if fresh.is_some_and(|fresh| fresh > 0) || usage.input == 0 {
            usage.cache_read = read.unwrap_or(usage.cache_read);
            usage.cache_write = written.unwrap_or(usage.cache_write);
            usage.input =
                fresh.unwrap_or(0).saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        }
        usage.output = tokens(counts, &["output_tokens"]).unwrap_or(usage.output);
        usage.reasoning =
            tokens(counts, &["output_tokens_details.thinking_tokens"]).unwrap_or(usage.reasoning);
    }

    fn stopped(&mut self, of: &Value) {
        let Some(reason) = of.get("stop_reason").and_then(Value::as_str) else { return };
        self.answer.finish = Some(match reason {
            "end_turn" | "stop_sequence" | "pause_turn" => Finish::Stop,
            "tool_use" => Finish::Calls,
            "max_tokens" | "model_context_window_exceeded" => Finish::Length,
            "refusal" => Finish::Refused,
            _ => Finish::Unknown,
        });
    }
}
