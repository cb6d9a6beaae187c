//! Shell hooks: programs of the person's own that are told about calls and sessions.
//!
//! | file | what |
//! |---|---|
//! | `words.rs` | a command as words, without a shell |
//! | `payload.rs` | what a program is told |
//! | `answer.rs` | what its answer means |
//! | `decision.rs` | the words that decide, for plugins too |
//! | `matcher.rs` | which tools it is for |
//! | `run.rs` | one program, from start to end |
//! | `observers.rs` | how many of those that nobody waits for there are |
//! | `line.rs` | what one of them was not told yet |
//! | `shell.rs` | the hook itself |

mod answer;
pub(crate) mod decision;
pub(crate) mod line;
mod matcher;
mod observers;
mod payload;
mod run;
mod shell;
mod words;

pub use matcher::wrong_pattern;
pub use observers::Observers;
pub use payload::sample;
pub use run::{Ran, run};
pub use shell::{Consents, ShellHook, ShellHookSpec, Tried};
pub use words::{BadWords, words};
