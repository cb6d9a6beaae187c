//! The contract for the terminal that a person sees beside the conversation.
//!
//! A program that shows one (a desktop application, an editor) hands in a [`Panes`] with the session. Where
//! nobody does, the tools that need it are not there.

use futures::future::BoxFuture;

/// The terminals that the program around the conversation shows.
pub trait Panes: Send + Sync {
    /// Lines of the terminal that the person has in view.
    fn read(&self, wanted: Lines) -> BoxFuture<'_, Result<Screen, PaneError>>;

    /// Closes the tab in which a background process is shown; the process itself is left alone.
    fn close<'a>(&'a self, process: &'a str) -> BoxFuture<'a, Result<(), PaneError>>;
}

/// Which lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// The first, counted from 0 at the beginning of what is kept; none means the last ones.
    pub first: Option<u64>,
    /// How many at most.
    pub count: usize,
}

/// What a terminal shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Screen {
    /// The lines, without colours.
    pub lines: Vec<String>,
    /// The number of the first of them.
    pub first: u64,
    /// How many lines there are in all.
    pub total: u64,
    /// What runs there, or what the tab is called.
    pub title: Option<String>,
}

/// Why it cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PaneError {
    /// No terminal is open.
    #[error("no terminal is open")]
    None,
    /// No tab shows that process.
    #[error("no tab shows the process `{0}`")]
    Unknown(String),
    /// The program could not do it.
    #[error("{0}")]
    Failed(String),
}
