//! `discord_admin`: looking after Discord servers.

use hermes_core::cx::ToolCx;
use hermes_core::effect::{ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::api::{Ask, Plan};
use crate::discord::{self as lib, SERVICE, Step, Wish};
use crate::toolsets::discord_admin;

pub(crate) const TOOL: ToolDef = ToolDef::of::<DiscordAdmin>("discord_admin", &discord_admin::TOOLSET)
    .requires_env(lib::KEYS)
    .gate(lib::gate)
    .dynamic(lib::trimmed)
    .untrusted();

/// Look after Discord servers, as the bot and as far as its permissions go:
/// - `list_guilds()`: the servers it is on
/// - `server_info(guild_id)`: one server
/// - `list_channels(guild_id)`: its channels, by category and position
/// - `channel_info(channel_id)`: one channel or thread
/// - `list_roles(guild_id)`: its roles, highest first
/// - `member_info(guild_id, user_id)`: one member, with roles
/// - `list_pins(channel_id)`: pinned messages
/// - `pin_message(channel_id, message_id)`: pin it
/// - `unpin_message(channel_id, message_id)`: take the pin away
/// - `delete_message(channel_id, message_id)`: delete it for good
/// - `add_role(guild_id, user_id, role_id)`: give a member a role
/// - `remove_role(guild_id, user_id, role_id)`: take it away
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct DiscordAdmin(Wish<Action>);

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    ListGuilds,
    ServerInfo,
    ListChannels,
    ChannelInfo,
    ListRoles,
    MemberInfo,
    ListPins,
    PinMessage,
    UnpinMessage,
    DeleteMessage,
    AddRole,
    RemoveRole,
}

impl Action {
    const fn name(self) -> &'static str {
        match self {
            Self::ListGuilds => "list_guilds",
            Self::ServerInfo => "server_info",
            Self::ListChannels => "list_channels",
            Self::ChannelInfo => "channel_info",
            Self::ListRoles => "list_roles",
            Self::MemberInfo => "member_info",
            Self::ListPins => "list_pins",
            Self::PinMessage => "pin_message",
            Self::UnpinMessage => "unpin_message",
            Self::DeleteMessage => "delete_message",
            Self::AddRole => "add_role",
            Self::RemoveRole => "remove_role",
        }
    }
}

impl Tool for DiscordAdmin {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.step().map(|step| step.plan))
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        lib::run(cx, self.0.action.name(), self.step()).await
    }
}

impl DiscordAdmin {
    fn step(&self) -> Result<Step, ToolError> {
        let wish = &self.0;
        let name = wish.action.name();
        match wish.action {
            Action::ListGuilds => look(
                Ask::get(&["users", "@me", "guilds"])
                    .query("with_counts", Some(true))
                    .query("limit", wish.limit),
                |answer| lib::list_of(answer, "guilds", lib::server),
            ),
            Action::ServerInfo => {
                look(Ask::get(&["guilds", wish.guild(name)?]).query("with_counts", Some(true)), lib::server)
            }
            Action::ListChannels => look(Ask::get(&["guilds", wish.guild(name)?, "channels"]), channels),
            Action::ChannelInfo => look(Ask::get(&["channels", wish.channel(name)?]), lib::channel),
            Action::ListRoles => look(Ask::get(&["guilds", wish.guild(name)?, "roles"]), roles),
            Action::MemberInfo => {
                look(Ask::get(&["guilds", wish.guild(name)?, "members", wish.user(name)?]), lib::member)
            }
            Action::ListPins => {
                let ask = Ask::get(&["channels", wish.channel(name)?, "messages", "pins"]);
                look(ask.query("limit", wish.limit.map(|limit| limit.min(50))), lib::pins)
            }
            Action::PinMessage | Action::UnpinMessage | Action::DeleteMessage => self.message(name),
            Action::AddRole | Action::RemoveRole => self.role(name),
        }
    }

    fn message(&self, name: &str) -> Result<Step, ToolError> {
        let (channel, message) = (self.0.channel(name)?, self.0.message(name)?);
        let pin = ["channels", channel, "messages", "pins", message];
        let (verb, ask, needs) = match self.0.action {
            Action::PinMessage => ("pin", Ask::put(&pin), "Pin Messages"),
            Action::UnpinMessage => ("unpin", Ask::delete(&pin), "Pin Messages"),
            _ => ("delete", Ask::delete(&["channels", channel, "messages", message]), "Manage Messages"),
        };
        let detail = format!("{verb} the message {message} in the channel {channel}");
        Ok(Step { plan: Plan::act(ActKind::Control, detail, ask), needs, tell: lib::done })
    }

    fn role(&self, name: &str) -> Result<Step, ToolError> {
        let (guild, user, role) = (self.0.guild(name)?, self.0.user(name)?, self.0.role(name)?);
        let path = ["guilds", guild, "members", user, "roles", role];
        let (verb, ask) = match self.0.action {
            Action::AddRole => ("give", Ask::put(&path)),
            _ => ("take", Ask::delete(&path)),
        };
        let detail = format!("{verb} the member {user} the role {role} on the server {guild}");
        let needs = "Manage Roles, with a role of its own above the one in question";
        Ok(Step { plan: Plan::act(ActKind::Control, detail, ask), needs, tell: lib::done })
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every action may lack an argument; these do not")]
fn look(ask: Ask, tell: fn(&Value) -> Value) -> Result<Step, ToolError> {
    Ok(Step { plan: Plan::look(ask), needs: "View Channels", tell })
}

fn channels(answer: &Value) -> Value {
    lib::list_of(
        &sorted(answer, |one| (text(one, "parent_id"), number(one, "position"))),
        "channels",
        lib::channel,
    )
}

fn roles(answer: &Value) -> Value {
    lib::list_of(&sorted(answer, |one| std::cmp::Reverse(number(one, "position"))), "roles", lib::role)
}

fn sorted<K: Ord>(answer: &Value, key: impl Fn(&Value) -> K) -> Value {
    let mut items = answer.as_array().cloned().unwrap_or_default();
    items.sort_by_key(key);
    Value::Array(items)
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn number(value: &Value, field: &str) -> i64 {
    value.get(field).and_then(Value::as_i64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_action_asks_in_the_words_of_the_service() {
        let cases = [
            ("list_guilds", "GET /users/@me/guilds?with_counts=true"),
            ("server_info", "GET /guilds/1?with_counts=true"),
            ("list_channels", "GET /guilds/1/channels"),
            ("channel_info", "GET /channels/2"),
            ("list_roles", "GET /guilds/1/roles"),
            ("member_info", "GET /guilds/1/members/3"),
            ("list_pins", "GET /channels/2/messages/pins"),
            ("pin_message", "PUT /channels/2/messages/pins/5"),
            ("unpin_message", "DELETE /channels/2/messages/pins/5"),
            ("delete_message", "DELETE /channels/2/messages/5"),
            ("add_role", "PUT /guilds/1/members/3/roles/4"),
            ("remove_role", "DELETE /guilds/1/members/3/roles/4"),
        ];

        for (action, told) in cases {
            let arguments = json!({
                "action": action, "guild_id": "1", "channel_id": "2", "user_id": "3", "role_id": "4", "message_id": "5",
            });
            let tool: DiscordAdmin = serde_json::from_value(arguments).unwrap();
            let step = tool.step().unwrap();

            assert_eq!(step.plan.ask.told(), told);
            assert_eq!(step.plan.is_act(), !told.starts_with("GET"), "{action}");
            assert_eq!(tool.0.action.name(), action);
        }
    }
}
