//! What follows from an answer of a model, or from there being none.

use hermes_core::model::{AssistantMessage, Finish, Message, ModelError, ModelErrorClass, ModelReply};

use super::batch::{Batch, is_cut, name_apart};
use super::{COMPACTIONS, Phase, Turn, Why, words};
use crate::event::TurnStatus;
use crate::rambling::rambles;
use crate::recovery::{Action, action, rule};

/// Most requests to go on with one answer that ran out of room.
const CONTINUATIONS: u32 = 4;
/// The same for a stream that ended without saying why: some servers never say.
const CONTINUATIONS_UNKNOWN: u32 = 1;
/// Answers without anything in them before another model is asked.
const EMPTY: u32 = 3;
/// An answer that ran out of room gets twice as much, up to this many tokens.
const MOST_TOKENS: u64 = 32_768;
/// What an answer is shrunk from when no limit was set, and the least it is shrunk to.
const USUAL_TOKENS: u64 = 8_192;
const LEAST_TOKENS: u64 = 512;

impl Turn {
    /// A model answered, or did not.
    pub fn replied(&mut self, result: Result<ModelReply, ModelError>) {
        if self.phase != Phase::Ask {
            return;
        }
        self.tally.model_calls = self.tally.model_calls.saturating_add(1);
        match result {
            Ok(reply) => self.answered(reply),
            Err(error) => self.failed(&error),
        }
    }

    fn answered(&mut self, reply: ModelReply) {
        self.tally.usage.add(reply.usage);
        self.spent = self.spent.saturating_add(1);
        self.trouble = None;
        let message = reply.message;
        if self.closing {
            self.closed(message);
        } else if !message.calls.is_empty() {
            self.take_calls(message);
        } else if message.finish == Finish::Refused {
            self.refused(&message);
        } else if message.text.trim().is_empty() && self.request.said.is_empty() {
            self.empty();
        } else {
            self.take_text(message);
        }
    }

    /// The last words. Calls in them come too late.
    fn closed(&mut self, mut message: AssistantMessage) {
        if !message.calls.is_empty() {
            // What the provider wants to see again would speak of calls that are not there.
            message.calls.clear();
            message.keep.clear();
        }
        message.finish = Finish::Stop;
        if message.text.trim().is_empty() {
            message = AssistantMessage {
                text: words::out_of_budget(self.settings.budget),
                ..AssistantMessage::default()
            };
        }
        let error = words::out_of_budget(self.settings.budget);
        self.finish(TurnStatus::OutOfBudget, message, Some(error));
    }

    fn take_calls(&mut self, mut message: AssistantMessage) {
        let unfinished = matches!(message.finish, Finish::Length | Finish::Unknown);
        if unfinished && is_cut(&message.calls) && !self.request.cut && self.spent < self.settings.budget {
            // Once more with more room; if that is cut off too, the road tells the model so.
            self.request.cut = true;
            self.more_room();
            return;
        }
        message.text = format!("{}{}", std::mem::take(&mut self.request.said), message.text);
        name_apart(&mut message.calls, self.tally.model_calls);
        if !message.text.trim().is_empty() {
            self.last_words.clone_from(&message.text);
        }
        self.phase = Phase::Run(Batch::new(&message.calls, self.settings.calls_at_once));
        self.outbox.push(Message::Assistant(message));
    }

    fn take_text(&mut self, mut message: AssistantMessage) {
        let more = match message.finish {
            Finish::Length => CONTINUATIONS,
            Finish::Unknown => CONTINUATIONS_UNKNOWN,
            _ => 0,
        };
        let said = format!("{}{}", self.request.said, message.text);
        let went_on = !message.text.trim().is_empty() && !rambles(&said);
        if went_on && self.request.continued < more && self.spent < self.settings.budget {
            self.request.said = said;
            self.request.continued += 1;
            self.more_room();
            return;
        }
        if !self.request.said.is_empty() {
            // What belongs to the last part alone does not belong to the whole.
            message.keep.clear();
        }
        message.text = said;
        self.finish(self.answered_status(), message, None);
    }

    fn refused(&mut self, message: &AssistantMessage) {
        self.trouble = Some(words::REFUSED.to_owned());
        if self.next_model(false) {
            return;
        }
        let said = format!("{}{}", std::mem::take(&mut self.request.said), message.text);
        self.stop(TurnStatus::Failed, &said, Some(words::REFUSED.to_owned()));
    }

    fn empty(&mut self) {
        self.request.empty += 1;
        self.request.nudge = self.tools_ran || self.request.empty > 1;
        if self.request.empty < EMPTY && self.spent < self.settings.budget {
            return;
        }
        self.trouble = Some(words::EMPTY.to_owned());
        if self.spent < self.settings.budget && self.next_model(true) {
            return;
        }
        if self.last_words.is_empty() {
            return self.stop(TurnStatus::ProviderFailed, "", Some(words::EMPTY.to_owned()));
        }
        // It said what there was to say before its last calls.
        let text = std::mem::take(&mut self.last_words);
        self.finish(self.answered_status(), AssistantMessage { text, ..AssistantMessage::default() }, None);
    }

    fn failed(&mut self, error: &ModelError) {
        self.trouble = Some(error.to_string());
        loop {
            self.request.failures = self.request.failures.saturating_add(1);
            let seed = self.settings.seed.wrapping_add(u64::from(self.tally.model_calls));
            let attempt = self.request.failures;
            let decided = action(error.class, attempt, self.has_fallback(), error.retry_after, seed);
            if decided == Action::Compact && self.compactions >= COMPACTIONS {
                continue;
            }
            return self.act(decided, error.class);
        }
    }

    /// It still does not fit, and shortening did not help.
    pub(super) fn overflowed(&mut self) {
        let words = self.trouble.take().unwrap_or_default();
        let class = ModelErrorClass::ContextOverflow;
        let seed = self.settings.seed;
        self.trouble = Some(words);
        loop {
            self.request.failures = self.request.failures.saturating_add(1);
            // Shortening again would come to the same.
            match action(class, self.request.failures, self.has_fallback(), None, seed) {
                Action::Compact => {}
                decided => return self.act(decided, class),
            }
        }
    }

    fn act(&mut self, action: Action, class: ModelErrorClass) {
        match action {
            Action::RetryAfter(time) => self.phase = Phase::Wait(time),
            Action::Compact => {
                self.compactions += 1;
                self.phase = Phase::Compact(Why::Overflow);
            }
            Action::ShrinkOutput => {
                let now = self.max_tokens.unwrap_or(USUAL_TOKENS);
                self.max_tokens = Some((now / 2).max(LEAST_TOKENS.min(now)));
            }
            Action::NextModel if self.next_model(rule(class).passing) => {}
            Action::NextModel | Action::Fail => self.give_up(),
        }
    }

    /// Goes to the next model, or back to the first one that was left for a reason that may have
    /// passed. Answers whether there was one.
    fn next_model(&mut self, passing: bool) -> bool {
        if self.request.second_round {
            return false;
        }
        if passing && self.request.left.is_none() {
            self.request.left = Some(self.model);
        }
        let next = self.model + 1;
        if next < self.settings.models {
            self.model = next;
        } else if let Some(left) = self.request.left.take().filter(|left| *left != self.model) {
            self.model = left;
            self.request.second_round = true;
        } else {
            return false;
        }
        self.request.failures = 0;
        self.request.empty = 0;
        true
    }

    /// No model answers.
    fn give_up(&mut self) {
        let trouble = self.trouble.take();
        if self.closing {
            let message = AssistantMessage {
                text: words::out_of_budget(self.settings.budget),
                ..AssistantMessage::default()
            };
            return self.finish(TurnStatus::OutOfBudget, message, trouble);
        }
        self.stop(TurnStatus::ProviderFailed, "", trouble);
    }

    fn more_room(&mut self) {
        let most = self.settings.max_tokens.unwrap_or(MOST_TOKENS).max(MOST_TOKENS);
        self.max_tokens = self.max_tokens.map(|tokens| tokens.saturating_mul(2).min(most));
    }
}
