//! The tools of a server, as it lists them: page by page, each for itself, without what leads back to us.

use std::collections::BTreeSet;

use hermes_core::names::OF_SERVERS;
use rmcp::model::{ClientRequest, PaginatedRequestParams, RequestOptionalParam, ServerResult, Tool};
use serde_json::Value;

use super::connect::{Service, words};
use super::known::{Hints, Known, Listed, Pages};
use super::server::Inner;
use crate::mcp::ring::Met;

/// Pages of a list that are asked for.
const MAX_PAGES: usize = 50;

/// Tools of one server that are taken.
const MAX_TOOLS: usize = 2000;

/// Why nobody knows which tools a server has.
pub(super) enum Untold {
    /// It did not say, or not so that it can be understood.
    Failed(String),
    /// It has ours.
    Ourselves(String),
}

impl Untold {
    pub(super) fn words(self) -> String {
        match self {
            Self::Failed(why) | Self::Ourselves(why) => why,
        }
    }
}

/// The tools of a server, and whether they are all.
#[derive(Default)]
pub(super) struct Tools {
    found: Vec<Listed>,
    more: bool,
    pages: Pages,
}

impl Tools {
    /// What is known of the server with this.
    pub(super) fn learnt_by(self, known: &mut Known) {
        known.learn(self.found);
        known.more = self.more;
        known.pages = self.pages;
    }
}

/// All tools of a server, as many as are taken. One that cannot be understood costs itself
/// only, and what leads back to us is left out.
pub(super) async fn tools(server: &Inner, service: &Service) -> Result<Tools, Untold> {
    let mut found: Vec<Listed> = Vec::new();
    let (mut cursor, mut met): (Option<String>, _) = (None, Met::Other);
    let (mut asked, mut pages) = (BTreeSet::new(), Pages::On);
    for page in 0..MAX_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor.take());
        let request = ClientRequest::ListToolsRequest(RequestOptionalParam::with_param(params));
        let answer = service.send_request(request).await;
        let page = match answer.map_err(|error| Untold::Failed(words(&error)))? {
            ServerResult::ListToolsResult(list) => {
                if page == 0 {
                    met = server.outside.ring.met(&server.config.name, list.meta.as_ref());
                }
                cursor = list.next_cursor;
                list.tools.into_iter().map(|tool| listed(&tool)).collect()
            }
            other => {
                let value = serde_json::to_value(&other).unwrap_or_default();
                cursor = value.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
                one_by_one(&value).map_err(Untold::Failed)?
            }
        };
        found.extend::<Vec<Listed>>(page);
        if cursor.as_ref().is_some_and(|next| !asked.insert(next.clone())) {
            (cursor, pages) = (None, Pages::InACircle);
        }
        if cursor.is_none() || found.len() > MAX_TOOLS {
            break;
        }
    }
    match met {
        Met::Other => {}
        Met::Asker => {
            let before = found.len();
            found.retain(|tool| !tool.name.starts_with(OF_SERVERS));
            if found.len() < before {
                let left_out = before - found.len();
                server.log.line(&format!(
                    "[it asks us too: {left_out} tools that it has from others are left out]"
                ));
            }
        }
        Met::Ourselves => {
            let name = &server.config.name;
            return Err(Untold::Ourselves(format!(
                "it is this hermes itself, and its tools are here already; `mcp_servers.{name}` of config.yaml can go"
            )));
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|tool| seen.insert(tool.name.clone()));
    let more = cursor.is_some() || found.len() > MAX_TOOLS;
    found.truncate(MAX_TOOLS);
    Ok(Tools { found, more, pages })
}

/// A list that as a whole is not one: each tool that has a name is taken, with what can be read of it.
fn one_by_one(value: &Value) -> Result<Vec<Listed>, String> {
    let tools = value.get("tools").and_then(Value::as_array).ok_or("its answer is no list of tools")?;
    let one = |tool: &Value| {
        let text = |key: &str| tool.get(key).and_then(Value::as_str).map(str::to_owned);
        let hint = |key: &str| tool.get("annotations").and_then(|it| it.get(key)) == Some(&Value::Bool(true));
        Some(Listed {
            name: text("name")?,
            description: text("description").or_else(|| text("title")).unwrap_or_default(),
            schema: tool.get("inputSchema").cloned().unwrap_or_default().into(),
            hints: Hints { read_only: hint("readOnlyHint"), idempotent: hint("idempotentHint") },
            output: tool.get("outputSchema").filter(|it| !it.is_null()).cloned().map(Into::into),
        })
    };
    Ok(tools.iter().filter_map(one).collect())
}

fn listed(tool: &Tool) -> Listed {
    let hints = tool.annotations.as_ref();
    let on = |hint: Option<bool>| hint == Some(true);
    Listed {
        name: tool.name.to_string(),
        description: tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default().to_owned(),
        schema: Value::Object((*tool.input_schema).clone()).into(),
        hints: Hints {
            read_only: hints.is_some_and(|it| on(it.read_only_hint)),
            idempotent: hints.is_some_and(|it| on(it.idempotent_hint)),
        },
        output: tool.output_schema.as_deref().map(|schema| Value::Object(schema.clone()).into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_that_cannot_be_read_costs_itself_only() {
        let list = json!({ "tools": [
            { "name": "good", "description": "d", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
            { "name": "bad", "inputSchema": "what", "outputSchema": "what" },
            { "inputSchema": {} },
        ] });

        let found = one_by_one(&list).unwrap();

        assert_eq!(found.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["good", "bad"]);
        assert!(found[0].hints.read_only && found[0].fault().is_none());
        assert!(found[1].fault().is_some());
        assert_eq!([&found[0].output, &found[1].output], [&None, &Some(json!("what").into())]);
    }
}
