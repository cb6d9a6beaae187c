//! What a tool is: a type whose fields are its arguments, and the entry that declares it.
//!
//! - here: the traits a tool implements, and what a handler hands back
//! - [`ToolDef`]: the table entry of a built-in tool, said in its own file
//! - [`ToolEntry`]: a registered tool, built-in or foreign; from a type, a handler or closures
//!
//! Foreign tools (plugins, MCP servers, embedders) are made at run time and take the same road.

mod def;
mod definition;
mod entry;
mod from_fn;
mod typed;

use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::cx::{Services, ToolCx};
use crate::effect::Effect;
use crate::error::{ToolError, ToolResult};
use crate::outcome::Attachment;
use crate::session::Place;

pub use crate::shape::cap::MaxSize;
pub use def::ToolDef;
pub use definition::{Definition, Fit, LazyDefinition};
pub use entry::ToolEntry;

/// Shown for a tool that names no emoji.
const DEFAULT_EMOJI: &str = "⚡";

/// A tool whose handler is async.
pub trait Tool: DeserializeOwned + JsonSchema + Send + 'static {
    /// What these arguments would do. Nothing can be done that is not declared here.
    fn effects(&self, place: &Place) -> Vec<Effect>;

    /// The same, for a tool whose effects depend on where a service keeps things.
    fn effects_with(&self, place: &Place, _services: &Services) -> Vec<Effect> {
        self.effects(place)
    }

    /// Does it.
    fn call(self, cx: &ToolCx) -> impl Future<Output = ToolResult> + Send;

    /// Does it, for a tool that hands back more than a JSON value.
    fn reply(self, cx: &ToolCx) -> impl Future<Output = Result<Reply, ToolError>> + Send {
        async move { self.call(cx).await.map(Reply::Json) }
    }
}

/// A tool whose handler blocks, and so runs off the async threads.
pub trait BlockingTool: DeserializeOwned + JsonSchema + Send + 'static {
    /// What these arguments would do. Nothing can be done that is not declared here.
    fn effects(&self, place: &Place) -> Vec<Effect>;

    /// Does it.
    fn call(self, cx: &ToolCx) -> ToolResult;
}

/// Arguments that were accepted: the call they stand for is ready to be judged and run.
pub trait PreparedCall: Send {
    /// What the call would do.
    fn effects(&self, place: &Place) -> Vec<Effect>;

    /// The same, where that depends on where a service keeps things.
    fn effects_with(&self, place: &Place, _services: &Services) -> Vec<Effect> {
        self.effects(place)
    }

    /// Does it.
    fn run(self: Box<Self>, cx: &ToolCx) -> BoxFuture<'_, Result<Reply, ToolError>>;
}

/// Turns arguments that fit the schema into a call.
pub trait Handler: Send + Sync + 'static {
    /// Accepts the arguments, or says which of them is wrong.
    fn prepare(&self, arguments: Map<String, Value>) -> Result<Box<dyn PreparedCall>, ToolError>;
}

/// What a handler hands back, before it is shaped.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// A JSON value.
    Json(Value),
    /// Text: a JSON document, or plain text.
    Text(String),
    /// Bytes that should be text; what is not UTF-8 is replaced.
    Bytes(Vec<u8>),
    /// A JSON value, and what comes beside it.
    Attached(Value, Vec<Attachment>),
}

/// Whether a tool's output may be taken at its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// It says what this machine or the user put there.
    #[default]
    Trusted,
    /// It carries text from strangers (web pages, mail, foreign servers), marked as such for the model.
    Untrusted,
}

/// Whether calls of a tool may overlap with others; its effects are looked at as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parallel {
    /// Whenever the declared effects do not conflict.
    #[default]
    ByEffects,
    /// Never: everything before it ends first, everything after it waits.
    Never,
}

/// What a dynamic schema may look at.
pub struct SchemaCx<'a> {
    /// The tools that are offered beside this one, sorted.
    pub offered: &'a [Arc<str>],
    /// Values of the configuration by dotted key.
    pub config: &'a (dyn Fn(&str) -> Option<Value> + 'a),
}

impl SchemaCx<'_> {
    /// Whether a tool is offered in the same plan.
    pub fn offers(&self, tool: &str) -> bool {
        self.offered.binary_search_by(|known| known.as_ref().cmp(tool)).is_ok()
    }
}

/// Changes a definition to fit what is offered beside it; `None` leaves the tool out.
pub type DynamicSchema = fn(Definition, &SchemaCx<'_>) -> Option<Definition>;
