//! `hermes chat -q`: one question, one answer.
//!
//! Standard output is the answer and nothing else, in one of three forms; what happens along the
//! way goes to standard error. Nobody is waited for who is not there, and a reader who leaves ends
//! the turn without a word.

use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hermes::agent::{Event, TurnEnd, TurnStatus};
use hermes::core::model::Part;
use hermes::core::wait::wait;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::chat::args::{ChatArgs, Format};
use crate::chat::files::Place;
use crate::chat::live::{Live, Verbosity};
use crate::chat::markdown::Canvas;
use crate::chat::numbers::{dollars, seconds, tokens};
use crate::chat::open::open;
use crate::chat::show::Show;
use crate::chat::status::Status;
use crate::chat::talk::Talk;
use crate::chat::text::{Line, clean};
use crate::command::Failure;
use crate::interrupt::Interrupt;
use crate::output;
use crate::shell::Shell;
use crate::skills;

/// Version of the JSON forms: fields are added, never changed.
const VERSION: u32 = 1;

/// Columns of what goes to standard error.
const COLUMNS: usize = 100;

/// How much goes to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aside {
    /// Tools, notices, and how it ended.
    All(Verbosity),
    /// The session's id.
    Session,
    /// Nothing but errors.
    Nothing,
}

/// Asks once.
pub(crate) fn run(shell: &Shell, args: &ChatArgs, question: String) -> Result<(), Failure> {
    let place = Place { cwd: shell.cwd().to_owned(), user_home: shell.user_home() };
    let images = args.images(&place)?;
    let aside = match (&args.oneshot, args.quiet) {
        (Some(_), _) => Aside::Nothing,
        (None, true) => Aside::Session,
        (None, false) => Aside::All(if args.verbose { Verbosity::Verbose } else { Verbosity::All }),
    };
    let talk = open(shell, args, None)?;
    let question = skills::question(talk.as_ref(), question).map_err(Failure::usage)?;
    let parts = std::iter::once(Part::Text { text: question }).chain(images).collect();
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    // Where signals cannot be listened to, Ctrl-C still ends the program, only less politely.
    let interrupt = Interrupt::watch(move || stop.cancel()).ok();
    let writer = Writer {
        format: args.format(shell),
        out: Mutex::new(io::stdout()),
        aside: Mutex::new(Side { kind: aside, out: io::stderr(), show: show(aside, talk.as_ref()) }),
        closed: AtomicBool::new(false),
        cancel: cancel.clone(),
    };
    let ended = wait(ask(talk.as_ref(), parts, &writer, cancel));
    let wrong = talk.close();
    if aside != Aside::Nothing {
        for wrong in &wrong {
            output::warn(wrong);
        }
    }
    let end = ended?;
    match exit_code(&end, interrupt.as_ref().and_then(Interrupt::exit_code)) {
        0 => Ok(()),
        code => Err(Failure::Told(code)),
    }
}

/// One turn, written as it goes; an error when nobody reads any more.
async fn ask<O: Write + Send, E: Write + Send>(
    talk: &dyn Talk,
    parts: Vec<Part>,
    writer: &Writer<O, E>,
    cancel: CancellationToken,
) -> Result<TurnEnd, Failure> {
    writer.begin(talk);
    let sink = |event: Event| writer.event(event);
    let end = talk.turn(parts, &sink, cancel).await;
    writer.end(&end);
    if writer.closed.load(Ordering::Acquire) { Err(Failure::OutputClosed) } else { Ok(end) }
}

/// What the exit code says.
fn exit_code(end: &TurnEnd, by_signal: Option<u8>) -> u8 {
    match end.status {
        TurnStatus::Answered => 0,
        TurnStatus::Denied => Failure::DENIED,
        TurnStatus::ProviderFailed => Failure::PROVIDER,
        TurnStatus::Interrupted => by_signal.unwrap_or(Failure::INTERRUPTED),
        _ => Failure::FAILED,
    }
}

struct Writer<O, E> {
    format: Format,
    out: Mutex<O>,
    aside: Mutex<Side<E>>,
    /// Whoever read the answer has left.
    closed: AtomicBool,
    cancel: CancellationToken,
}

/// What goes to standard error.
struct Side<E> {
    kind: Aside,
    out: E,
    show: Show,
}

impl<O: Write, E: Write> Writer<O, E> {
    fn begin(&self, talk: &dyn Talk) {
        if self.format == Format::StreamJson {
            let tools: Vec<String> = talk.tools().into_iter().map(|tool| tool.name).collect();
            self.json(&json!({
                "type": "start",
                "version": VERSION,
                "session": talk.session_id(),
                "model": talk.model_name(),
                "context_tokens": talk.context_tokens(),
                "tools": tools,
            }));
            for text in talk.problems() {
                self.json(&json!(Event::Notice { text }));
            }
        }
    }

    fn event(&self, event: Event) {
        // The end is told by the turn's own answer, once and last.
        if matches!(event, Event::TurnEnded(_)) {
            return;
        }
        if self.format == Format::StreamJson {
            self.json(&json!(event));
        }
        if let Ok(mut side) = self.aside.lock() {
            side.event(event);
        }
    }

    fn end(&self, end: &TurnEnd) {
        let told = || json!(Event::TurnEnded(end.clone()));
        match self.format {
            Format::StreamJson => self.json(&told()),
            Format::Json => {
                let mut whole = told();
                if let Value::Object(fields) = &mut whole {
                    fields.insert("version".to_owned(), VERSION.into());
                }
                self.json(&whole);
            }
            Format::Text if end.text.is_empty() => {}
            Format::Text => self.write(&end.text),
        }
        if let Ok(mut side) = self.aside.lock() {
            side.end(end);
        }
    }

    fn json(&self, value: &Value) {
        self.write(&value.to_string());
    }

    /// One line, or a text that ends in one line end.
    fn write(&self, text: &str) {
        let Ok(mut out) = self.out.lock() else { return };
        let text = text.strip_suffix('\n').unwrap_or(text);
        if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
            self.closed.store(true, Ordering::Release);
            self.cancel.cancel();
        }
    }
}

impl<E: Write> Side<E> {
    fn event(&mut self, event: Event) {
        let Aside::All(verbosity) = self.kind else { return };
        // The words are the answer, which goes elsewhere.
        if matches!(event, Event::Text { .. } | Event::Reasoning { .. } | Event::TextVoid) {
            return;
        }
        self.show.verbosity = verbosity;
        let lines = self.show.event(event, Duration::ZERO);
        self.put(&lines);
    }

    fn end(&mut self, end: &TurnEnd) {
        if end.status != TurnStatus::Answered {
            let why = end.error.as_deref().unwrap_or(match end.status {
                TurnStatus::Interrupted => "stopped",
                TurnStatus::OutOfBudget => "it ran out of model calls",
                TurnStatus::Denied => "what it needed was denied",
                TurnStatus::ProviderFailed => "no model could answer",
                _ => "it failed",
            });
            let _ = writeln!(self.out, "error: {}", clean(why));
        }
        match self.kind {
            Aside::Nothing => {}
            Aside::Session => {
                let _ = writeln!(self.out, "\nsession_id: {}", clean(&end.session));
            }
            Aside::All(_) => self.put(&[Line::plain(&summary(end))]),
        }
    }

    fn put(&mut self, lines: &[Line]) {
        for line in lines.iter().filter(|line| **line != Line::default()) {
            // Standard error may be closed; what is said there is not the answer.
            let _ = writeln!(self.out, "{}", line.paint(false));
        }
    }
}

/// The last line on standard error.
fn summary(end: &TurnEnd) -> String {
    let mut parts = vec![
        format!("session_id: {}", end.session),
        end.model.clone(),
        format!("↑{} ↓{}", tokens(end.usage.input), tokens(end.usage.output)),
        format!("{} calls", end.tool_calls),
    ];
    parts.extend(end.cost_usd.map(dollars));
    parts.push(seconds(end.seconds));
    parts.join(" · ")
}

/// How what happens is told. Where it is not, the tools need no pictures.
fn show(aside: Aside, talk: &dyn Talk) -> Show {
    let tools = if matches!(aside, Aside::All(_)) { talk.tools() } else { Vec::new() };
    Show::new(Canvas { width: COLUMNS, colour: false }, Status::default(), Live::new(tools))
}

#[cfg(test)]
#[path = "oneshot_tests.rs"]
mod tests;
