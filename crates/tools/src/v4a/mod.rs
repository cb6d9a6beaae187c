//! Patches in the V4A form: several operations on several files in one text.
//!
//! ```text
//! *** Begin Patch
//! *** Update File: src/a.py
//! @@ def f():
//!      x = 1
//! -    y = 2
//! +    y = 3
//! *** Add File: b.txt
//! +hello
//! *** Delete File: c.txt
//! *** Move File: d.txt -> e.txt
//! *** End Patch
//! ```
//!
//! - [`parse`]: the text as operations; forgiving about what models leave out
//! - `header`: what stands around the hunks
//! - [`hunk`]: one hunk put into one text
//! - [`apply`]: all operations, in order, on texts in memory
//!
//! Pure: nothing is written here, so nothing is half done when an operation does not fit.

pub mod apply;
mod header;
pub mod hunk;
pub mod parse;

pub use apply::{Doc, Docs, apply};
pub use parse::{Hint, Hunk, HunkLine, Op, Sign, parse};

/// Why a patch cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The text is no patch.
    #[error("{0}")]
    Syntax(String),
    /// An operation does not fit the file.
    #[error("{path}: {why}")]
    File {
        /// The file as the patch names it.
        path: String,
        /// What does not fit.
        why: String,
    },
}

impl PatchError {
    fn file(path: &str, why: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), why: why.into() }
    }
}
