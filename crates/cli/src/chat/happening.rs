//! Everything that can happen while the chat is on the screen, in one queue.

use std::io;
use std::time::Duration;

use futures::channel::oneshot;
use hermes::agent::Event;
use hermes::core::clarify;
use hermes::core::policy::{Answer, ApprovalRequest};
use hermes::core::sudo::{Password, SudoQuestion};

use crate::chat::keys::Key;
use crate::chat::screen::Size;

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Happening {
    /// A key was pressed.
    Key(Key),
    /// Time has passed, and something on the screen moves.
    Tick,
    /// The terminal has another size.
    Resized,
    /// Nobody can type any more.
    Closed,
    /// The system wants the program to end, with this exit code.
    Signal(u8),
    /// The agent did something.
    Agent(Event),
    /// A call waits for an answer.
    Ask(Box<ApprovalRequest>, oneshot::Sender<Answer>),
    /// The agent wants to know something.
    Clarify(Box<clarify::Question>, oneshot::Sender<clarify::Answer>),
    /// `sudo` wants a password.
    Password(Box<SudoQuestion>, oneshot::Sender<Option<Password>>),
    /// The person should know this.
    Warning(String),
}

/// What the chat asks of the terminal besides drawing.
pub(crate) trait Desk {
    /// Whether ticks are wanted: something on the screen moves.
    fn tick(&self, on: bool);

    /// Stops this process as Ctrl-Z does; comes back when it goes on.
    fn suspend(&self) -> io::Result<()>;

    /// How large the terminal is now.
    fn size(&self) -> Size;

    /// Time since the chat began.
    fn now(&self) -> Duration;
}
