//! A turn on the screen: the words as they come, the tools that run, what stays of both.
//!
//! Pure: events and the time in, lines out. Lines that stay are handed out once; the rest is a
//! matter of asking again.

use std::time::Duration;

use hermes::agent::{Event, TurnEnd, TurnStatus};

use crate::chat::live::{Ended, Live, Verbosity, spinner};
use crate::chat::markdown::{Canvas, Stream};
use crate::chat::numbers::seconds;
use crate::chat::status::Status;
use crate::chat::text::{Line, Style};
use crate::chat::wrap::{Inline, wrap};

/// Most rows of words that are not final.
const TAIL: usize = 12;

/// What the model does while no tool runs.
#[derive(Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Thinking,
    Answering,
    /// It writes a call of this tool.
    Preparing(String),
}

/// What was put on the screen last, so that different things keep a distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    Words,
    Tools,
    Thoughts,
}

/// Everything the screen knows of the conversation.
pub(crate) struct Show {
    pub(crate) status: Status,
    pub(crate) verbosity: Verbosity,
    /// What the model thinks is shown.
    pub(crate) reasoning: bool,
    pub(crate) live: Live,
    canvas: Canvas,
    words: Stream,
    thoughts: String,
    phase: Phase,
    last: Kind,
    /// Words came since the last call.
    answered: bool,
    /// Some of them have stayed.
    stayed: bool,
    since: Duration,
}

impl Show {
    pub(crate) fn new(canvas: Canvas, status: Status, live: Live) -> Self {
        Self {
            status,
            verbosity: Verbosity::default(),
            reasoning: false,
            live,
            canvas,
            words: Stream::new(canvas),
            thoughts: String::new(),
            phase: Phase::Idle,
            last: Kind::Nothing,
            answered: false,
            stayed: false,
            since: Duration::ZERO,
        }
    }

    pub(crate) fn canvas(&self) -> Canvas {
        self.canvas
    }

    pub(crate) fn resize(&mut self, canvas: Canvas) {
        self.canvas = canvas;
        self.words.resize(canvas);
    }

    /// A turn begins.
    pub(crate) fn begin(&mut self, now: Duration) {
        self.phase = Phase::Thinking;
        self.last = Kind::Nothing;
        self.since = now;
        self.answered = false;
    }

    /// Something happened; what stays of it.
    pub(crate) fn event(&mut self, event: Event, now: Duration) -> Vec<Line> {
        let mut lines = Vec::new();
        match event {
            Event::TurnBegan { model, .. } => self.status.model = model,
            Event::Text { text } => {
                lines.extend(self.end_of_thoughts());
                self.words.push(&text);
                self.answered |= !text.trim().is_empty();
                self.phase = Phase::Answering;
            }
            Event::Reasoning { text } => {
                self.phase = Phase::Thinking;
                if self.reasoning {
                    self.thoughts.push_str(&text);
                    lines.extend(self.thoughts_so_far());
                }
            }
            Event::TextVoid => lines.extend(self.take_back()),
            Event::CallWriting { tool } => {
                lines.extend(self.end_of_words());
                self.phase = Phase::Preparing(tool);
            }
            Event::CallBegan { id, tool, arguments } | Event::CallRefused { id, tool, arguments } => {
                lines.extend(self.end_of_words());
                self.answered = false;
                self.phase = Phase::Thinking;
                self.live.began(id, tool, arguments, now);
            }
            Event::CallProgress { id, words } => self.live.progress(&id, &words),
            Event::CallEnded { id, tool, status, seconds, result } => {
                lines.extend(self.end_of_words());
                let call = Ended { id: &id, tool: &tool, status, seconds, result: &result };
                let told = self.live.ended(call, self.verbosity, self.canvas.width);
                lines.extend(self.apart(Kind::Tools, told));
            }
            Event::Answered { model, usage, context_used } => {
                lines.extend(self.end_of_words());
                self.phase = Phase::Thinking;
                self.status.model = model;
                self.status.usage.add(usage);
                self.status.context_used = context_used.or(self.status.context_used);
            }
            Event::Notice { text } => {
                lines.extend(self.end_of_words());
                let notice = self.paragraph(&format!("· {text}"), Style::YELLOW);
                lines.extend(self.apart(Kind::Tools, notice));
            }
            // The end is told by the turn's own answer, once; what is not known yet is not shown.
            _ => {}
        }
        lines
    }

    /// The words that have become final since they were last asked for.
    pub(crate) fn settle(&mut self) -> Vec<Line> {
        let lines = self.words.settle();
        self.stayed |= !lines.is_empty();
        self.apart(Kind::Words, lines)
    }

    /// The turn is over; what stays of it.
    pub(crate) fn end(&mut self, end: &TurnEnd) -> Vec<Line> {
        let mut lines = self.end_of_words();
        if !self.answered && !end.text.trim().is_empty() {
            self.words.push(&end.text);
            lines.extend(self.end_of_words());
        }
        self.phase = Phase::Idle;
        self.live.clear();
        if let Some(cost) = end.cost_usd {
            self.status.cost_usd = Some(self.status.cost_usd.unwrap_or_default() + cost);
        }
        if !end.model.is_empty() {
            self.status.model.clone_from(&end.model);
        }
        if let Some((text, style)) = verdict(end) {
            let told = self.paragraph(&text, style);
            lines.extend(self.apart(Kind::Tools, told));
        }
        lines
    }

    /// What changes while the turn goes on: words that are not final, running tools, what it does.
    pub(crate) fn rows(&self, now: Duration) -> Vec<Line> {
        let mut rows = self.words.tail();
        let surplus = rows.len().saturating_sub(TAIL);
        rows.drain(..surplus);
        let mut above = self.last;
        if !rows.is_empty() {
            if above != Kind::Nothing && above != Kind::Words {
                rows.insert(0, Line::default());
            }
            above = Kind::Words;
        }
        let running = self.live.rows(now, self.canvas.width);
        let time = seconds(now.saturating_sub(self.since).as_secs_f64());
        let doing = match &self.phase {
            _ if !running.is_empty() => None,
            Phase::Idle => None,
            Phase::Thinking => Some(Line::faint(&format!("{} thinking  {time}", spinner(now)))),
            Phase::Answering => Some(Line::faint(&format!("{} answering  {time}", spinner(now)))),
            Phase::Preparing(tool) => Some(self.live.preparing(tool, now)),
        };
        if (!running.is_empty() || doing.is_some()) && matches!(above, Kind::Words | Kind::Thoughts) {
            rows.push(Line::default());
        }
        rows.extend(running);
        rows.extend(doing);
        rows
    }

    fn end_of_words(&mut self) -> Vec<Line> {
        let mut lines = self.end_of_thoughts();
        let canvas = self.canvas;
        let rest = std::mem::replace(&mut self.words, Stream::new(canvas)).finish();
        lines.extend(self.apart(Kind::Words, rest));
        self.stayed = false;
        lines
    }

    fn take_back(&mut self) -> Vec<Line> {
        let told = self.stayed;
        self.words = Stream::new(self.canvas);
        self.answered = false;
        self.stayed = false;
        self.phase = Phase::Thinking;
        let text = "· the words above do not count: the model is asked again";
        if told { vec![Line::new(text, Style::YELLOW).cut(self.canvas.width)] } else { Vec::new() }
    }

    fn thoughts_so_far(&mut self) -> Vec<Line> {
        let Some(end) = self.thoughts.rfind('\n') else { return Vec::new() };
        let rest = self.thoughts.split_off(end + 1);
        let whole = std::mem::replace(&mut self.thoughts, rest);
        self.thought(&whole)
    }

    fn end_of_thoughts(&mut self) -> Vec<Line> {
        let rest = std::mem::take(&mut self.thoughts);
        self.thought(&rest)
    }

    fn thought(&mut self, text: &str) -> Vec<Line> {
        let style = Style::FAINT.and(Style::ITALIC);
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let lines: Vec<Line> = lines.flat_map(|line| self.paragraph(line, style)).collect();
        self.apart(Kind::Thoughts, lines)
    }

    fn paragraph(&self, text: &str, style: Style) -> Vec<Line> {
        wrap(&[Inline::Text(text.to_owned(), style)], self.canvas.width)
    }

    /// The lines, with a blank one before them where something else stands above.
    fn apart(&mut self, kind: Kind, mut lines: Vec<Line>) -> Vec<Line> {
        if lines.is_empty() {
            return lines;
        }
        if self.last != kind && self.last != Kind::Nothing {
            lines.insert(0, Line::default());
        }
        self.last = kind;
        lines
    }
}

/// What is said about a turn that did not simply answer.
fn verdict(end: &TurnEnd) -> Option<(String, Style)> {
    let why = end.error.as_deref().unwrap_or_default();
    let told = |text: &str| if why.is_empty() { text.to_owned() } else { format!("{text}: {why}") };
    Some(match end.status {
        TurnStatus::Answered => return None,
        TurnStatus::Interrupted => ("⏹ stopped".to_owned(), Style::YELLOW),
        TurnStatus::OutOfBudget => (told("⏹ it ran out of model calls"), Style::YELLOW),
        TurnStatus::Denied => (told("✗ denied"), Style::RED),
        TurnStatus::ProviderFailed => (told("✗ no model could answer"), Style::RED),
        _ => (told("✗ it failed"), Style::RED),
    })
}

#[cfg(test)]
mod tests;
