//! What a model needs of Discord's answers.

use serde_json::{Map, Value, json};

use crate::api::{picked, set};

/// Names of the kinds of channels, by their number.
const CHANNELS: [(u64, &str); 12] = [
    (0, "text"),
    (1, "direct"),
    (2, "voice"),
    (3, "group"),
    (4, "category"),
    (5, "announcement"),
    (10, "announcement thread"),
    (11, "public thread"),
    (12, "private thread"),
    (13, "stage"),
    (15, "forum"),
    (16, "media"),
];

/// All of a list, each in its short form, and how many.
pub(crate) fn list_of(answer: &Value, name: &str, each: fn(&Value) -> Value) -> Value {
    let items: Vec<Value> = answer.as_array().into_iter().flatten().map(each).collect();
    json!({ "count": items.len(), name: items })
}

/// Nothing but that it was done.
pub(crate) fn done(_answer: &Value) -> Value {
    json!({ "success": true })
}

pub(crate) fn message(message: &Value) -> Value {
    let mut short = picked(message, &["id", "timestamp", "edited_timestamp", "content"]);
    short.insert("author".to_owned(), user(message.get("author").unwrap_or(&Value::Null)));
    let files = message.get("attachments").and_then(Value::as_array).into_iter().flatten();
    let files: Vec<_> = files.map(|file| picked(file, &["filename", "url", "size"])).collect();
    put(&mut short, "attachments", json!(files));
    let embeds = message.get("embeds").and_then(Value::as_array).into_iter().flatten();
    let embeds: Vec<_> = embeds.map(|embed| picked(embed, &["title", "description", "url"])).collect();
    put(&mut short, "embeds", json!(embeds));
    let reactions = message.get("reactions").and_then(Value::as_array).into_iter().flatten();
    let reactions: Map<String, Value> = reactions
        .filter_map(|it| Some((it.pointer("/emoji/name")?.as_str()?.to_owned(), it.get("count")?.clone())))
        .collect();
    put(&mut short, "reactions", json!(reactions));
    if let Some(id) = message.pointer("/message_reference/message_id") {
        short.insert("reply_to".to_owned(), id.clone());
    }
    if message.get("pinned") == Some(&json!(true)) {
        short.insert("pinned".to_owned(), json!(true));
    }
    if let Some(id) = message.pointer("/thread/id") {
        short.insert("thread_id".to_owned(), id.clone());
    }
    Value::Object(short)
}

/// Whether people wrote messages and none of them says anything.
pub(crate) fn all_silent(answer: &Value) -> bool {
    let empty =
        |message: &Value, field: &str| message.get(field).and_then(Value::as_array).is_none_or(Vec::is_empty);
    let mut people = answer.as_array().into_iter().flatten().filter(|message| {
        message.pointer("/author/bot") != Some(&json!(true))
            && ["attachments", "embeds", "sticker_items"].iter().all(|field| empty(message, field))
            && matches!(message.get("type").and_then(Value::as_u64), Some(0 | 19))
    });
    let is_silent = |message: &Value| message.get("content").and_then(Value::as_str) == Some("");
    people.next().is_some_and(is_silent) && people.all(is_silent)
}

fn user(user: &Value) -> Value {
    let mut short = picked(user, &["id", "username", "global_name"]);
    if user.get("bot") == Some(&json!(true)) {
        short.insert("bot".to_owned(), json!(true));
    }
    Value::Object(short)
}

pub(crate) fn member(member: &Value) -> Value {
    let mut short = Map::new();
    short.insert("user".to_owned(), user(member.get("user").unwrap_or(&Value::Null)));
    let fields = ["nick", "roles", "joined_at", "premium_since", "communication_disabled_until"];
    short.extend(picked(member, &fields));
    Value::Object(short)
}

pub(crate) fn channel(channel: &Value) -> Value {
    let mut short = picked(channel, &["id", "name"]);
    let number = channel.get("type").and_then(Value::as_u64);
    let kind = CHANNELS.iter().find(|(known, _)| Some(*known) == number).map_or("other", |(_, name)| *name);
    short.insert("type".to_owned(), json!(kind));
    let fields = [
        "guild_id",
        "topic",
        "parent_id",
        "position",
        "nsfw",
        "rate_limit_per_user",
        "last_message_id",
        "member_count",
        "message_count",
        "thread_metadata",
    ];
    short.extend(picked(channel, &fields));
    Value::Object(short)
}

pub(crate) fn role(role: &Value) -> Value {
    let fields = ["id", "name", "color", "position", "hoist", "managed", "mentionable", "permissions"];
    Value::Object(picked(role, &fields))
}

pub(crate) fn server(server: &Value) -> Value {
    let fields = [
        "id",
        "name",
        "description",
        "owner",
        "owner_id",
        "approximate_member_count",
        "approximate_presence_count",
        "premium_tier",
        "premium_subscription_count",
        "verification_level",
        "preferred_locale",
        "features",
        "system_channel_id",
        "rules_channel_id",
    ];
    let mut short = picked(server, &fields);
    if let Some(roles) = server.get("roles").and_then(Value::as_array) {
        short.insert("role_count".to_owned(), json!(roles.len()));
    }
    Value::Object(short)
}

pub(crate) fn thread(thread: &Value) -> Value {
    json!({ "success": true, "thread": channel(thread) })
}

pub(crate) fn pins(answer: &Value) -> Value {
    let items = answer.get("items").and_then(Value::as_array).into_iter().flatten();
    let pin = |item: &Value| {
        let mut short = message(item.get("message").unwrap_or(&Value::Null));
        set(&mut short, "pinned_at", item.get("pinned_at").cloned().unwrap_or_default());
        short
    };
    let pins: Vec<Value> = items.map(pin).collect();
    json!({ "count": pins.len(), "pins": pins, "has_more": answer.get("has_more") })
}

fn put(short: &mut Map<String, Value>, name: &str, value: Value) {
    if value != json!([]) && value != json!({}) {
        short.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_who_said_what_and_when() {
        let long = json!({
            "id": "1", "type": 19, "content": "hi", "channel_id": "9", "timestamp": "2026-01-01T00:00:00Z", "edited_timestamp": null,
            "author": { "id": "2", "username": "ann", "global_name": "Ann", "avatar": "x", "discriminator": "0" },
            "attachments": [{ "id": "3", "filename": "a.png", "url": "https://cdn…", "proxy_url": "x", "size": 5 }],
            "embeds": [], "mentions": [], "pinned": false, "tts": false, "flags": 0,
            "reactions": [{ "emoji": { "id": null, "name": "👍" }, "count": 2, "me": false }],
            "message_reference": { "message_id": "0" },
        });

        assert_eq!(
            message(&long),
            json!({
                "id": "1", "timestamp": "2026-01-01T00:00:00Z", "content": "hi",
                "author": { "id": "2", "username": "ann", "global_name": "Ann" },
                "attachments": [{ "filename": "a.png", "url": "https://cdn…", "size": 5 }],
                "reactions": { "👍": 2 }, "reply_to": "0",
            })
        );
    }

    #[test]
    fn silence_is_noticed_only_where_people_wrote() {
        let message = |content: &str, bot: bool| json!({ "type": 0, "content": content, "author": { "bot": bot }, "attachments": [], "embeds": [] });

        assert!(all_silent(&json!([message("", false), message("", false), message("x", true)])));
        assert!(!all_silent(&json!([message("", false), message("x", false)])));
        assert!(!all_silent(&json!([message("", true)])));
        assert!(!all_silent(&json!([])));
    }
}
