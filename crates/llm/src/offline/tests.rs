use std::sync::{Arc, LazyLock};

use hermes_core::model::{AssistantMessage, Finish, Message, ModelReply, ModelRequest};
use serde_json::{Value, json};

use super::{NOTE, Offline};

/// The recorded schemas of the real tools, and a tool of weather.
static TOOLS: LazyLock<Arc<str>> = LazyLock::new(tools);

fn tools() -> Arc<str> {
    let fixture: Value = serde_json::from_str(include_str!("../../../../fixtures/tools.json")).unwrap();
    let about = |name: &str| name.replace('_', " ");
    let mut all: Vec<Value> = fixture["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            let name = tool["name"].as_str().unwrap();
            json!({"type": "function", "function": {"name": name, "description": about(name), "parameters": tool["parameters"]}})
        })
        .collect();
    all.push(json!({"type": "function", "function": {
        "name": "get_weather",
        "description": "Current weather of a city",
        "parameters": {"type": "object", "properties": {
            "city": {"type": "string", "description": "Name of the city"},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            "days": {"type": "integer"},
        }, "required": ["city"]},
    }}));
    serde_json::to_string(&all).unwrap().into()
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: "s".into(),
        messages,
        tools: Arc::clone(&TOOLS),
        max_tokens: None,
        effort: None,
        session: None,
    }
}

fn ask(text: &str) -> ModelReply {
    Offline::answer(&request(vec![Message::user(text)]))
}

#[track_caller]
fn calls(text: &str, name: &str, arguments: Value) {
    let reply = ask(text);
    let call =
        reply.message.calls.first().unwrap_or_else(|| panic!("no call for {text:?}: {}", reply.message.text));

    assert_eq!(
        (call.name.as_str(), serde_json::from_str::<Value>(&call.arguments).unwrap()),
        (name, arguments),
        "{text}"
    );
    assert_eq!(reply.message.finish, Finish::Calls);
}

#[test]
fn plain_requests_find_their_tool() {
    calls("Use the weather tool for London", "get_weather", json!({"city": "London"}));
    calls("What is the weather in New York?", "get_weather", json!({"city": "New York"}));
    calls(
        "weather for \"São Paulo\" days=3 unit=celsius",
        "get_weather",
        json!({"city": "São Paulo", "unit": "celsius", "days": 3}),
    );
    calls("run `ls -la`", "terminal", json!({"command": "ls -la"}));
    calls("Run echo hello world", "terminal", json!({"command": "echo hello world"}));
    calls("read README.md", "read_file", json!({"path": "README.md"}));
    calls(
        "Please use read_file on src/main.rs with limit 20",
        "read_file",
        json!({"path": "src/main.rs", "limit": 20}),
    );
    calls("search TODO in src", "search_files", json!({"pattern": "TODO", "path": "src"}));
    calls("find \"fn main\" in the src folder", "search_files", json!({"pattern": "fn main", "path": "src"}));
    calls("list files", "search_files", json!({"pattern": "*", "target": "files"}));
    calls(
        "list the files in crates/llm",
        "search_files",
        json!({"pattern": "*", "target": "files", "path": "crates/llm"}),
    );
    calls("search the web for rust async traits", "web_search", json!({"query": "rust async traits"}));
    calls(
        "Use write_file to write \"hello\" to notes.txt",
        "write_file",
        json!({"path": "notes.txt", "content": "hello"}),
    );
}

#[test]
fn a_name_with_arguments_is_a_call() {
    let todos = json!({"todos": [{"id": "1", "content": "milk", "status": "pending"}]});

    calls(&format!("call todo with {todos}"), "todo", todos.clone());
    calls(&format!("todo {todos}"), "todo", todos);
    calls("read_file {\"path\": \"a.txt\"}", "read_file", json!({"path": "a.txt"}));
    calls("call process with action=list", "process", json!({"action": "list"}));
    calls("use process to list", "process", json!({"action": "list"}));
    calls(
        "use web_extract on https://example.com/a and https://example.com/b",
        "web_extract",
        json!({"urls": ["https://example.com/a", "https://example.com/b"]}),
    );
}

#[test]
fn what_is_missing_is_asked_for_in_words() {
    let reply = ask("use the get_weather tool");

    assert!(reply.message.calls.is_empty());
    assert!(reply.message.text.contains("city: Name of the city"), "{}", reply.message.text);
}

#[test]
fn talk_that_means_no_tool_is_answered_with_what_can_be_done() {
    for text in [
        "hello",
        "tell me a joke",
        "describe the process of photosynthesis",
        "what is the meaning of life?",
        "",
    ] {
        let reply = ask(text);

        assert!(reply.message.calls.is_empty(), "{text}: {:?}", reply.message.calls);
        assert!(reply.message.text.contains("Tools that are here:"), "{text}");
        assert!(reply.message.text.ends_with(NOTE));
    }
}

fn told(content: &Value) -> String {
    let mut messages = vec![Message::user("run `ls`")];
    let call = ask("run `ls`").message;
    let call_id = call.calls[0].id.clone();
    messages.push(Message::Assistant(call));
    messages.push(Message::Tool {
        call_id,
        name: "terminal".into(),
        content: content.to_string(),
        images: Vec::new(),
    });
    let reply = Offline::answer(&request(messages));

    assert!(reply.message.calls.is_empty());
    reply.message.text
}

#[test]
fn a_result_is_told_and_no_tool_called_again() {
    assert_eq!(told(&json!({"output": "a\nb\n", "exit_code": 0, "error": null})), format!("a\nb\n\n{NOTE}"));
    assert_eq!(
        told(&json!({"output": "", "exit_code": 2})),
        format!("output: \nexit_code: 2\n\n{NOTE}").replace("output: \n", "")
    );
    assert_eq!(told(&json!({"error": "denied"})), format!("terminal did not work: denied\n\n{NOTE}"));
    assert_eq!(
        told(&json!({"matches": [{"path": "a.rs", "line": 3, "content": " x"}], "total": 1})),
        format!("matches:\n- a.rs:3: x\ntotal: 1\n\n{NOTE}")
    );
    assert_eq!(told(&json!({})), format!("terminal is done; it had nothing to say.\n\n{NOTE}"));
}

#[test]
fn the_note_is_said_once_in_a_conversation() {
    let first = ask("hello").message;
    let messages = vec![Message::user("hello"), Message::Assistant(first), Message::user("hm")];

    let second = Offline::answer(&request(messages));

    assert!(!second.message.text.contains(NOTE));
}

#[test]
fn without_tools_it_says_so() {
    let mut request =
        request(vec![Message::user("read a.txt"), Message::Assistant(AssistantMessage::default())]);
    request.messages.truncate(1);
    request.tools = "[]".into();

    assert!(Offline::answer(&request).message.text.starts_with("I can only call tools"));
}

mod any_text {
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn never_panics(text in "\\PC{0,80}", quotes in "[`\"'“”{}\\[\\] a-z=:./]{0,40}") {
            super::ask(&text);
            super::ask(&quotes);
            super::ask(&format!("use get_weather {quotes}"));
        }
    }
}
