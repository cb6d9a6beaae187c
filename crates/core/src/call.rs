//! A call as it comes in by any door, and the id it gets here.

use std::fmt;
use std::sync::Arc;

/// The runtime's own id of a call: unique within the process, unlike the ids models make up.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(Arc<str>);

impl CallId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for CallId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for CallId {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a model, or any other caller, asked for: nothing in it is trusted yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The caller's id, carried through unchanged; it may be empty or repeated.
    pub given_id: String,
    /// The tool's name as written.
    pub name: String,
    /// The arguments as written, normally a JSON object.
    pub arguments: String,
}

impl ToolCall {
    /// A call without a caller's id.
    pub fn new(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { given_id: String::new(), name: name.into(), arguments: arguments.into() }
    }

    /// The same call under the caller's id.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.given_id = id.into();
        self
    }
}
