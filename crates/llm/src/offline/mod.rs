//! A model that needs no network: it reads a plain request, calls the tool that is meant, and tells
//! the result. Nothing is guessed by chance; the same conversation gives the same answer.
//!
//! It is what answers when no real model is configured, so that the tools can be tried at once, and
//! it always says that it is that.

mod fill;
mod render;
mod route;
mod words;

use std::fmt::Write as _;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use hermes_core::model::{
    AssistantMessage, EventSink, Finish, Message, Model, ModelCall, ModelError, ModelEvent, ModelReply,
    ModelRequest, Part,
};

use crate::tools_json::{Offered, OfferedTool};
use route::Route;

/// Its name, for people and records.
pub const OFFLINE_NAME: &str = "offline/built-in";

/// Said once in a conversation.
const NOTE: &str = "(This is the built-in offline model: it only routes plain requests to tools. \
Choose a real model with `hermes model`, or run `hermes setup`.)";

/// Tools named in the answer to a request that names none.
const SHOWN: usize = 24;

/// The model that needs no network.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Offline {
    /// What it answers, without waiting for anything.
    pub fn answer(request: &ModelRequest) -> ModelReply {
        let offered = Offered::new(&request.tools);
        let asked = request.messages.iter().rposition(|message| matches!(message, Message::User { .. }));
        let since = asked.and_then(|at| request.messages.get(at + 1..)).unwrap_or(&request.messages);
        let text = asked.and_then(|at| request.messages.get(at)).map(words_of).unwrap_or_default();
        let results: Vec<String> = since.iter().filter_map(render::result).collect();
        let said =
            if results.is_empty() { decide(&text, &offered) } else { Said::Words(results.join("\n\n")) };
        let message = match said {
            Said::Call(name, arguments) => {
                let id = format!("offline_{}", request.messages.len());
                let calls = vec![ModelCall { id, name, arguments }];
                AssistantMessage { calls, finish: Finish::Calls, ..AssistantMessage::default() }
            }
            Said::Words(words) => {
                AssistantMessage { text: with_note(words, request), ..AssistantMessage::default() }
            }
        };
        ModelReply { message, model: OFFLINE_NAME.into(), ..ModelReply::default() }
    }
}

enum Said {
    Call(String, String),
    Words(String),
}

fn decide(text: &str, offered: &Offered) -> Said {
    match route::route(text, offered) {
        Route::Call { tool, arguments } => Said::Call(tool, serde_json::Value::Object(arguments).to_string()),
        Route::Missing { tool, parameters } => Said::Words(ask_for(offered.get(&tool), &tool, &parameters)),
        Route::None => Said::Words(help(offered)),
    }
}

/// Asks in words for what is missing.
fn ask_for(tool: Option<&OfferedTool>, name: &str, parameters: &[String]) -> String {
    let mut text = format!("I would call {name}, but I need to know more:\n");
    for parameter in parameters {
        let schema = tool.and_then(|tool| tool.parameter(parameter));
        let about = schema.and_then(|schema| schema.get("description")?.as_str()).unwrap_or_default();
        let choices: Vec<&str> = schema
            .and_then(|schema| schema.get("enum")?.as_array())
            .map(|values| values.iter().filter_map(|value| value.as_str()).collect())
            .unwrap_or_default();
        let _ = write!(text, "- {parameter}");
        if !about.is_empty() {
            let _ = write!(text, ": {about}");
        }
        if !choices.is_empty() {
            let _ = write!(text, " (one of {})", choices.join(", "));
        }
        text.push('\n');
    }
    let example: Vec<String> = parameters.iter().map(|parameter| format!("{parameter}=\"…\"")).collect();
    let _ = write!(text, "For example: use {name} with {}", example.join(" "));
    text
}

/// What can be asked, when nothing else fits.
fn help(offered: &Offered) -> String {
    if offered.is_empty() {
        return "I can only call tools, and none are enabled here.".into();
    }
    let mut text = String::from(
        "I can call a tool when you name it or say plainly what to do, for example \
         \"run `ls -la`\", \"read README.md\", \"search TODO in src\", \"list files\", or \
         a name with its arguments: `read_file {\"path\": \"README.md\"}`.\n\nTools that are here:\n",
    );
    let all: Vec<_> = offered.all().collect();
    for tool in all.iter().take(SHOWN) {
        let first = tool.description.lines().next().unwrap_or_default();
        let first = first.split_once(". ").map_or(first, |(sentence, _)| sentence);
        let _ = writeln!(text, "- {}: {}", tool.name, words::shorten(first, 100));
    }
    if all.len() > SHOWN {
        let _ = writeln!(text, "… and {} more.", all.len() - SHOWN);
    }
    text.truncate(text.trim_end().len());
    text
}

/// The note goes with the first words of a conversation alone.
fn with_note(words: String, request: &ModelRequest) -> String {
    let noted = |message: &Message| matches!(message, Message::Assistant(said) if said.text.contains(NOTE));
    if request.messages.iter().any(noted) { words } else { format!("{words}\n\n{NOTE}") }
}

fn words_of(message: &Message) -> String {
    let Message::User { content } = message else { return String::new() };
    let text = content.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::Image { .. } => None,
    });
    text.collect::<Vec<_>>().join("\n")
}

impl Model for Offline {
    fn name(&self) -> &str {
        OFFLINE_NAME
    }

    fn provider(&self) -> &'static str {
        "offline"
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        events: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        async move {
            let reply = Self::answer(request);
            if !reply.message.text.is_empty() {
                events(ModelEvent::Text(reply.message.text.clone()));
            }
            for call in &reply.message.calls {
                events(ModelEvent::CallBegins { name: call.name.clone() });
            }
            Ok(reply)
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
