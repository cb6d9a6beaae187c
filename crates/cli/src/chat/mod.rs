//! `hermes chat`: the agent on a screen, and one answer without one.
//!
//! | module | what it is |
//! |---|---|
//! | `args`, `entry` | the words on the command line |
//! | `talk`, `open` | what the chat needs of an agent, and where it gets it |
//! | `interactive` | the loop that owns the screen |
//! | `oneshot` | one question, one answer, three forms |
//! | `show`, `live`, `preview`, `status` | a turn as lines and rows |
//! | `markdown`, `wrap`, `text` | words as lines; the one gate to the terminal |
//! | `editor`, `keys` | what is typed |
//! | `ask` | questions before something risky runs |
//! | `consent` | hooks that nobody accepted, before it begins |
//! | `slash`, `record` | what a slash command is; its files are in `crate::slash` |
//! | `screen`, `happening` | the one writer, the one queue |
//! | `terminal`, `files`, `settings` | the doors: keyboard, named files, `config.yaml` |

pub(crate) mod args;
mod ask;
mod consent;
mod editor;
pub(crate) mod entry;
pub(crate) mod files;
pub(crate) mod happening;
mod hidden;
pub(crate) mod interactive;
pub(crate) mod keys;
pub(crate) mod live;
mod markdown;
pub(crate) mod numbers;
pub(crate) mod oneshot;
mod open;
mod preview;
pub(crate) mod record;
pub(crate) mod screen;
mod settings;
mod show;
pub(crate) mod slash;
mod status;
pub(crate) mod talk;
pub(crate) mod terminal;
pub(crate) mod text;
mod wrap;

#[cfg(test)]
pub(crate) mod double;
