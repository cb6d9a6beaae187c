//! The shell around a command: what it starts with, and what it leaves for the next one.
//!
//! Every command is a fresh shell. Before it the session's variables, functions, aliases and
//! directory are put back; after it they are written to a private file, never into its output, so
//! nothing a command prints can be taken for them. Both are left out where a command cannot tell the
//! difference.

pub(crate) mod dump;
pub(crate) mod folder;
pub(crate) mod lasting;
pub(crate) mod owner;
pub(crate) mod script;
pub(crate) mod state;
pub mod variables;
mod withheld;
