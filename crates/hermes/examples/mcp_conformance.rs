//! A server for the official MCP conformance suite: the server of `hermes mcp serve`, with the
//! fixture tools, resources and prompts that the suite asks for installed as an embedder would.
//!
//!     cargo run -p hermes --example mcp_conformance
//!
//! It prints its address, lets anyone on this machine in, and ends with its standard input.

#![expect(clippy::print_stdout, reason = "the address is the answer of this program")]

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hermes::core::cx::ToolCx;
use hermes::core::error::ToolError;
use hermes::core::outcome::Attachment;
use hermes::core::registry::{Scope, Source};
use hermes::core::tool::{Definition, Reply, ToolEntry};
use hermes::core::toolset::Selection;
use hermes::extend::mcp::server::model::{
    CompleteRequestParams, CompletionInfo, ContentBlock, GetPromptRequestParams, GetPromptResult, Prompt,
    PromptArgument, PromptMessage, Resource, ResourceContents, ResourceTemplate, Role,
};
use hermes::extend::mcp::server::{Access, Client, Filled, HttpSettings, Level, Progress, Shelf};
use hermes::{McpServer, Runtime};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

/// A picture of one red point.
const PNG: &[u8] = &[
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 144,
    119, 83, 222, 0, 0, 0, 12, 73, 68, 65, 84, 8, 215, 99, 248, 207, 192, 0, 0, 3, 1, 1, 0, 24, 221, 141,
    176, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];

/// The same as text.
const PNG_TEXT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVQI12P4z8AAAAMBAQAY3Y2wAAAAAElFTkSuQmCC";

/// A sound without any samples.
const WAV: &[u8] =
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data\0\0\0\0";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Runtime::builder().cwd("/").build()?;
    runtime.install(fixtures())?;
    let settings =
        HttpSettings { address: ([127, 0, 0, 1], 0).into(), access: Access::Anyone, names: Vec::new() };
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let watch = move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        stopped.cancel();
    };
    runtime.host().run_blocking(Box::new(watch));
    let server = McpServer::new(&runtime, Selection::of(["conformance"]))?.shelf(Arc::new(Fixtures));
    server.http(settings, |address| println!("http://{address}/mcp"), stop)?;
    Ok(())
}

/// A tool without effects.
fn tool<R, Answer>(name: &'static str, parameters: Value, run: R) -> ToolEntry
where
    R: Fn(Map<String, Value>, ToolCx) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = Result<Reply, ToolError>> + Send + 'static,
{
    let definition = Definition { description: format!("Fixture {name}"), parameters };
    ToolEntry::from_fn(name, "conformance", definition, |_, _| Vec::new(), run).trusted()
}

fn no_arguments() -> Value {
    json!({ "type": "object", "properties": {} })
}

fn one_text(name: &str) -> Value {
    json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] })
}

#[expect(clippy::unnecessary_wraps, reason = "it ends handlers, which may fail")]
fn text(text: impl Into<String>) -> Result<Reply, ToolError> {
    Ok(Reply::Text(text.into()))
}

#[expect(clippy::unnecessary_wraps, reason = "it ends handlers, which may fail")]
fn attached(value: Value, attachments: Vec<Attachment>) -> Result<Reply, ToolError> {
    Ok(Reply::Attached(value, attachments))
}

fn attachment(media_type: &str, name: &str, bytes: &[u8]) -> Attachment {
    Attachment { media_type: media_type.to_owned(), name: name.to_owned(), bytes: bytes.into() }
}

fn client(cx: &ToolCx) -> Result<Client, ToolError> {
    cx.service::<Client>().copied().ok_or_else(|| ToolError::Failed("no client".to_owned()))
}

fn fixtures() -> Scope {
    asking(Scope::new(Source::Embedder("conformance".to_owned())))
        .tool(tool("test_simple_text", no_arguments(), |_, _| async {
            text("This is a simple text response for testing.")
        }))
        .tool(tool("test_image_content", no_arguments(), |_, _| async {
            attached(json!({}), vec![attachment("image/png", "red.png", PNG)])
        }))
        .tool(tool("test_audio_content", no_arguments(), |_, _| async {
            attached(json!({}), vec![attachment("audio/wav", "none.wav", WAV)])
        }))
        .tool(tool("test_embedded_resource", no_arguments(), |_, _| async {
            let words = b"This is an embedded resource content.";
            attached(json!({}), vec![attachment("text/plain", "test://embedded-resource", words)])
        }))
        .tool(tool("test_multiple_content_types", no_arguments(), |_, _| async {
            let document = attachment(
                "application/json",
                "test://mixed-content-resource",
                br#"{"test":"data","value":123}"#,
            );
            attached(
                json!({ "result": "Multiple content types test:" }),
                vec![attachment("image/png", "red.png", PNG), document],
            )
        }))
        .tool(tool("test_error_handling", no_arguments(), |_, _| async {
            Err(ToolError::Failed("This tool intentionally returns an error for testing".to_owned()))
        }))
        .tool(tool("json_schema_2020_12_tool", schema_2020_12(), |_, _| async { text("fine") }))
        .tool(tool("test_tool_with_logging", no_arguments(), |_, cx| logging(cx)))
        .tool(tool("test_tool_with_progress", no_arguments(), |_, cx| progress(cx)))
        .tool(tool("test_reconnection", no_arguments(), |_, cx| async move {
            cx.host().sleep(Duration::from_millis(100)).await;
            text("Reconnected")
        }))
        .tool(tool("test_sampling", one_text("prompt"), sampling))
        .tool(tool("test_elicitation", one_text("message"), |arguments, cx| async move {
            let message = arguments.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
            let fields = json!({
                "username": { "type": "string", "description": "User's response" },
                "email": { "type": "string", "description": "User's email address" },
            });
            form(&cx, &message, fields, &["username", "email"]).await
        }))
        .tool(tool("test_elicitation_sep1034_defaults", no_arguments(), |_, cx| async move {
            form(&cx, "Please look at the defaults", defaults(), &[]).await
        }))
        .tool(tool("test_elicitation_sep1330_enums", no_arguments(), |_, cx| async move {
            form(&cx, "Please choose", enums(), &[]).await
        }))
}

/// Tools that clients of the newest protocol are asked by.
fn asking(scope: Scope) -> Scope {
    let asks =
        move |tool_name: &'static str, fields: fn() -> Value| {
            tool(tool_name, no_arguments(), move |_, cx| async move {
                form(&cx, "Please say", fields(), &[]).await
            })
        };
    scope
        .tool(asks("test_input_required_result_elicitation", || json!({ "name": { "type": "string" } })))
        .tool(asks("test_input_required_result_request_state", || json!({ "ok": { "type": "boolean" } })))
        .tool(asks("test_input_required_result_tampered_state", || json!({ "ok": { "type": "boolean" } })))
        .tool(tool("test_input_required_result_sampling", no_arguments(), sampling))
        .tool(tool("test_input_required_result_capabilities", no_arguments(), sampling))
        .tool(tool("test_input_required_result_multi_round", no_arguments(), |_, cx| async move {
            form(&cx, "What is your name?", json!({ "name": { "type": "string" } }), &[]).await?;
            form(&cx, "Which colour?", json!({ "color": { "type": "string" } }), &[]).await
        }))
}

fn schema_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": {
            "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
        } },
        "properties": { "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" } },
        "additionalProperties": false,
    })
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

fn enums() -> Value {
    let titled = |words: [&str; 3]| {
        let named: Vec<Value> = (1..)
            .zip(words)
            .map(|(n, title)| json!({ "const": format!("value{n}"), "title": title }))
            .collect();
        Value::Array(named)
    };
    let options = json!(["option1", "option2", "option3"]);
    json!({
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"]) },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": {
            "type": "array",
            "items": { "anyOf": titled(["First Choice", "Second Choice", "Third Choice"]) },
        },
    })
}

async fn logging(cx: ToolCx) -> Result<Reply, ToolError> {
    let client = client(&cx)?;
    for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        client.log(Level::Info, json!(line));
        cx.host().sleep(Duration::from_millis(50)).await;
    }
    text("Tool with logging executed successfully")
}

async fn progress(cx: ToolCx) -> Result<Reply, ToolError> {
    let client = client(&cx)?;
    for done in [0.0, 50.0, 100.0] {
        client.progress(Progress { done, total: Some(100.0), message: None });
        cx.host().sleep(Duration::from_millis(50)).await;
    }
    text("Tool with progress executed successfully")
}

async fn sampling(arguments: Map<String, Value>, cx: ToolCx) -> Result<Reply, ToolError> {
    let prompt = arguments.get("prompt").cloned().unwrap_or_else(|| json!("What is the capital of France?"));
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    let answer = client(&cx)?.sample(json!({ "messages": [message], "maxTokens": 100 })).await;
    let answer = answer.map_err(|why| ToolError::Failed(why.to_string()))?;
    let said = answer.pointer("/content/text").or_else(|| answer.pointer("/content/0/text"));
    text(format!("LLM response: {}", said.and_then(Value::as_str).unwrap_or_default()))
}

async fn form(cx: &ToolCx, message: &str, fields: Value, required: &[&str]) -> Result<Reply, ToolError> {
    let schema = json!({ "type": "object", "properties": fields, "required": required });
    let schema = schema.as_object().cloned().unwrap_or_default();
    let filled = client(cx)?.form(message, schema).await.map_err(|why| ToolError::Failed(why.to_string()))?;
    text(match filled {
        Filled::Accepted(content) => {
            format!("Elicitation completed: action=accept, content={}", Value::Object(content))
        }
        Filled::Declined => "Elicitation completed: action=decline, content={}".to_owned(),
        Filled::Cancelled => "Elicitation completed: action=cancel, content={}".to_owned(),
    })
}

/// The suite's resources and prompts.
struct Fixtures;

impl Shelf for Fixtures {
    fn resources(&self) -> Vec<Resource> {
        vec![
            Resource::new("test://static-text", "Static text").with_mime_type("text/plain"),
            Resource::new("test://static-binary", "Static picture").with_mime_type("image/png"),
            Resource::new("test://watched-resource", "Watched text").with_mime_type("text/plain"),
        ]
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        vec![
            ResourceTemplate::new("test://template/{id}/data", "Data by id")
                .with_mime_type("application/json"),
        ]
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Option<Vec<ResourceContents>>> {
        let contents = match uri {
            "test://static-text" => {
                Some(ResourceContents::text("This is the content of the static text resource.", uri))
            }
            "test://watched-resource" => Some(ResourceContents::text("Watched.", uri)),
            "test://static-binary" => Some(ResourceContents::blob(PNG_TEXT, uri).with_mime_type("image/png")),
            _ => uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data")).map(|id| {
                let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
            }),
        };
        Box::pin(std::future::ready(contents.map(|contents| vec![contents])))
    }

    fn prompts(&self) -> Vec<Prompt> {
        let wanted =
            |name: &str| PromptArgument::new(name).with_description("A test argument").with_required(true);
        let prompt = |name: &str, arguments: Vec<PromptArgument>| {
            Prompt::new(name, Some("A fixture"), Some(arguments))
        };
        vec![
            prompt("test_simple_prompt", Vec::new()),
            prompt("test_prompt_with_arguments", vec![wanted("arg1"), wanted("arg2")]),
            prompt("test_prompt_with_embedded_resource", vec![wanted("resourceUri")]),
            prompt("test_prompt_with_image", Vec::new()),
        ]
    }

    fn prompt(&self, wanted: &GetPromptRequestParams) -> Result<GetPromptResult, String> {
        let argument = |name: &str| {
            let value = wanted.arguments.as_ref().and_then(|arguments| arguments.get(name));
            value.and_then(Value::as_str).ok_or_else(|| format!("the argument `{name}` is missing"))
        };
        let said = |text: String| PromptMessage::new_text(Role::User, text);
        let shown = |content: ContentBlock| PromptMessage::new(Role::User, content);
        let messages = match wanted.name.as_str() {
            "test_simple_prompt" => vec![said("This is a simple prompt for testing.".to_owned())],
            "test_prompt_with_arguments" => {
                let (one, two) = (argument("arg1")?, argument("arg2")?);
                vec![said(format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
            }
            "test_prompt_with_embedded_resource" => {
                let contents = ResourceContents::text(
                    "Embedded resource content for testing.",
                    argument("resourceUri")?,
                );
                let ask = "Please process the embedded resource above.".to_owned();
                vec![shown(ContentBlock::resource(contents)), said(ask)]
            }
            "test_prompt_with_image" => {
                let ask = "Please analyze the image above.".to_owned();
                vec![shown(ContentBlock::image(PNG_TEXT, "image/png")), said(ask)]
            }
            other => return Err(format!("there is no prompt `{other}`")),
        };
        Ok(GetPromptResult::new(messages))
    }

    fn complete(&self, wanted: &CompleteRequestParams) -> CompletionInfo {
        let all = ["test1", "test2", "other"];
        let fits = all.into_iter().filter(|value| value.starts_with(&wanted.argument.value));
        CompletionInfo::with_all_values(fits.map(str::to_owned).collect()).unwrap_or_default()
    }
}
