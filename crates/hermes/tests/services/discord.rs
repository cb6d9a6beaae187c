//! `discord` and `discord_admin`.

use serde_json::{Value, json};

use crate::support::{Bench, Double, assert_within};

const GUILD: &str = "1000000000000000001";
const TALK: &str = "2000000000000000001";
const CLOSED: &str = "2000000000000000009";
const ANN: &str = "3000000000000000001";
const ROLE: &str = "4000000000000000001";
const FIRST: &str = "5000000000000000001";

fn bench(double: &Double) -> Bench {
    let base = double.url("/api/v10");
    Bench::with(&[("DISCORD_BOT_TOKEN", "good-token"), ("DISCORD_BASE_URL", &base)])
}

/// Every action once, as the tool it belongs to and its arguments.
pub(crate) fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("discord", json!({ "action": "search_members", "guild_id": GUILD, "query": "an", "limit": 5 })),
        (
            "discord",
            json!({ "action": "fetch_messages", "channel_id": TALK, "limit": 2, "before": "5000000000000000003" }),
        ),
        ("discord", json!({ "action": "create_thread", "channel_id": TALK, "name": "plans" })),
        (
            "discord",
            json!({ "action": "create_thread", "channel_id": TALK, "message_id": FIRST, "name": "more", "auto_archive_duration": 60 }),
        ),
        ("discord_admin", json!({ "action": "list_guilds", "limit": 100 })),
        ("discord_admin", json!({ "action": "server_info", "guild_id": GUILD })),
        ("discord_admin", json!({ "action": "list_channels", "guild_id": GUILD })),
        ("discord_admin", json!({ "action": "channel_info", "channel_id": TALK })),
        ("discord_admin", json!({ "action": "list_roles", "guild_id": GUILD })),
        ("discord_admin", json!({ "action": "member_info", "guild_id": GUILD, "user_id": ANN })),
        ("discord_admin", json!({ "action": "list_pins", "channel_id": TALK, "limit": 10 })),
        ("discord_admin", json!({ "action": "pin_message", "channel_id": TALK, "message_id": FIRST })),
        ("discord_admin", json!({ "action": "unpin_message", "channel_id": TALK, "message_id": FIRST })),
        ("discord_admin", json!({ "action": "delete_message", "channel_id": TALK, "message_id": FIRST })),
        (
            "discord_admin",
            json!({ "action": "add_role", "guild_id": GUILD, "user_id": ANN, "role_id": ROLE }),
        ),
        (
            "discord_admin",
            json!({ "action": "remove_role", "guild_id": GUILD, "user_id": ANN, "role_id": ROLE }),
        ),
    ]
}

#[test]
fn every_action_works_and_asks_what_discord_py_asks() {
    let double = Double::of("discord");
    let bench = bench(&double);

    for (tool, arguments) in calls() {
        let body = bench.call(tool, &arguments);
        assert!(body.get("error").is_none(), "{arguments}: {body}");
    }
    let ours = double.asked();
    assert_eq!(ours.len(), calls().len());

    if let Some(vendors) = double.asked_by_vendor("discord_client.py", "/api/v10") {
        assert_within(&ours, &vendors);
    }
}

#[test]
fn what_was_found_is_told_in_short() {
    let double = Double::of("discord");
    let bench = bench(&double);

    let said = bench.call("discord", &json!({ "action": "fetch_messages", "channel_id": TALK, "limit": 1 }));
    assert_eq!(
        said,
        json!({ "count": 1, "messages": [{
            "id": "5000000000000000003", "timestamp": "2026-01-02T03:04:05.000000+00:00", "content": "third",
            "author": { "id": ANN, "username": "ann", "global_name": "Ann" },
        }]})
    );
    let channels = bench.call("discord_admin", &json!({ "action": "list_channels", "guild_id": GUILD }));
    assert_eq!(
        (&channels["channels"][0]["name"], &channels["channels"][1]["type"]),
        (&json!("talk"), &json!("announcement"))
    );
    let roles = bench.call("discord_admin", &json!({ "action": "list_roles", "guild_id": GUILD }));
    assert_eq!(roles["roles"][0]["name"], "helper");
    let thread =
        bench.call("discord", &json!({ "action": "create_thread", "channel_id": TALK, "name": "plans" }));
    assert_eq!((&thread["success"], &thread["thread"]["type"]), (&json!(true), &json!("public thread")));
}

#[test]
fn refusals_say_what_the_bot_lacks() {
    let double = Double::of("discord");
    let bench = bench(&double);
    let role =
        |role: &str| json!({ "action": "add_role", "guild_id": GUILD, "user_id": ANN, "role_id": role });

    let closed = bench.fails("discord", &json!({ "action": "fetch_messages", "channel_id": CLOSED }));
    assert!(closed.contains("cannot see this"), "{closed}");
    let locked = bench.fails("discord_admin", &role("4000000000000000009"));
    assert!(locked.contains("Manage Roles"), "{locked}");
    let unknown = bench.fails("discord_admin", &role("4"));
    assert!(unknown.contains("Unknown Role"), "{unknown}");
    let stranger =
        Bench::with(&[("DISCORD_BOT_TOKEN", "bad"), ("DISCORD_BASE_URL", &double.url("/api/v10"))]);
    let wrong = stranger.fails("discord_admin", &json!({ "action": "list_guilds" }));
    assert!(wrong.contains("does not accept DISCORD_BOT_TOKEN"), "{wrong}");
}

#[test]
fn a_missing_intent_is_noticed_and_named() {
    let double = Double::of("discord");
    let bench = bench(&double);
    double.http("PUT", "/api/v10/__flags/0", &Value::Null);

    let said = bench.call("discord", &json!({ "action": "fetch_messages", "channel_id": TALK }));
    assert!(said["note"].as_str().unwrap().contains("Message Content intent"), "{said}");
    let why = bench.fails("discord", &json!({ "action": "search_members", "guild_id": GUILD, "query": "a" }));
    assert!(why.contains("Server Members intent"), "{why}");
}

#[test]
fn a_busy_service_is_waited_for_once() {
    let double = Double::of("discord");
    let bench = bench(&double);
    let busy = json!({ "message": "You are being rate limited.", "retry_after": 0.05, "global": false });
    let ask = json!({ "action": "list_guilds" });

    double.next(429, &json!({ "Retry-After": "1" }), &busy);
    assert_eq!(bench.call("discord_admin", &ask)["count"], 1);
    assert_eq!(double.asked().len(), 2);

    double.next(429, &json!({}), &busy);
    double.next(429, &json!({}), &busy);
    let why = bench.fails("discord_admin", &ask);
    assert!(why.contains("asked too often") && double.asked().len() == 2, "{why}");

    double.next(429, &json!({}), &json!({ "retry_after": 3600 }));
    let why = bench.fails("discord_admin", &ask);
    assert!(why.contains("3600 s") && double.asked().len() == 1, "{why}");
}

#[test]
fn only_the_actions_that_the_person_allows_are_offered_and_done() {
    let double = Double::of("discord");
    let base = double.url("/api/v10");
    let variables = [("DISCORD_BOT_TOKEN", "good-token"), ("DISCORD_BASE_URL", base.as_str())];
    let bench = Bench::with_config("discord:\n  server_actions: [list_guilds, fetch_messages]\n", &variables);

    assert_eq!(bench.call("discord_admin", &json!({ "action": "list_guilds" }))["count"], 1);
    let why = bench.fails("discord_admin", &json!({ "action": "server_info", "guild_id": GUILD }));
    assert!(why.contains("action") || why.contains("server_actions"), "{why}");
    assert_eq!(double.asked().len(), 1);
}
