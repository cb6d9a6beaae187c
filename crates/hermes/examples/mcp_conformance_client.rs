//! A client for the official MCP conformance suite: the whole runtime, pointed at the address that the
//! suite gives it, with a person who agrees to everything.
//!
//! The suite appends the address of its server and names the scenario in `MCP_CONFORMANCE_SCENARIO`.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a program of its own, for the suite"
)]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hermes::core::clarify::{Answer, Asker, Question};
use hermes::core::policy::{Policy, PolicyRequest, Verdict};
use hermes::extend::mcp::client::Status;
use hermes::extend::mcp::oauth::Person;
use hermes::store::Home;
use hermes::{Runtime, Session, ToolCall};
use hermes_net::{Call, Http, HttpSettings, Limits, Url};
use serde_json::{Value, json};

/// What the tools of the suite's server are called here.
const PREFIX: &str = "mcp__suite__";

/// Says yes to everything.
struct Everything;

impl Policy for Everything {
    fn judge(&self, _: &PolicyRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

/// Takes what is offered.
struct Content;

impl Asker for Content {
    fn ask(&self, _: Question) -> BoxFuture<'_, Answer> {
        Box::pin(std::future::ready(Answer::Said(String::new())))
    }
}

/// Follows the page's redirect as a browser would, without a browser.
struct Robot(Http);

impl Person for Robot {
    fn redirect_uri(&self) -> String {
        "http://localhost:3000/callback".to_owned()
    }

    fn visit(&self, page: &str) -> BoxFuture<'_, Result<String, String>> {
        let page = page.to_owned();
        Box::pin(async move {
            let url = Url::parse(&page).ok_or("the page has no address")?;
            let second = Duration::from_secs(10);
            let limits = Limits { connect: second, idle: second, total: second };
            let reply = self.0.send(Call::get(&url, limits)).await.map_err(|error| error.to_string())?;
            reply
                .header("location")
                .map(str::to_owned)
                .ok_or_else(|| format!("the page answers {}", reply.status))
        })
    }
}

/// The server as the scenario wants it.
fn server(url: &str, scenario: &str, context: &Value, folder: &Path) -> Value {
    let mut server = json!({ "url": url, "elicitation": { "enabled": true } });
    if scenario.starts_with("auth/") {
        let mut oauth =
            json!({ "client_metadata_url": "https://conformance-test.local/client-metadata.json" });
        for key in ["client_id", "client_secret"] {
            if let Some(value) = context.get(key) {
                oauth[key] = value.clone();
            }
        }
        if scenario.contains("client-credentials") {
            oauth["grant"] = json!("client_credentials");
        }
        if let Some(key) = context.get("private_key_pem").and_then(Value::as_str) {
            let file = folder.join("client.pem");
            // Without it the suite says that nobody has signed.
            let _ = std::fs::write(&file, key);
            oauth["private_key"] = json!(file);
        }
        if context.get("idp_id_token").is_some() {
            oauth["grant"] = json!("directory");
            oauth["directory"] = json!({
                "issuer": context["idp_issuer"], "client_id": context["idp_client_id"],
                "id_token": context["idp_id_token"],
            });
        }
        server["oauth"] = oauth;
    }
    server
}

/// The calls that the suite wants to see; every tool once where it names none.
fn calls(session: &Session, context: &Value) -> Vec<(String, Value)> {
    if let Some(wanted) = context.get("toolCalls").and_then(Value::as_array) {
        let call = |wanted: &Value| {
            let name = wanted["name"].as_str().unwrap_or_default();
            (format!("{PREFIX}{name}"), wanted["arguments"].clone())
        };
        return wanted.iter().map(call).collect();
    }
    let toolbox = session.toolbox_blocking();
    let entries: Vec<_> = toolbox
        .snapshot()
        .tools()
        .filter(|tool| tool.toolset().as_ref() == "mcp-suite")
        .map(|tool| (tool.name().to_string(), tool.definition().parameters.clone()))
        .collect();
    let focal = entries.iter().find(|(name, _)| name.ends_with("json_schema_2020_12_tool"));
    let call = |(name, schema): &(String, Value)| {
        let mut arguments = sample(schema);
        match name.strip_prefix(PREFIX) {
            // What the tool is called with must be the schema of the other, as it arrived here.
            Some("json_schema_echo") => {
                arguments["schema"] = focal.map(|it| it.1.clone()).unwrap_or_default();
            }
            Some("read_resource") => arguments["uri"] = first(session, "list_resources", "resources", "uri"),
            Some("get_prompt") => arguments["name"] = first(session, "list_prompts", "prompts", "name"),
            _ => {}
        }
        (name.clone(), arguments)
    };
    entries.iter().map(call).collect()
}

/// Something of the first thing that a server lists.
fn first(session: &Session, tool: &str, list: &str, field: &str) -> Value {
    let outcome = session.call_blocking(ToolCall::new(format!("{PREFIX}{tool}"), "{}"));
    let told: Value = serde_json::from_str(&outcome.body).unwrap_or_default();
    told["data"][list][0][field].clone()
}

/// Arguments that fit a schema: whatever is required, and nothing else.
fn sample(schema: &Value) -> Value {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let one = |name: &Value| {
        let name = name.as_str()?;
        let value = match schema["properties"][name]["type"].as_str() {
            Some("integer" | "number") => json!(5),
            Some("boolean") => json!(true),
            Some("object") => json!({}),
            Some("array") => json!([]),
            _ => json!("text"),
        };
        Some((name.to_owned(), value))
    };
    required.iter().filter_map(one).collect::<serde_json::Map<_, _>>().into()
}

fn main() -> ExitCode {
    let Some(url) = std::env::args().next_back() else { return ExitCode::from(2) };
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let Ok(folder) = tempfile::tempdir() else { return ExitCode::FAILURE };
    let config = json!({ "mcp_servers": { "suite": server(&url, &scenario, &context, folder.path()) }, "mcp_discovery_timeout": 25 });
    if std::fs::write(folder.path().join("config.yaml"), config.to_string()).is_err() {
        return ExitCode::FAILURE;
    }
    let person = Arc::new(Robot(Http::new(HttpSettings::default())));
    let home = Home::at(folder.path());
    let built = Runtime::builder().home(home).cwd(folder.path()).policy(Everything).person(person).build();
    let Ok(runtime) = built else { return ExitCode::FAILURE };
    runtime.mcp().ready_blocking();
    let asker: Arc<dyn Asker> = Arc::new(Content);
    let Ok(session) = runtime.session().extension(asker).open() else { return ExitCode::FAILURE };
    let mut worked = true;
    for server in runtime.mcp().servers() {
        eprintln!("{:?}", server.status());
        worked &= server.status() == Status::Connected;
    }
    for (tool, arguments) in calls(&session, &context) {
        let outcome = session.call_blocking(ToolCall::new(&tool, arguments.to_string()));
        eprintln!("{tool}: {}", outcome.body);
        worked &= outcome.status.is_ok();
    }
    // Leaves time for what is said at the end.
    std::thread::sleep(Duration::from_millis(200));
    if worked { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
