//! `session_search`: earlier conversations.

use std::sync::Arc;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::recall::{
    Conversation, Discovered, Found, Match, MessageRow, Order, Passage, Recall, RecallError, SessionRow,
    Standpoint, Wanted,
};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::toolsets::session_search;

pub(crate) const TOOL: ToolDef = ToolDef::of::<SessionSearch>("session_search", &session_search::TOOLSET)
    .emoji("🔍")
    .read_only()
    .gate(|| Gate::given::<Arc<dyn Recall>>("a state folder with sessions"));

/// What earlier conversations are called in effects.
const SLOT: &str = "earlier conversations";

/// Fewest and most conversations of one answer.
const LIMIT: (i64, i64) = (1, 10);

/// Fewest and most messages on each side of one.
const WINDOW: (i64, i64) = (1, 20);

/// Whose words are looked at when nothing is said about it.
const ROLES: [&str; 2] = ["user", "assistant"];

/// Look into earlier conversations. Without arguments: the newest ones. With query: where something
/// was said, with the messages around it and how that conversation began and ended; all words must be
/// there, "a phrase" counts as one, OR and NOT work. With `session_id`: that conversation's beginning and
/// end. With `session_id` and `around_message_id`: the messages around one, to scroll on from there. Use it
/// when the person refers to something from before, instead of asking them to repeat it.
#[derive(Deserialize, JsonSchema)]
struct SessionSearch {
    /// Words to look for
    query: Option<String>,
    /// Most conversations to return, 1 to 10
    #[serde(default = "three")]
    limit: i64,
    /// By time instead of by how well they match
    sort: Option<Sort>,
    /// The conversation to read: its id, as returned before
    session_id: Option<String>,
    /// The message to show the surroundings of, as returned before
    around_message_id: Option<i64>,
    /// Messages to show on each side of it, 1 to 20
    #[serde(default = "five")]
    window: i64,
    /// Only messages of these, separated by commas: user, assistant, tool; user,assistant if left out
    role_filter: Option<String>,
    /// The profile to look in, if not this one
    profile: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Sort {
    Newest,
    Oldest,
}

fn three() -> i64 {
    3
}

fn five() -> i64 {
    5
}

impl Tool for SessionSearch {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::ReadSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let Some(recall) = cx.service::<Arc<dyn Recall>>() else {
            return Err(ToolError::Failed("there is no state folder with sessions".to_owned()));
        };
        let from = Standpoint { session: cx.session_id(), profile: said(self.profile.as_deref()) };
        let answer = match (said(self.session_id.as_deref()), self.around_message_id) {
            (Some(session), Some(message)) => {
                let window = within(self.window, WINDOW);
                recall.scroll(from, session, message, window).await.map(|passage| scrolled(&passage))
            }
            (Some(session), None) => recall.read(from, session).await.map(|whole| read(&whole)),
            (None, Some(_)) => {
                return Err(ToolError::Arguments("around_message_id needs session_id".to_owned()));
            }
            (None, None) => match said(self.query.as_deref()) {
                Some(query) => {
                    let found = recall.discover(from, self.wanted(query)).await;
                    found.map(|found| discovered(query, &found))
                }
                None => recall.browse(from, within(self.limit, LIMIT)).await.map(|rows| browsed(&rows)),
            },
        };
        answer.or_else(|wrong| match wrong {
            RecallError::Unknown(why) => Ok(json!({
                "success": false,
                "error": format!("{why}; call without arguments to see the newest conversations"),
            })),
            other => Err(ToolError::Failed(other.to_string())),
        })
    }
}

impl SessionSearch {
    fn wanted(&self, query: &str) -> Wanted {
        let named = self.role_filter.as_deref().unwrap_or_default().split(',');
        let mut roles: Vec<String> =
            named.map(|role| role.trim().to_lowercase()).filter(|role| !role.is_empty()).collect();
        if roles.is_empty() {
            roles = ROLES.map(str::to_owned).to_vec();
        }
        let order = match self.sort {
            None => Order::Best,
            Some(Sort::Newest) => Order::Newest,
            Some(Sort::Oldest) => Order::Oldest,
        };
        Wanted { text: query.to_owned(), roles, order, limit: within(self.limit, LIMIT) }
    }
}

/// A text that says something.
fn said(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// The number, moved into its range.
fn within(number: i64, (low, high): (i64, i64)) -> u32 {
    u32::try_from(number.clamp(low, high)).unwrap_or(1)
}

fn browsed(rows: &[SessionRow]) -> Value {
    let list: Vec<Value> = rows
        .iter()
        .map(|row| {
            let mut shown = head(row);
            shown.insert("last_active".to_owned(), json!(row.last_active));
            shown.insert("message_count".to_owned(), json!(row.messages));
            shown.insert("preview".to_owned(), json!(row.preview));
            Value::Object(shown)
        })
        .collect();
    json!({ "success": true, "mode": "browse", "count": list.len(), "results": list })
}

fn discovered(query: &str, discovered: &Discovered) -> Value {
    let results: Vec<Value> = discovered.found.iter().map(found).collect();
    let mut answer = json!({
        "success": true,
        "mode": "discover",
        "query": query,
        "results": results,
        "count": results.len(),
        "sessions_searched": discovered.sessions,
    });
    if results.is_empty()
        && let Some(fields) = answer.as_object_mut()
    {
        let hint = "Nothing was found. All words must be in one message: try fewer or other words, or OR.";
        fields.insert("message".to_owned(), json!(hint));
    }
    answer
}

fn found(found: &Found) -> Value {
    let passage = &found.passage;
    let mut shown = head(&passage.session);
    let by = match found.by {
        Match::Title => "title",
        Match::Message => "message",
    };
    let more = [
        ("matched", json!(by)),
        ("matched_role", json!(found.role)),
        ("match_message_id", json!(passage.anchor)),
        ("snippet", json!(found.snippet)),
        ("bookend_start", messages(&found.start, None)),
        ("messages", messages(&passage.messages, Some(passage.anchor))),
        ("bookend_end", messages(&found.end, None)),
        ("messages_before", json!(passage.before)),
        ("messages_after", json!(passage.after)),
    ];
    shown.extend(more.map(|(key, value)| (key.to_owned(), value)));
    Value::Object(shown)
}

fn read(whole: &Conversation) -> Value {
    let mut answer = json!({
        "success": true,
        "mode": "read",
        "session": head(&whole.session),
        "message_count": whole.session.messages,
        "messages": messages(&whole.messages, None),
    });
    if let (Some((count, after)), Some(fields)) = (whole.left_out, answer.as_object_mut()) {
        let note = format!(
            "{count} messages after message {after} are left out; scroll there with around_message_id"
        );
        fields.insert("left_out".to_owned(), json!(count));
        fields.insert("note".to_owned(), json!(note));
    }
    answer
}

fn scrolled(passage: &Passage) -> Value {
    json!({
        "success": true,
        "mode": "scroll",
        "session": head(&passage.session),
        "around_message_id": passage.anchor,
        "messages": messages(&passage.messages, Some(passage.anchor)),
        "messages_before": passage.before,
        "messages_after": passage.after,
    })
}

/// What is told of every session.
fn head(row: &SessionRow) -> Map<String, Value> {
    let mut shown = Map::new();
    let facts = [
        ("session_id", json!(row.id)),
        ("when", json!(row.began)),
        ("source", json!(row.source)),
        ("model", json!(row.model)),
        ("title", json!(row.title)),
    ];
    shown.extend(facts.map(|(key, value)| (key.to_owned(), value)));
    if let Some(parent) = &row.parent {
        shown.insert("parent_session_id".to_owned(), json!(parent));
    }
    shown
}

fn messages(rows: &[MessageRow], anchor: Option<i64>) -> Value {
    rows.iter().map(|row| message(row, anchor == Some(row.id))).collect()
}

fn message(row: &MessageRow, anchor: bool) -> Value {
    let text = match row.cut {
        0 => row.text.clone(),
        cut => format!("{}… [{cut} more characters]", row.text),
    };
    let mut shown = Map::new();
    shown.insert("id".to_owned(), json!(row.id));
    shown.insert("role".to_owned(), json!(row.role));
    shown.insert("when".to_owned(), json!(row.when));
    shown.insert("content".to_owned(), json!(text));
    if let Some(tool) = &row.tool {
        shown.insert("tool_name".to_owned(), json!(tool));
    }
    if !row.calls.is_empty() {
        shown.insert("tool_calls".to_owned(), json!(row.calls));
    }
    if anchor {
        shown.insert("anchor".to_owned(), json!(true));
    }
    Value::Object(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: Value) -> Wanted {
        SessionSearch::deserialize(arguments).unwrap().wanted("x")
    }

    #[test]
    fn numbers_out_of_range_are_moved_into_it() {
        for (asked_for, given) in [(-4, 1), (0, 1), (3, 3), (10, 10), (5000, 10)] {
            assert_eq!(asked(json!({ "limit": asked_for })).limit, given);
        }
        assert_eq!(asked(json!({})).limit, 3);
    }

    #[test]
    fn people_and_models_are_heard_unless_others_are_named() {
        assert_eq!(asked(json!({})).roles, ["user", "assistant"]);
        assert_eq!(asked(json!({ "role_filter": " Tool, ," })).roles, ["tool"]);
        assert_eq!(asked(json!({ "role_filter": " " })).roles, ["user", "assistant"]);
        assert_eq!(asked(json!({ "sort": "oldest" })).order, Order::Oldest);
    }

    #[test]
    fn what_was_cut_is_told() {
        let row = MessageRow {
            id: 7,
            role: "tool".to_owned(),
            text: "abc".to_owned(),
            cut: 5,
            tool: Some("terminal".to_owned()),
            calls: Vec::new(),
            when: "2026-11-15 22:10:35".to_owned(),
        };

        assert_eq!(
            message(&row, true),
            json!({
                "id": 7, "role": "tool", "when": "2026-11-15 22:10:35",
                "content": "abc… [5 more characters]", "tool_name": "terminal", "anchor": true,
            })
        );
    }
}
