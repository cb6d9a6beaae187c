//! What an item is: a name, and a function that measures.

use std::path::{Path, PathBuf};

use hermes::store::Home;
use hermes::{Outcome, Runtime, Session, ToolCall};
use serde_json::{Value, json};

use crate::process;

/// Measured numbers by their key.
pub(crate) type Numbers = Vec<(&'static str, f64)>;

/// The table entry of an item: one `const` in the item's own file.
pub(crate) struct ItemDef {
    name: &'static str,
    measure: fn(&Work) -> Result<Numbers, String>,
    chat: bool,
}

impl ItemDef {
    /// An item and how it is measured, in a process of its own.
    pub(crate) const fn new(name: &'static str, measure: fn(&Work) -> Result<Numbers, String>) -> Self {
        Self { name, measure, chat: false }
    }

    /// It talks to the scripted model.
    pub(crate) const fn chat(mut self) -> Self {
        self.chat = true;
        self
    }

    /// Whether it talks to the scripted model.
    pub(crate) const fn is_chat(&self) -> bool {
        self.chat
    }

    /// The word on the command line, and the key of its numbers.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn measure(&self, work: &Work) -> Result<Numbers, String> {
        (self.measure)(work)
    }
}

/// The folder that items work in. Its `data` folder is made by the generator that all
/// implementations share.
pub(crate) struct Work {
    pub(crate) folder: PathBuf,
    /// Where the scripted model is.
    pub(crate) model: Option<String>,
}

impl Work {
    /// A file or folder of the shared data.
    pub(crate) fn data(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.folder.join("data").join(name);
        if process::is_there(&path) {
            Ok(path)
        } else {
            Err(format!("{} is not there: generate the data first", path.display()))
        }
    }

    /// A session with every tool, on a runtime with an empty home of the item's own.
    pub(crate) fn session(&self, item: &ItemDef) -> Result<Session, String> {
        let runtime = self.runtime(item)?;
        runtime.session().open().map_err(|wrong| wrong.to_string())
    }

    pub(crate) fn runtime(&self, item: &ItemDef) -> Result<Runtime, String> {
        let home = Home::at(&self.folder.join(format!("home-{}", item.name())));
        let builder = Runtime::builder().cwd(&self.folder).home(home).scope(hermes_bench::subject::scope());
        builder.build().map_err(|wrong| wrong.to_string())
    }
}

/// Calls a tool and insists that it worked: a quick failure is not a good number.
pub(crate) fn called(session: &Session, tool: &str, arguments: &Value) -> Result<Outcome, String> {
    worked(session.call_blocking(ToolCall::new(tool, arguments.to_string())))
}

/// The outcome of a call that worked.
pub(crate) fn worked(outcome: Outcome) -> Result<Outcome, String> {
    if outcome.status.is_ok() { Ok(outcome) } else { Err(format!("{}: {}", outcome.tool, outcome.body)) }
}

/// Arguments with the path that they are about.
pub(crate) fn with_path(mut arguments: Value, path: &Path) -> Value {
    if let Some(fields) = arguments.as_object_mut() {
        fields.insert("path".to_owned(), json!(path));
    }
    arguments
}
