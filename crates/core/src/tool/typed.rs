//! From an argument type to a handler: parse, then run on the right kind of thread.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::cx::{Services, ToolCx};
use crate::effect::Effect;
use crate::error::ToolError;
use crate::host;
use crate::json::derived;
use crate::session::Place;
use crate::tool::{BlockingTool, Definition, Handler, PreparedCall, Reply, Tool};

/// Description and parameters of an argument type.
pub(super) fn describe<T: JsonSchema>() -> Definition {
    let schema = derived::<T>();
    Definition { description: schema.description, parameters: schema.parameters }
}

fn parse<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, ToolError> {
    T::deserialize(Value::Object(arguments)).map_err(|wrong| ToolError::Arguments(wrong.to_string()))
}

/// Handler of a [`Tool`].
pub(super) struct Async<T>(pub(super) PhantomData<fn() -> T>);

/// Handler of a [`BlockingTool`].
pub(super) struct Blocking<T>(pub(super) PhantomData<fn() -> T>);

struct AsyncCall<T>(T);

struct BlockingCall<T>(T);

impl<T: Tool> Handler for Async<T> {
    fn prepare(&self, arguments: Map<String, Value>) -> Result<Box<dyn PreparedCall>, ToolError> {
        Ok(Box::new(AsyncCall(parse::<T>(arguments)?)))
    }
}

impl<T: BlockingTool> Handler for Blocking<T> {
    fn prepare(&self, arguments: Map<String, Value>) -> Result<Box<dyn PreparedCall>, ToolError> {
        Ok(Box::new(BlockingCall(parse::<T>(arguments)?)))
    }
}

impl<T: Tool> PreparedCall for AsyncCall<T> {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        self.0.effects(place)
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        self.0.effects_with(place, services)
    }

    fn run(self: Box<Self>, cx: &ToolCx) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(self.0.reply(cx))
    }
}

impl<T: BlockingTool> PreparedCall for BlockingCall<T> {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        self.0.effects(place)
    }

    fn run(self: Box<Self>, cx: &ToolCx) -> BoxFuture<'_, Result<Reply, ToolError>> {
        let owned = cx.clone();
        Box::pin(async move {
            let work = move || catch_unwind(AssertUnwindSafe(|| self.0.call(&owned)));
            match host::blocking(cx.host(), work).await? {
                Ok(result) => result.map(Reply::Json),
                Err(payload) => Err(ToolError::broken(payload.as_ref())),
            }
        })
    }
}
