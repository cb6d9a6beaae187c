//! Discord, as the `discord` and `discord_admin` tools reach it: the REST API of version 10, as a bot.
//!
//! | file | what |
//! |---|---|
//! | here | what a call may say, and what every call does: plan, ask, shape |
//! | [`actions`] | which actions the person allows |
//! | [`shape`] | their long answers → what a model needs of them |

mod actions;
mod shape;

use hermes_core::cx::ToolCx;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) use actions::trimmed;

use crate::api::{Api, ApiError, Ask, Plan, Refused, Service, address, key, set};

pub(crate) const KEYS: &[&str] = &["DISCORD_BOT_TOKEN"];

pub(crate) const SERVICE: Service = Service { name: "Discord", key: "DISCORD_BOT_TOKEN", explain };

const API: &str = "https://discord.com/api/v10";

/// How bots are asked to introduce themselves.
const AGENT: &str = concat!("DiscordBot (hermes, ", env!("CARGO_PKG_VERSION"), ")");

/// The rights to read what people write, of a large and of a small application.
const MESSAGE_CONTENT: u64 = 1 << 18 | 1 << 19;

/// The rights to see who is on a server, likewise.
const GUILD_MEMBERS: u64 = 1 << 14 | 1 << 15;

/// What both tools may be told; which of it an action needs depends on the action.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Wish<A> {
    /// What to do
    pub(crate) action: A,
    /// Id of the server
    pub(crate) guild_id: Option<String>,
    /// Id of the channel or thread
    pub(crate) channel_id: Option<String>,
    /// Id of the member
    pub(crate) user_id: Option<String>,
    /// Id of the role
    pub(crate) role_id: Option<String>,
    /// Id of the message
    pub(crate) message_id: Option<String>,
    /// Beginning of the name to look for
    pub(crate) query: Option<String>,
    /// Name of what is made
    pub(crate) name: Option<String>,
    /// Most results
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: Option<u32>,
    /// Only messages before this id
    pub(crate) before: Option<String>,
    /// Only messages after this id
    pub(crate) after: Option<String>,
    /// Minutes without a message after which the thread is hidden
    #[schemars(schema_with = "durations")]
    #[serde(default)]
    pub(crate) auto_archive_duration: Option<u32>,
}

fn durations(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "enum": [60, 1440, 4320, 10080] })
}

/// What an action comes to.
pub(crate) struct Step {
    pub(crate) plan: Plan,
    /// The permission the bot needs on the server.
    pub(crate) needs: &'static str,
    /// How the answer is told.
    pub(crate) tell: fn(&Value) -> Value,
}

impl<A> Wish<A> {
    pub(crate) fn guild(&self, action: &str) -> Result<&str, ToolError> {
        snowflake(self.guild_id.as_deref(), "guild_id", action)
    }

    pub(crate) fn channel(&self, action: &str) -> Result<&str, ToolError> {
        snowflake(self.channel_id.as_deref(), "channel_id", action)
    }

    pub(crate) fn user(&self, action: &str) -> Result<&str, ToolError> {
        snowflake(self.user_id.as_deref(), "user_id", action)
    }

    pub(crate) fn role(&self, action: &str) -> Result<&str, ToolError> {
        snowflake(self.role_id.as_deref(), "role_id", action)
    }

    pub(crate) fn message(&self, action: &str) -> Result<&str, ToolError> {
        snowflake(self.message_id.as_deref(), "message_id", action)
    }
}

/// An id as Discord hands them out: a number.
pub(crate) fn snowflake<'a>(value: Option<&'a str>, name: &str, action: &str) -> Result<&'a str, ToolError> {
    let value = crate::api::needed(value, name, action)?;
    if value.len() <= 20 && value.chars().all(|c| c.is_ascii_digit()) {
        return Ok(value);
    }
    Err(ToolError::Arguments(format!("{name} is a number of up to 20 digits")))
}

/// When the tools are there.
pub(crate) fn gate() -> Gate {
    Gate::env("DISCORD_BOT_TOKEN")
}

/// Does what was planned, and tells what came of it.
pub(crate) async fn run(cx: &ToolCx, action: &str, step: Result<Step, ToolError>) -> ToolResult {
    let keys = cx.keys()?;
    actions::check(keys, action)?;
    let Step { plan, needs, tell } = step?;
    let base = address(keys, "DISCORD_BASE_URL", API);
    let token = key(keys, "DISCORD_BOT_TOKEN")?;
    let api = Api::new(cx, &SERVICE, &base)?
        .header("authorization", format!("Bot {token}"))
        .header("user-agent", AGENT);
    let asked = if plan.is_act() { api.tell(plan.ask).await } else { api.ask(plan.ask).await };
    let answer = match asked {
        Ok(answer) => answer,
        Err(error) => return Err(refused(&api, action, needs, error).await),
    };
    let mut told = tell(&answer);
    if action == "fetch_messages" && shape::all_silent(&answer) && lacks(&api, MESSAGE_CONTENT).await {
        set(
            &mut told,
            "note",
            json!(
                "the bot may not read what people write: the Message Content intent is off in the developer portal"
            ),
        );
    }
    Ok(told)
}

/// A refusal in words that say what the bot lacks.
async fn refused(api: &Api<'_>, action: &str, needs: &str, error: ApiError) -> ToolError {
    let ApiError::Refused(Refused { status: 403, body, .. }) = &error else { return error.into() };
    let code = body.get("code").and_then(Value::as_u64);
    if action == "search_members" && lacks(api, GUILD_MEMBERS).await {
        let why = "the Server Members intent of the bot is off in the developer portal";
        return ToolError::Failed(format!("Discord does not show members: {why}"));
    }
    if code == Some(50013) {
        return ToolError::Failed(format!("the bot lacks a permission on this server: {needs}"));
    }
    error.into()
}

/// Whether the application has none of these rights; not known is no.
async fn lacks(api: &Api<'_>, rights: u64) -> bool {
    let own = api.ask(Ask::get(&["applications", "@me"])).await.unwrap_or_default();
    own.get("flags").and_then(Value::as_u64).is_some_and(|flags| flags & rights == 0)
}

/// What their refusals mean.
fn explain(refused: &Refused) -> Option<String> {
    let meaning = match refused.body.get("code").and_then(Value::as_u64)? {
        50001 => "the bot cannot see this: it is not on that server, or the channel is closed to it",
        50005 => "the message is somebody else's",
        30003 | 30046 => "the channel has as many pins as it can have",
        160_004 => "the message has a thread already",
        _ => return None,
    };
    Some(meaning.to_owned())
}

pub(crate) use shape::{channel, done, list_of, member, message, pins, role, server, thread};
