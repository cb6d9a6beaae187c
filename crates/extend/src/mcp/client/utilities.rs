//! Tools to look at a server's resources and to use its prompts, where it has any.

use hermes_core::cx::ToolCx;
use hermes_core::json::{Dialect, is_fit, sanitize};
use hermes_core::tool::{Definition, Fit, Reply};
use rmcp::model::{ClientRequest, PaginatedRequestParams, RequestOptionalParam, ServerResult};
use serde_json::{Map, Value, json};

use super::call::CallError;
use super::config::ServerConfig;
use super::known::Known;
use super::media::Keeper;
use super::result::{Parts, attached};
use super::server::Server;
use super::told::{ToldTool, What};
use super::tools::utility_name;

/// Pages of a list that are asked for.
const MAX_PAGES: usize = 50;

/// The ones that fit what the server has and the configuration allows.
pub(super) fn told(config: &ServerConfig, known: &Known) -> Vec<ToldTool> {
    let filter = &config.filter;
    let resources = [Utility::ListResources, Utility::ReadResource];
    let prompts = [Utility::ListPrompts, Utility::GetPrompt];
    let resources = resources.into_iter().filter(|_| known.resources && filter.resources);
    let all = resources.chain(prompts.into_iter().filter(|_| known.prompts && filter.prompts));
    all.map(|utility| utility.told(config)).collect()
}

/// A tool of ours about a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Utility {
    ListResources,
    ReadResource,
    ListPrompts,
    GetPrompt,
}

impl Utility {
    const ALL: [Self; 4] = [Self::ListResources, Self::ReadResource, Self::ListPrompts, Self::GetPrompt];

    /// The one of this name.
    pub(super) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|utility| utility.word() == word)
    }

    /// Its name, without that of the server.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::ListResources => "list_resources",
            Self::ReadResource => "read_resource",
            Self::ListPrompts => "list_prompts",
            Self::GetPrompt => "get_prompt",
        }
    }

    /// What it says.
    pub(super) async fn answer(
        self,
        server: &Server,
        arguments: Map<String, Value>,
        cx: &ToolCx,
    ) -> Result<Reply, CallError> {
        answer(server, self, arguments, cx).await
    }

    /// As it is offered.
    fn told(self, config: &ServerConfig) -> ToldTool {
        let Definition { description, parameters } = self.definition(&config.name);
        let fit = if is_fit(&parameters) {
            Fit::AsWritten
        } else {
            Fit::As(Box::new(sanitize(&parameters, Dialect::Lenient).into_owned().into()))
        };
        ToldTool {
            name: utility_name(config, self.word()),
            what: What::Utility(self),
            read_only: true,
            description,
            schema: parameters.into(),
            fit,
            shut: None,
        }
    }

    fn definition(self, server: &str) -> Definition {
        let (description, parameters) = match self {
            Self::ListResources => (
                format!(
                    "List what can be read from the MCP server `{server}`: resources, and templates of their addresses."
                ),
                json!({ "type": "object", "properties": {} }),
            ),
            Self::ReadResource => (
                format!("Read a resource of the MCP server `{server}`."),
                json!({
                    "type": "object",
                    "properties": { "uri": { "type": "string", "description": "Address of the resource, as it was listed" } },
                    "required": ["uri"],
                }),
            ),
            Self::ListPrompts => (
                format!("List the prompts that the MCP server `{server}` offers, with their arguments."),
                json!({ "type": "object", "properties": {} }),
            ),
            Self::GetPrompt => (
                format!("Get a prompt of the MCP server `{server}`, filled in."),
                json!({
                    "type": "object",
                    "properties": {
                        "name": { "type": "string", "description": "Name of the prompt" },
                        "arguments": {
                            "type": "object",
                            "description": "Its arguments, each a text",
                            "additionalProperties": { "type": "string" },
                        },
                    },
                    "required": ["name"],
                }),
            ),
        };
        Definition { description, parameters }
    }
}

async fn answer(
    server: &Server,
    utility: Utility,
    mut arguments: Map<String, Value>,
    cx: &ToolCx,
) -> Result<Reply, CallError> {
    let mut text = |key: &str| match arguments.remove(key) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    match utility {
        Utility::ListResources => {
            let (resources, more) = list(server, Kind::Resources, cx).await?;
            // Many servers have resources and no templates, and say so with an error.
            let (templates, more_templates) = list(server, Kind::Templates, cx).await.unwrap_or_default();
            let answer = if templates.is_empty() {
                json!({ "resources": resources })
            } else {
                json!({ "resources": resources, "resourceTemplates": templates })
            };
            Ok(Reply::Json(noted(answer, more || more_templates)))
        }
        Utility::ReadResource => {
            let read = server.read(text("uri"), cx).await?;
            let keeper = Keeper::of(server, cx);
            let mut said = Parts::default();
            read.contents.into_iter().for_each(|resource| said.resource(resource, &keeper));
            Ok(attached(json!({ "result": said.texts.join("\n") }), said.attachments))
        }
        Utility::ListPrompts => {
            let (prompts, more) = list(server, Kind::Prompts, cx).await?;
            Ok(Reply::Json(noted(json!({ "prompts": prompts }), more)))
        }
        Utility::GetPrompt => {
            let name = text("name");
            let given = match arguments.remove("arguments") {
                Some(Value::Object(given)) => given,
                _ => Map::new(),
            };
            let prompt = server.prompt(name, given, cx).await?;
            let keeper = Keeper::of(server, cx);
            let mut attachments = Vec::new();
            let mut messages = Vec::new();
            for message in prompt.messages {
                let said = Parts::of(vec![message.content], &keeper);
                attachments.extend(said.attachments);
                messages.push(json!({ "role": message.role, "text": said.texts.join("\n") }));
            }
            let answer = match prompt.description {
                Some(about) => json!({ "description": about, "messages": messages }),
                None => json!({ "messages": messages }),
            };
            Ok(attached(answer, attachments))
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Resources,
    Templates,
    Prompts,
}

/// The answer, with a word about what is missing in it.
fn noted(mut answer: Value, more: bool) -> Value {
    if let Some(answer) = answer.as_object_mut().filter(|_| more) {
        let note = format!("there are more; these are the first {MAX_PAGES} pages of the server's list");
        answer.insert("note".to_owned(), note.into());
    }
    answer
}

/// A whole list, page by page, without what nobody reads, and whether there is more of it.
async fn list(server: &Server, kind: Kind, cx: &ToolCx) -> Result<(Vec<Value>, bool), CallError> {
    let mut found = Vec::new();
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let page = PaginatedRequestParams::default().with_cursor(cursor.take());
        let request = match kind {
            Kind::Resources => ClientRequest::ListResourcesRequest(RequestOptionalParam::with_param(page)),
            Kind::Templates => {
                ClientRequest::ListResourceTemplatesRequest(RequestOptionalParam::with_param(page))
            }
            Kind::Prompts => ClientRequest::ListPromptsRequest(RequestOptionalParam::with_param(page)),
        };
        let (items, next) = match server.ask(&request, cx, true).await? {
            ServerResult::ListResourcesResult(page) => {
                (serde_json::to_value(page.resources), page.next_cursor)
            }
            ServerResult::ListResourceTemplatesResult(page) => {
                (serde_json::to_value(page.resource_templates), page.next_cursor)
            }
            ServerResult::ListPromptsResult(page) => (serde_json::to_value(page.prompts), page.next_cursor),
            _ => return Err(CallError::Refused("its answer is no such list".to_owned())),
        };
        if let Ok(Value::Array(items)) = items {
            found.extend(items.into_iter().map(brief));
        }
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    Ok((found, cursor.is_some()))
}

/// Without icons and other things for screens.
fn brief(item: Value) -> Value {
    match item {
        Value::Object(mut map) => {
            map.retain(|key, _| !matches!(key.as_str(), "icons" | "_meta" | "annotations"));
            Value::Object(map)
        }
        other => other,
    }
}
