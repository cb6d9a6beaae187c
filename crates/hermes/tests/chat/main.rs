//! Conversations with an agent inside another program: real runtime, real store, a scripted model on
//! loopback.
//!
//! | module | what it proves |
//! |---|---|
//! | `cron` | scheduled work, by a clock in the hands of the test |
//! | `weather` | a tool of one's own is used, over every wire and without any |
//! | `going_on` | what is the same in the next question, the next turn and the next process |
//! | `deciding` | hooks that have a say, and what follows when they fail |
//! | `hooks` | what hooks are told beside calls, and which skills the prompt names |
//! | `trouble` | models that fail, tools that are stopped, little room |
//! | `wishes` | how hard to think, and what a message points at |

#![expect(clippy::disallowed_methods, reason = "the tests measure how long something took")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    reason = "helpers of tests fail like tests"
)]

mod cron;
mod deciding;
mod going_on;
mod hooks;
mod trouble;
mod weather;
mod wishes;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hermes::Runtime;
use hermes::agent::{Event, TurnEnd};
use hermes::chat::{Chat, Opening};
use hermes::core::model::{Message, Part};
use hermes::core::registry::{Scope, Source};
use hermes::core::tool::ToolEntry;
use hermes::core::toolset::Selection;
use hermes::store::Home;
use hermes_testkit::{ModelServer, TempHome, object};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A home whose model is served over this wire.
fn home(server: &ModelServer, wire: &str) -> TempHome {
    let home = TempHome::new();
    home.write("config.yaml", &config(&server.url(), wire));
    home
}

fn config(url: &str, wire: &str) -> String {
    format!(
        "model:\n  default: m\n  provider: custom\n  base_url: {url}\n  api_mode: {wire}\n  \
         api_key: sk-test\n"
    )
}

/// A runtime in that home, with these tools beside its own.
fn runtime(home: &TempHome, tools: Vec<ToolEntry>) -> Runtime {
    let scope = tools.into_iter().fold(Scope::new(Source::Embedder("test".to_owned())), Scope::tool);
    Runtime::builder().cwd("/").home(Home::at(home.path())).scope(scope).build().unwrap()
}

/// `weather`, and how often it was called.
fn weather() -> (ToolEntry, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let run = move |arguments: serde_json::Map<String, Value>, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move { Ok(json!({ "city": arguments["city"], "sky": "drizzle", "celsius": 11 })) }
    };
    let takes = object(&json!({ "city!": { "type": "string", "description": "The city" } }));
    (ToolEntry::from_fn("weather", "test", takes, |_, _| Vec::new(), run), count)
}

fn open(runtime: &Runtime, tools: &[&str], opening: Opening) -> Chat {
    let chosen = Selection::of(tools.iter().copied());
    runtime.chat().select(chosen).source("cli").opening(opening).open_blocking().unwrap()
}

/// One turn to its end.
fn ask(chat: &Chat, text: &str) -> TurnEnd {
    told(chat, text).0
}

/// One turn to its end, with what happened.
fn told(chat: &Chat, text: &str) -> (TurnEnd, Vec<Event>) {
    let events = Mutex::new(Vec::new());
    let sink = |event| events.lock().unwrap().push(event);
    let end = block_on(chat.turn(said(text), &sink, &CancellationToken::new()));
    (end, events.into_inner().unwrap())
}

fn said(text: &str) -> Vec<Part> {
    vec![Part::Text { text: text.to_owned() }]
}

/// The conversation, one word per message.
fn roles(chat: &Chat) -> Vec<&'static str> {
    let messages = block_on(chat.messages()).unwrap();
    messages.iter().map(role).collect()
}

fn role(message: &Message) -> &'static str {
    match message {
        Message::User { .. } => "user",
        Message::Assistant(_) => "assistant",
        Message::Tool { .. } => "tool",
    }
}
