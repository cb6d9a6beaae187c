//! A runtime with trivial tools: what a call of them costs is what the road costs.

use hermes::{BuildError, Runtime, ToolCall};
use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::registry::{Scope, Source};
use hermes_core::session::Place;
use hermes_core::tool::{BlockingTool, Tool, ToolDef, ToolEntry};
use hermes_core::toolset::Toolset;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

static BENCH: Toolset = Toolset::new("bench", "Tools that do nothing.");

/// The tool that does nothing, without waiting.
pub const NOOP: ToolDef = ToolDef::of::<Noop>("bench_noop", &BENCH);

/// The tool that does nothing, on a thread that may block.
pub const NOOP_BLOCKING: ToolDef = ToolDef::blocking::<NoopBlocking>("bench_noop_blocking", &BENCH);

/// Arguments as a model sends them: a number in quotes, one left out, one with an escape.
const ARGUMENTS: &str = r#"{"path": "src/main.rs", "offset": "40", "text": "first line\nsecond line"}"#;

/// Does nothing.
#[derive(Deserialize, JsonSchema)]
struct Noop {
    /// A path
    path: String,
    /// A first line
    #[schemars(range(min = 1))]
    offset: u64,
    /// Most lines
    #[serde(default = "page")]
    #[schemars(range(max = 2000))]
    limit: u64,
    /// Some text
    text: String,
}

fn page() -> u64 {
    500
}

impl Tool for Noop {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    async fn call(self, _cx: &ToolCx) -> ToolResult {
        Ok(json!({ "ok": self.seen() }))
    }
}

impl Noop {
    /// Uses every argument, so that none of the work of reading them can be left out.
    fn seen(&self) -> bool {
        self.offset < self.limit && !self.path.is_empty() && !self.text.is_empty()
    }
}

/// Does nothing, on a thread that may block.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct NoopBlocking(Noop);

impl BlockingTool for NoopBlocking {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn call(self, _cx: &ToolCx) -> ToolResult {
        Ok(json!({ "ok": self.0.seen() }))
    }
}

/// A runtime with the built-in tools and the trivial ones, and no state folder.
pub fn runtime() -> Result<Runtime, BuildError> {
    Runtime::builder().scope(scope()).build()
}

/// The trivial tools.
pub fn scope() -> Scope {
    let scope = Scope::new(Source::Embedder("bench".to_owned()));
    [NOOP, NOOP_BLOCKING].iter().fold(scope, |scope, def| scope.tool(ToolEntry::from(def)))
}

/// A call of one of the trivial tools.
pub fn call(tool: &ToolDef) -> ToolCall {
    ToolCall::new(tool.name(), ARGUMENTS).with_id("call_1")
}
