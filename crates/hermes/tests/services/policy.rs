//! What asks: everything that sends, posts or controls does, and what only looks does not.

use hermes::ToolCall;
use hermes::guard::Mode;
use serde_json::{Value, json};

use crate::support::{Bench, Double};

/// Actions that change nothing.
const LOOKS: [&str; 20] = [
    "get",
    "list",
    "tracks",
    "get_state",
    "get_currently_playing",
    "recently_played",
    "search_members",
    "fetch_messages",
    "list_guilds",
    "server_info",
    "list_channels",
    "channel_info",
    "list_roles",
    "member_info",
    "list_pins",
    "find",
    "list_bots",
    "list_all",
    "search",
    "read",
];

/// Whether a call only looks.
fn looks(tool: &str, arguments: &Value) -> bool {
    match arguments["action"].as_str() {
        Some(action) => LOOKS.contains(&action),
        None => {
            !["ha_call_service", "feishu_drive_reply_comment", "feishu_drive_add_comment"].contains(&tool)
        }
    }
}

#[test]
fn what_acts_is_refused_where_nobody_can_be_asked_and_what_looks_is_not() {
    let house = json!({ "domain": "input_boolean", "service": "turn_on", "entity_id": "input_boolean.lamp" });
    let house = vec![("ha_list_entities", json!({})), ("ha_call_service", house)];
    let services = [
        ("discord", crate::discord::calls()),
        ("spotify", crate::spotify::calls()),
        ("feishu", crate::feishu::calls()),
        ("homeassistant", house),
    ];
    let (mut refused, mut looked) = (0, 0);

    for (service, calls) in services {
        let double = Double::of(service);
        let variables = [
            ("DISCORD_BOT_TOKEN", "good-token"),
            ("DISCORD_BASE_URL", &double.url("/api/v10")),
            ("HERMES_SPOTIFY_API_BASE_URL", &double.url("/v1")),
            ("HERMES_SPOTIFY_ACCOUNTS_BASE_URL", &double.url("")),
            ("SPOTIFY_CLIENT_ID", "c"),
            ("SPOTIFY_REFRESH_TOKEN", "good-refresh"),
            ("FEISHU_APP_ID", "cli_good"),
            ("FEISHU_APP_SECRET", "good-secret"),
            ("FEISHU_BASE_URL", &double.url("")),
            ("HASS_URL", &double.url("")),
            ("HASS_TOKEN", "good-token"),
        ];
        let variables = variables.map(|(name, value)| (name, value.to_owned()));
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let bench = Bench::configured("", &variables, |builder| builder.mode(Mode::Manual));
        for (tool, arguments) in calls {
            double.asked();
            let outcome = bench.runtime.call_blocking(ToolCall::new(tool, arguments.to_string()));
            if looks(tool, &arguments) {
                assert!(
                    !outcome.body.contains("denied") && !double.asked().is_empty(),
                    "{tool} {arguments}: {}",
                    outcome.body
                );
                looked += 1;
            } else {
                assert!(outcome.body.contains("denied"), "{tool} {arguments}: {}", outcome.body);
                assert!(double.asked().is_empty(), "{tool} {arguments} was done without asking");
                refused += 1;
            }
        }
    }
    assert!(refused >= 25 && looked >= 20, "{refused} {looked}");
}
