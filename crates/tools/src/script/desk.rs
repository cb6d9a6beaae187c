//! Takes the calls of a running script and puts them on the session's road.
//!
//! Nothing the script writes is trusted: a message that is no call, a tool it may not use and a call
//! too many are answered with an error and go no further.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use hermes_core::call::ToolCall;
use hermes_core::environment::Desk;
use hermes_core::road::Caller;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::NOT_IN_SCRIPTS;

/// The desk of one script.
pub(crate) struct Calls {
    caller: Caller,
    /// Names of the tools it may call.
    allowed: Vec<Arc<str>>,
    most: u64,
    made: AtomicU64,
}

/// A call as the script writes it.
#[derive(Deserialize)]
struct Asked {
    id: u64,
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

impl Calls {
    pub(crate) fn new(caller: Caller, allowed: Vec<Arc<str>>, most: u64) -> Self {
        Self { caller, allowed, most, made: AtomicU64::new(0) }
    }

    /// How many calls the script has made.
    pub(crate) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed).min(self.most)
    }

    /// Why this call is not even put on the road.
    fn refusal(&self, asked: &Asked) -> Option<String> {
        if !self.allowed.iter().any(|name| **name == *asked.tool) {
            let names = self.allowed.join(", ");
            let names = if names.is_empty() { "no tools".to_owned() } else { names };
            return Some(format!("`{}` cannot be called from a script here; it has {names}", asked.tool));
        }
        let given = |name: &&&str| {
            asked.arguments.get(**name).is_some_and(|it| !matches!(it, Value::Null | Value::Bool(false)))
        };
        if asked.tool == "terminal"
            && let Some(name) = NOT_IN_SCRIPTS.iter().find(given)
        {
            return Some(format!("{name} is not possible in a script, which waits for every command"));
        }
        if self.made.fetch_add(1, Ordering::Relaxed) >= self.most {
            let most = self.most;
            return Some(format!("{most} calls were made, which is the most for one script"));
        }
        None
    }

    async fn result(&self, asked: Asked, over: &CancellationToken) -> Value {
        if let Some(why) = self.refusal(&asked) {
            return json!({ "error": why });
        }
        let call = ToolCall::new(asked.tool, Value::Object(asked.arguments).to_string());
        let outcome = self.caller.call(call, over).await;
        serde_json::from_str(&outcome.body).unwrap_or(Value::String(outcome.body))
    }
}

impl Desk for Calls {
    fn answer<'a>(&'a self, message: Vec<u8>, over: &'a CancellationToken) -> BoxFuture<'a, Vec<u8>> {
        Box::pin(async move {
            let answer = match serde_json::from_slice::<Asked>(&message) {
                Ok(asked) => json!({ "id": asked.id, "result": self.result(asked, over).await }),
                Err(wrong) => json!({ "id": null, "error": format!("this is no call: {wrong}") }),
            };
            answer.to_string().into_bytes()
        })
    }
}
