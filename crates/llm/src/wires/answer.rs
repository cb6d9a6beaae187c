//! An answer as it grows, whatever wire it comes by.

use std::sync::Arc;

use hermes_core::model::{AssistantMessage, Finish, ModelCall, ModelEvent, ModelReply, Usage};
use serde_json::{Map, Value};

use super::Fault;
use crate::endpoint::Endpoint;
use crate::lenient;
use crate::repair::{Piece, TextFilter, unique_ids};
use crate::tools_json::Offered;

/// Most bytes of an answer.
const MAX_ANSWER: usize = 32 * 1024 * 1024;

/// Most calls in one answer.
const MAX_CALLS: usize = 512;

/// What has been said so far.
pub(crate) struct Answer {
    /// `provider/model`, kept beside signatures.
    from: String,
    filter: TextFilter,
    text: String,
    reasoning: String,
    slots: Vec<Slot>,
    size: usize,
    /// A call written as text was not written to its end.
    cut_off: bool,
    /// Why it stopped, when the provider has said.
    pub(super) finish: Option<Finish>,
    pub(super) usage: Usage,
    pub(super) model: String,
    /// For [`AssistantMessage::keep`].
    pub(super) keep: Map<String, Value>,
    /// The server has said that nothing more comes.
    pub(super) ended: bool,
}

/// A call that is being written.
#[derive(Default)]
pub(super) struct Slot {
    /// The provider's number or name for it.
    pub(super) key: String,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    /// What the provider wants back with it.
    pub(super) extra: Option<Value>,
}

impl Answer {
    /// An empty answer. `tools` are the definitions that were offered.
    pub(crate) fn new(endpoint: &Endpoint, tools: &Arc<str>) -> Self {
        let offered = endpoint.quirks.text_calls.then(|| Offered::new(tools));
        Self {
            from: endpoint.label(),
            filter: TextFilter::new(offered),
            text: String::new(),
            reasoning: String::new(),
            slots: Vec::new(),
            size: 0,
            cut_off: false,
            finish: None,
            usage: Usage::default(),
            model: String::new(),
            keep: Map::new(),
            ended: false,
        }
    }

    /// More words.
    pub(super) fn text(&mut self, text: &str, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.grow(text.len())?;
        let mut pieces = Vec::new();
        self.filter.push(text, &mut pieces);
        self.take(pieces, out);
        Ok(())
    }

    /// More thoughts.
    pub(super) fn thought(&mut self, text: &str, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        if text.is_empty() {
            return Ok(());
        }
        self.grow(text.len())?;
        self.reasoning.push_str(text);
        out.push(ModelEvent::Reasoning(text.to_owned()));
        Ok(())
    }

    /// The call with this key, the last one if there are several.
    pub(super) fn slot(&mut self, key: &str) -> Option<&mut Slot> {
        self.slots.iter_mut().rev().find(|slot| slot.key == key)
    }

    /// The last call.
    pub(super) fn last_slot(&mut self) -> Option<&mut Slot> {
        self.slots.last_mut()
    }

    /// Begins a call.
    pub(super) fn begin(&mut self, slot: Slot, out: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        if self.slots.len() >= MAX_CALLS {
            return Err(Fault::Garbled(format!("more than {MAX_CALLS} calls in one answer")));
        }
        self.grow(slot.arguments.len())?;
        if !slot.name.is_empty() {
            out.push(ModelEvent::CallBegins { name: slot.name.clone() });
        }
        self.slots.push(slot);
        Ok(())
    }

    /// Counts what is about to be kept.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), Fault> {
        self.size = self.size.saturating_add(bytes);
        if self.size > MAX_ANSWER { Err(Fault::Garbled("the answer does not end".into())) } else { Ok(()) }
    }

    fn take(&mut self, pieces: Vec<Piece>, out: &mut Vec<ModelEvent>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    self.text.push_str(&text);
                    out.push(ModelEvent::Text(text));
                }
                Piece::Thought(text) => {
                    self.reasoning.push_str(&text);
                    out.push(ModelEvent::Reasoning(text));
                }
                Piece::AllWasThought => {
                    self.reasoning.push_str(&std::mem::take(&mut self.text));
                }
                Piece::Call { call, cut_off } => {
                    self.cut_off |= cut_off;
                    if self.slots.len() < MAX_CALLS {
                        out.push(ModelEvent::CallBegins { name: call.name.clone() });
                        self.slots.push(Slot {
                            id: call.id,
                            name: call.name,
                            arguments: call.arguments,
                            ..Slot::default()
                        });
                    }
                }
            }
        }
    }

    /// The whole answer. Nothing at all is a fault.
    pub(super) fn finish(mut self, out: &mut Vec<ModelEvent>) -> Result<ModelReply, Fault> {
        let mut pieces = Vec::new();
        self.filter.end(&mut pieces);
        self.take(pieces, out);
        let finish = self.why_it_stopped();
        if self.text.is_empty()
            && self.reasoning.is_empty()
            && self.slots.is_empty()
            && finish == Finish::Unknown
        {
            return Err(Fault::Garbled("the stream ended before it began".into()));
        }
        let mut extras = Map::new();
        let mut calls = Vec::with_capacity(self.slots.len());
        for slot in self.slots {
            calls.push((
                ModelCall { id: slot.id, name: slot.name, arguments: or_empty(slot.arguments) },
                slot.extra,
            ));
        }
        unique_ids(calls.iter_mut().map(|(call, _)| call));
        for (call, extra) in &mut calls {
            if let Some(extra) = extra.take() {
                extras.insert(call.id.clone(), extra);
            }
        }
        if !extras.is_empty() {
            self.keep.insert("call_extra".into(), extras.into());
        }
        if !self.keep.is_empty() {
            self.keep.insert("from".into(), self.from.into());
        }
        let message = AssistantMessage {
            text: self.text,
            reasoning: (!self.reasoning.is_empty()).then_some(self.reasoning),
            calls: calls.into_iter().map(|(call, _)| call).collect(),
            finish,
            keep: self.keep,
        };
        Ok(ModelReply { message, usage: self.usage, model: self.model })
    }

    /// A call whose arguments stop in the middle says that room ran out, whatever the provider says.
    fn why_it_stopped(&self) -> Finish {
        let called = !self.slots.is_empty();
        if self.cut_off || self.slots.iter().any(|slot| lenient::is_cut_off(&slot.arguments)) {
            return Finish::Length;
        }
        match self.finish {
            Some(Finish::Stop | Finish::Calls | Finish::Unknown) if called => Finish::Calls,
            Some(Finish::Calls) => Finish::Stop,
            Some(finish) => finish,
            None if self.ended && called => Finish::Calls,
            None if self.ended => Finish::Stop,
            None => Finish::Unknown,
        }
    }
}

fn or_empty(arguments: String) -> String {
    if arguments.trim().is_empty() { "{}".into() } else { arguments }
}
