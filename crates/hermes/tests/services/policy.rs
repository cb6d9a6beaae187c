//! What asks: everything that sends, posts or controls does, and what only looks does not.

use std::sync::Arc;

use hermes::core::cx::Services;
use hermes::core::effect::Effect;
use hermes::core::session::Place;
use hermes::guard::Mode;
use hermes::{Runtime, ToolCall};
use hermes_testkit::{FakeFiles, FakeHost};
use serde_json::{Value, json};

use crate::support::{Bench, Double};

/// Whether a call says that it acts. That every tool says so rightly is held by the tests of the tools.
fn acts(runtime: &Runtime, tool: &str, arguments: &Value) -> bool {
    let services = Services::new(Arc::new(FakeHost::default()), Arc::new(FakeFiles::default()));
    let entry = runtime.tools().tool(tool).cloned().unwrap();
    let arguments = arguments.as_object().unwrap().clone();
    let effects = entry.effects_of(arguments, &Place { cwd: "/w".into(), home: None }, &services).unwrap();
    effects.iter().any(|effect| matches!(effect, Effect::Act(_)))
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
            if acts(&bench.runtime, tool, &arguments) {
                assert!(outcome.body.contains("denied"), "{tool} {arguments}: {}", outcome.body);
                assert!(double.asked().is_empty(), "{tool} {arguments} was done without asking");
                refused += 1;
            } else {
                assert!(
                    !outcome.body.contains("denied") && !double.asked().is_empty(),
                    "{tool} {arguments}: {}",
                    outcome.body
                );
                looked += 1;
            }
        }
    }
    assert!(refused >= 25 && looked >= 20, "{refused} {looked}");
}
