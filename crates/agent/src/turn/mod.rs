//! One turn of an agent as a pure machine: from what the person said to the end of the answer.
//!
//! [`Turn::next`] says what is to be done; whoever drives it does that and reports back with the
//! method the step names. The machine never waits, reads no clock and touches nothing, and it can
//! be written down at any point and go on somewhere else.
//!
//! What it promises, for any order of replies, outcomes and failures (tested by properties):
//! it ends; every call is recorded before it is run and gets exactly one result; users, answers and
//! results follow each other as providers want them; and the record ends with an answer, so that
//! the next turn can begin.
//!
//! | file | what |
//! |---|---|
//! | `settings` | what is fixed at the start |
//! | `replied` | what follows from an answer, or from none |
//! | `ran` | what follows from the results of calls |
//! | `batch` | the calls of one answer |
//! | `words` | what the machine itself says to the model |

mod batch;
mod ran;
mod replied;
mod settings;
mod words;

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;

use std::time::Duration;

use hermes_core::model::{AssistantMessage, Finish, Message, ModelCall, Part, Usage};
use serde::{Deserialize, Serialize};

use crate::event::TurnStatus;
use batch::{Batch, Missing};

pub use settings::TurnSettings;

/// What is to be done next.
#[derive(Debug, PartialEq)]
pub enum Step<'a> {
    /// Write these messages down, then tell [`Turn::recorded`].
    Record(&'a [Message]),
    /// Ask a model, then tell [`Turn::replied`].
    Ask(Ask),
    /// Run these calls, then tell [`Turn::ran`].
    Run(Vec<ModelCall>),
    /// Wait this long, then tell [`Turn::waited`].
    Wait(Duration),
    /// Shorten the conversation, then tell [`Turn::compacted`].
    Compact,
    /// Nothing: this is how it ended.
    Done(&'a End),
}

/// How a model is to be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Which model.
    pub model: usize,
    /// Whether there is another one to go to.
    pub has_fallback: bool,
    /// Messages to put after the conversation for this request alone; they are not recorded.
    pub extra: Vec<Message>,
    /// Most tokens of the answer.
    pub max_tokens: Option<u64>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// What became of it.
    pub status: TurnStatus,
    /// The answer, as far as there is one.
    pub text: String,
    /// Why it did not end well.
    pub error: Option<String>,
}

/// Something that comes from outside while a turn goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The person adds something; the model reads it after the calls that run now, or after the
    /// answer it gives now.
    Steer(String),
    /// The person wants it to stop. With it comes what the model had said of the answer it was
    /// giving.
    Interrupt(String),
    /// The turn has taken too long. With it comes what the model had said.
    TimeOver(String),
    /// The next request would not fit.
    Pressure,
    /// Something the turn cannot go on without is broken.
    Broken(String),
}

/// What came of shortening the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compacted {
    /// It is shorter now.
    Shorter,
    /// There was nothing to gain, or it could not be done.
    Same,
}

/// What a turn has used so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// How often a model was asked.
    pub model_calls: u32,
    /// How many calls of tools there were.
    pub tool_calls: u32,
    /// How many of them were denied.
    pub denied: u32,
    /// How many did something that is not harmless.
    pub acted: u32,
    /// Tokens.
    pub usage: Usage,
}

/// Where the machine stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    Ask,
    Run(Batch),
    Wait(Duration),
    Compact(Why),
    Done(End),
}

/// Why the conversation is shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Why {
    /// Before asking, to be on the safe side.
    Pressure,
    /// A model said that it does not fit.
    Overflow,
}

/// What belongs to the answer the machine is trying to get, and is forgotten once it is there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Request {
    /// Failures of the model that is asked now.
    failures: u32,
    /// Answers without anything in them.
    empty: u32,
    /// Whether the model is reminded that it has to say something.
    nudge: bool,
    /// What was said before it was cut off, to be gone on from.
    said: String,
    /// How often it was asked to go on.
    continued: u32,
    /// Whether it was asked again because its calls were cut off.
    cut: bool,
    /// The first model that was left for a reason that may have passed.
    left: Option<usize>,
    /// Whether the models have been gone through once.
    second_round: bool,
}

/// A turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    settings: TurnSettings,
    phase: Phase,
    outbox: Vec<Message>,
    steer: Vec<String>,
    model: usize,
    max_tokens: Option<u64>,
    request: Request,
    /// Answers that count against the budget.
    spent: u32,
    refunded: u32,
    /// The model is asked for its last words.
    closing: bool,
    compactions: u32,
    /// Batches in a row that came to nothing.
    strikes: u32,
    /// Batches in a row that were denied from first to last.
    denials: u32,
    /// Batches in a row that were the same and came to the same.
    same: u32,
    /// What the last batch was and came to.
    last_batch: Option<u64>,
    tools_ran: bool,
    /// The words that came with calls, in case no others come.
    last_words: String,
    /// The last failure in words.
    trouble: Option<String>,
    tally: Tally,
}

/// Most attempts to shorten the conversation for one answer. A long turn in a small context may
/// need many; what bounds them all is that every answer costs budget.
const COMPACTIONS: u32 = 3;

impl Turn {
    /// A turn that begins with what the person said.
    pub fn new(settings: TurnSettings, input: Vec<Part>) -> Self {
        Self {
            phase: Phase::Ask,
            outbox: vec![Message::User { content: input }],
            steer: Vec::new(),
            model: settings.first_model.min(settings.models.saturating_sub(1)),
            max_tokens: settings.max_tokens,
            request: Request::default(),
            spent: 0,
            refunded: 0,
            closing: settings.budget == 0,
            compactions: 0,
            strikes: 0,
            denials: 0,
            same: 0,
            last_batch: None,
            tools_ran: false,
            last_words: String::new(),
            trouble: None,
            tally: Tally::default(),
            settings,
        }
    }

    /// What is to be done.
    pub fn next(&self) -> Step<'_> {
        if !self.outbox.is_empty() {
            return Step::Record(&self.outbox);
        }
        match &self.phase {
            Phase::Ask => Step::Ask(self.ask()),
            Phase::Run(batch) => Step::Run(batch.to_run()),
            Phase::Wait(time) => Step::Wait(*time),
            Phase::Compact(_) => Step::Compact,
            Phase::Done(end) => Step::Done(end),
        }
    }

    /// What was to be recorded is, or cannot be. A turn without a record does not go on.
    pub fn recorded(&mut self, result: Result<(), String>) {
        self.outbox.clear();
        if let Err(error) = result {
            self.unrecorded(&error);
        }
    }

    /// The wait is over.
    pub fn waited(&mut self) {
        if matches!(self.phase, Phase::Wait(_)) {
            self.phase = Phase::Ask;
        }
    }

    /// The conversation was shortened, or could not be.
    pub fn compacted(&mut self, result: &Compacted) {
        let Phase::Compact(why) = self.phase else { return };
        self.phase = Phase::Ask;
        if why == Why::Overflow && *result == Compacted::Same {
            self.overflowed();
        }
    }

    /// Something came from outside.
    pub fn heard(&mut self, heard: Heard) {
        if matches!(self.phase, Phase::Done(_)) {
            if let Heard::Steer(text) = heard {
                self.steer.push(text);
            }
            return;
        }
        match heard {
            Heard::Steer(text) => self.steer.push(text),
            Heard::Interrupt(said) => self.stop(TurnStatus::Interrupted, &said, None),
            Heard::TimeOver(said) => {
                self.stop(TurnStatus::Failed, &said, Some("the turn took longer than it may".to_owned()));
            }
            Heard::Pressure => {
                if self.phase == Phase::Ask && self.compactions < COMPACTIONS {
                    self.compactions += 1;
                    self.phase = Phase::Compact(Why::Pressure);
                }
            }
            Heard::Broken(error) => self.stop(TurnStatus::Failed, "", Some(error)),
        }
    }

    /// What has been used so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// What was said of an answer that is being gone on with.
    pub fn said(&self) -> &str {
        &self.request.said
    }

    /// Which model answers now.
    pub fn model(&self) -> usize {
        self.model
    }

    /// What the person added and nobody has read, to be said in the next turn.
    pub fn unread(&self) -> &[String] {
        &self.steer
    }

    fn ask(&self) -> Ask {
        let mut extra = Vec::new();
        if !self.request.said.is_empty() {
            extra.push(cut_answer(self.request.said.clone()));
            extra.push(Message::user(words::GO_ON));
        } else if self.closing {
            extra.push(Message::user(words::sum_up(self.settings.budget)));
        } else if self.request.nudge {
            extra.push(Message::user(if self.tools_ran { words::AFTER_TOOLS } else { words::SAY_SOMETHING }));
        }
        Ask { model: self.model, has_fallback: self.has_fallback(), extra, max_tokens: self.max_tokens }
    }

    /// Goes on to the next answer, or to the last words when there is none left.
    fn ask_on(&mut self) {
        self.request = Request::default();
        self.compactions = 0;
        self.closing = self.spent >= self.settings.budget;
        self.phase = Phase::Ask;
    }

    fn has_fallback(&self) -> bool {
        !self.request.second_round && (self.model + 1 < self.settings.models || self.request.left.is_some())
    }

    /// Ends with an answer of the model, unless the person has added something meanwhile.
    fn finish(&mut self, status: TurnStatus, message: AssistantMessage, error: Option<String>) {
        let text = message.text.clone();
        self.outbox.push(Message::Assistant(message));
        let may_go_on = matches!(status, TurnStatus::Answered | TurnStatus::Denied);
        if may_go_on && !self.steer.is_empty() && self.spent < self.settings.budget {
            self.say_steer();
            self.ask_on();
            return;
        }
        self.phase = Phase::Done(End { status, text, error });
    }

    /// Ends without an answer of the model; the record gets one all the same, and every call that
    /// waits gets its result.
    fn stop(&mut self, status: TurnStatus, said: &str, error: Option<String>) {
        if let Phase::Run(batch) = &self.phase {
            self.tally.tool_calls =
                self.tally.tool_calls.saturating_add(u32::try_from(batch.len()).unwrap_or(u32::MAX));
            self.outbox.extend(batch.results(&[], Missing::NotRun));
        }
        let text = format!("{}{said}", self.request.said);
        let recorded =
            if text.trim().is_empty() { words::no_answer(status, error.as_deref()) } else { text.clone() };
        self.outbox.push(cut_answer(recorded));
        self.phase = Phase::Done(End { status, text, error });
    }

    fn unrecorded(&mut self, error: &str) {
        let text = match &self.phase {
            Phase::Done(end) => end.text.clone(),
            _ => self.request.said.clone(),
        };
        let error = Some(format!("the conversation could not be recorded: {error}"));
        self.phase = Phase::Done(End { status: TurnStatus::Failed, text, error });
    }

    fn say_steer(&mut self) {
        if !self.steer.is_empty() {
            self.outbox.push(Message::user(std::mem::take(&mut self.steer).join("\n\n")));
        }
    }
}

/// An answer that did not come to its end.
fn cut_answer(text: String) -> Message {
    Message::Assistant(AssistantMessage { text, finish: Finish::Unknown, ..AssistantMessage::default() })
}
