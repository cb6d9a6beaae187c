//! What a browser tells of: pages and the frames in them, dialogs; and what it is told in turn.

use std::time::Duration;

use serde_json::{Value, json};

/// A command for the browser, or for one of its pages.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Command {
    /// The page or frame, as the protocol calls it.
    pub(crate) session: Option<String>,
    /// What is to be done.
    pub(crate) method: String,
    /// Its parameters.
    pub(crate) params: Value,
}

impl Command {
    /// A command for a page or frame.
    pub(crate) fn to(session: &str, method: &str, params: Value) -> Self {
        Self { session: Some(session.to_owned()), method: method.to_owned(), params }
    }
}

/// What becomes of a dialog that nobody has answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum DialogPolicy {
    /// It waits for an answer.
    #[default]
    MustRespond,
    /// No.
    AutoDismiss,
    /// Yes.
    AutoAccept,
}

/// A dialog of a page that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dialog {
    /// Its name.
    pub(crate) id: String,
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub(crate) kind: String,
    /// What it says.
    pub(crate) message: String,
    /// What is written in it already.
    pub(crate) default: String,
    /// Where it came from.
    pub(crate) url: String,
    /// The page it belongs to.
    pub(crate) session: String,
    /// When it opened.
    pub(crate) since: Duration,
}

impl Dialog {
    /// As the model reads it.
    pub(crate) fn shown(&self) -> Value {
        json!({
            "id": self.id, "type": self.kind, "message": self.message,
            "default_prompt": self.default, "url": self.url,
        })
    }
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Page {
    /// The page as the protocol calls it when it is talked to, and when it is talked about.
    pub(crate) session: String,
    pub(crate) target: String,
    /// Where it is.
    pub(crate) url: String,
    /// Its outermost frame, and the document in it.
    pub(crate) frame: String,
    pub(crate) document: String,
    /// Whether it is being loaded, or has asked to go elsewhere.
    pub(crate) loading: bool,
    pub(crate) leaving: bool,
    /// Its process has died.
    pub(crate) crashed: bool,
    /// Frames of it that live in processes of their own.
    pub(crate) apart: Vec<Apart>,
}

/// A frame that lives in a process of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Apart {
    /// How it is talked to.
    pub(crate) session: String,
    /// The frame.
    pub(crate) frame: String,
    /// How the frame around it is talked to.
    pub(crate) around: String,
}

impl Page {
    /// Another document has come.
    pub(crate) fn navigated(&mut self, frame: &Value) {
        // A page that could not be loaded is known by the address that was wanted.
        let wanted = text(frame, "unreachableUrl");
        let url = if wanted.is_empty() { text(frame, "url") } else { wanted };
        url.clone_into(&mut self.url);
        text(frame, "id").clone_into(&mut self.frame);
        text(frame, "loaderId").clone_into(&mut self.document);
        self.leaving = false;
        self.crashed = false;
    }
}

/// Pages and frames that nobody can talk to any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lost {
    /// As the protocol calls them.
    pub(crate) sessions: Vec<String>,
    /// How that came about, in words.
    pub(crate) why: &'static str,
}

/// A text of an event; nothing is an empty one.
pub(crate) fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}
