//! What the tools around commands share: reading a command's words and what it puts in danger,
//! cleaning its output, and saying what its code means.

pub(crate) mod ansi;
pub(crate) mod blocking;
pub(crate) mod endangered;
pub(crate) mod exit;
pub(crate) mod kept;
pub(crate) mod looking;
pub(crate) mod settings;
pub(crate) mod sudo;
pub(crate) mod words;
