//! A tool made from two closures: what a call would do, and doing it.
//!
//! For embedders and tests whose tools have no argument type of their own. The call takes the same
//! road as any other: its arguments are held to the schema before the closures see them.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::cx::ToolCx;
use crate::effect::Effect;
use crate::error::ToolError;
use crate::session::Place;
use crate::tool::{Handler, LazyDefinition, PreparedCall, Reply, ToolEntry};

/// States the effects of a call.
type EffectsFn = dyn Fn(&Map<String, Value>, &Place) -> Vec<Effect> + Send + Sync;

/// Does the call.
type RunFn = dyn Fn(Map<String, Value>, ToolCx) -> BoxFuture<'static, Result<Reply, ToolError>> + Send + Sync;

struct Closures {
    effects: Arc<EffectsFn>,
    run: Arc<RunFn>,
}

struct ClosureCall {
    arguments: Map<String, Value>,
    effects: Arc<EffectsFn>,
    run: Arc<RunFn>,
}

impl ToolEntry {
    /// A foreign tool made from closures. Its output is taken as untrusted until said otherwise.
    ///
    /// ```
    /// use hermes_core::tool::{Definition, ToolEntry};
    /// use serde_json::{Value, json};
    ///
    /// let definition = Definition {
    ///     description: "Say something back.".to_owned(),
    ///     parameters: json!({ "type": "object", "properties": { "text": { "type": "string" } } }),
    /// };
    /// let echo = ToolEntry::from_fn(
    ///     "echo",
    ///     "demo",
    ///     definition,
    ///     |_arguments, _place| Vec::new(),
    ///     |arguments, _cx| async move { Ok(Value::Object(arguments)) },
    /// );
    ///
    /// assert_eq!(echo.name().as_ref(), "echo");
    /// ```
    pub fn from_fn<E, R, Answer, Said>(
        name: impl Into<Arc<str>>,
        toolset: impl Into<Arc<str>>,
        definition: impl Into<LazyDefinition>,
        effects: E,
        run: R,
    ) -> Self
    where
        E: Fn(&Map<String, Value>, &Place) -> Vec<Effect> + Send + Sync + 'static,
        R: Fn(Map<String, Value>, ToolCx) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Result<Said, ToolError>> + Send + 'static,
        Said: Into<Reply>,
    {
        let run = move |arguments, cx| -> BoxFuture<'static, Result<Reply, ToolError>> {
            let answer = run(arguments, cx);
            Box::pin(async move { answer.await.map(Into::into) })
        };
        Self::new(name, toolset, definition, Closures { effects: Arc::new(effects), run: Arc::new(run) })
    }
}

impl Handler for Closures {
    fn prepare(&self, arguments: Map<String, Value>) -> Result<Box<dyn PreparedCall>, ToolError> {
        let (effects, run) = (Arc::clone(&self.effects), Arc::clone(&self.run));
        Ok(Box::new(ClosureCall { arguments, effects, run }))
    }
}

impl PreparedCall for ClosureCall {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        (self.effects)(&self.arguments, place)
    }

    fn run(self: Box<Self>, cx: &ToolCx) -> BoxFuture<'_, Result<Reply, ToolError>> {
        (self.run)(self.arguments, cx.clone())
    }
}

impl From<Value> for Reply {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for Reply {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}
