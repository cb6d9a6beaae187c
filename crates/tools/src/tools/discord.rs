//! `discord`: reading and taking part on Discord.

use hermes_core::cx::ToolCx;
use hermes_core::effect::{ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Ask, Plan, needed, set};
use crate::discord::{self as lib, SERVICE, Step, Wish};
use crate::toolsets::discord;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Discord>("discord", &discord::TOOLSET)
    .requires_env(lib::KEYS)
    .gate(lib::gate)
    .dynamic(lib::trimmed)
    .untrusted();

/// A public thread.
const PUBLIC_THREAD: u32 = 11;

/// Read and take part on Discord servers, as the bot:
/// - `search_members(guild_id, query, limit)`: members whose name begins so
/// - `fetch_messages(channel_id, limit, before, after)`: messages, newest first
/// - `create_thread(channel_id, name, message_id, auto_archive_duration)`: a thread, from a message if one is named
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct Discord(Wish<Action>);

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    SearchMembers,
    FetchMessages,
    CreateThread,
}

impl Action {
    const fn name(self) -> &'static str {
        match self {
            Self::SearchMembers => "search_members",
            Self::FetchMessages => "fetch_messages",
            Self::CreateThread => "create_thread",
        }
    }
}

impl Tool for Discord {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.step().map(|step| step.plan))
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        lib::run(cx, self.0.action.name(), self.step()).await
    }
}

impl Discord {
    fn step(&self) -> Result<Step, ToolError> {
        let wish = &self.0;
        let action = wish.action.name();
        match wish.action {
            Action::SearchMembers => {
                let query = needed(wish.query.as_deref(), "query", action)?;
                let ask = Ask::get(&["guilds", wish.guild(action)?, "members", "search"])
                    .query("query", Some(query))
                    .query("limit", Some(wish.limit.unwrap_or(20)));
                let tell = |answer: &Value| lib::list_of(answer, "members", lib::member);
                Ok(Step { plan: Plan::look(ask), needs: "to see members", tell })
            }
            Action::FetchMessages => {
                let moment = |id: &Option<String>, name: &str| match id {
                    Some(id) => lib::snowflake(Some(id), name, action).map(|id| Some(id.to_owned())),
                    None => Ok(None),
                };
                let ask = Ask::get(&["channels", wish.channel(action)?, "messages"])
                    .query("limit", Some(wish.limit.unwrap_or(50)))
                    .query("before", moment(&wish.before, "before")?)
                    .query("after", moment(&wish.after, "after")?);
                let tell = |answer: &Value| lib::list_of(answer, "messages", lib::message);
                Ok(Step { plan: Plan::look(ask), needs: "Read Message History", tell })
            }
            Action::CreateThread => self.create_thread(action),
        }
    }

    fn create_thread(&self, action: &str) -> Result<Step, ToolError> {
        let wish = &self.0;
        let (channel, name) = (wish.channel(action)?, needed(wish.name.as_deref(), "name", action)?);
        let mut body =
            json!({ "name": name, "auto_archive_duration": wish.auto_archive_duration.unwrap_or(1440) });
        let (ask, from) = if wish.message_id.is_some() {
            let message = wish.message(action)?;
            (
                Ask::post(&["channels", channel, "messages", message, "threads"]),
                format!(" from the message {message}"),
            )
        } else {
            set(&mut body, "type", json!(PUBLIC_THREAD));
            (Ask::post(&["channels", channel, "threads"]), String::new())
        };
        let detail = format!("start a thread \"{name}\" in the channel {channel}{from}");
        let plan = Plan::act(ActKind::Send, detail, ask.json(body));
        Ok(Step { plan, needs: "Create Public Threads", tell: lib::thread })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: Value) -> Result<String, String> {
        let tool: Discord = serde_json::from_value(arguments).unwrap();
        tool.step().map(|step| step.plan.ask.told()).map_err(|why| why.to_string())
    }

    #[test]
    fn every_action_asks_in_the_words_of_the_service() {
        let cases = [
            (
                json!({ "action": "search_members", "guild_id": "1", "query": "an & b", "limit": 5 }),
                "GET /guilds/1/members/search?query=an%20%26%20b&limit=5",
            ),
            (
                json!({ "action": "fetch_messages", "channel_id": "2", "before": "9" }),
                "GET /channels/2/messages?limit=50&before=9",
            ),
            (
                json!({ "action": "create_thread", "channel_id": "2", "name": "plans" }),
                r#"POST /channels/2/threads {"name":"plans","auto_archive_duration":1440,"type":11}"#,
            ),
            (
                json!({ "action": "create_thread", "channel_id": "2", "message_id": "3", "name": "plans", "auto_archive_duration": 60 }),
                r#"POST /channels/2/messages/3/threads {"name":"plans","auto_archive_duration":60}"#,
            ),
        ];

        for (arguments, told) in cases {
            assert_eq!(asked(arguments).unwrap(), told);
        }
    }

    #[test]
    fn what_is_missing_or_no_id_is_named() {
        assert_eq!(
            asked(json!({ "action": "fetch_messages" })).unwrap_err(),
            "fetch_messages needs channel_id"
        );
        let other = json!({ "action": "fetch_messages", "channel_id": "1/../../guilds" });
        assert!(asked(other).unwrap_err().contains("channel_id is a number"));
    }
}
