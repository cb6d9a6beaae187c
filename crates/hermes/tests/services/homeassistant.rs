//! The `ha_*` tools: the same story on the double, and on a real Home Assistant where it is there.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Bench, Double, testbed};

const LAMP: &str = "input_boolean.lamp";

fn bench(url: &str, token: &str) -> Bench {
    Bench::with(&[("HASS_URL", url), ("HASS_TOKEN", token)])
}

/// What holds for any Home Assistant with a lamp that is off and in the kitchen.
fn story(bench: &Bench) {
    let all = bench.call("ha_list_entities", &json!({}));
    assert!(all["result"]["count"].as_u64().unwrap() >= 2, "{all}");
    let lamps = bench.call("ha_list_entities", &json!({ "domain": "input_boolean" }));
    let lamp = |state: &str| json!({ "entity_id": LAMP, "state": state, "friendly_name": "Kitchen lamp" });
    assert_eq!(lamps, json!({ "result": { "count": 1, "entities": [lamp("off")] } }));
    for name in ["kitchen", "Galley"] {
        let there = bench.call("ha_list_entities", &json!({ "area": name }));
        let row = &there["result"]["entities"][0];
        assert_eq!((&row["entity_id"], &row["area"]), (&json!(LAMP), &json!("Kitchen")), "{name}: {there}");
        assert_eq!(there["result"].get("note"), None, "{there}");
    }
    let nowhere = bench.call("ha_list_entities", &json!({ "area": "garage" }));
    assert!(nowhere["result"]["note"].as_str().unwrap().contains("Kitchen"), "{nowhere}");

    let state = bench.call("ha_get_state", &json!({ "entity_id": LAMP }));
    assert_eq!(
        (&state["result"]["state"], &state["result"]["attributes"]["friendly_name"]),
        (&json!("off"), &json!("Kitchen lamp"))
    );
    let why = bench.fails("ha_get_state", &json!({ "entity_id": "input_boolean.lmap" }));
    assert!(why.contains(LAMP), "{why}");

    let services = bench.call("ha_list_services", &json!({ "domain": "input_boolean" }));
    let turn_on = &services["result"]["domains"][0]["services"]["turn_on"];
    assert!(turn_on["description"].is_string() && turn_on["fields"].is_object(), "{services}");
    let all = bench.call("ha_list_services", &json!({})).to_string();
    assert!(all.contains("input_boolean") && !all.contains("shell_command"), "{all}");

    let on = json!({ "domain": "input_boolean", "service": "turn_on", "entity_id": LAMP });
    let done = bench.call("ha_call_service", &on);
    assert_eq!(
        done,
        json!({ "result": { "success": true, "service": "input_boolean.turn_on", "affected_entities": [lamp("on")] } })
    );
    let state = bench.call("ha_get_state", &json!({ "entity_id": LAMP }));
    assert_eq!(state["result"]["state"], "on");
    let said = bench.call(
        "ha_call_service",
        &json!({ "domain": "conversation", "service": "process", "data": "{\"text\": \"hello\"}" }),
    );
    assert!(said["result"]["response"]["response"].is_object(), "{said}");
    let why = bench.fails("ha_call_service", &json!({ "domain": "input_boolean", "service": "explode" }));
    assert!(why.contains("400"), "{why}");
}

#[test]
fn the_double_is_seen_and_controlled() {
    let double = Double::of("homeassistant");

    story(&bench(&double.url("/"), "good-token"));
}

#[test]
fn a_service_is_asked_for_its_answer_as_it_wants() {
    let double = Double::of("homeassistant");
    let bench = bench(&double.url(""), "good-token");

    let events = bench.call("ha_call_service", &json!({ "domain": "calendar", "service": "get_events" }));
    assert!(events["result"]["response"]["response"].is_object(), "{events}");
    let quiet = bench.call("ha_call_service", &json!({ "domain": "script", "service": "quiet" }));
    assert_eq!((&quiet["result"]["success"], &quiet["result"]["response"]), (&json!(true), &Value::Null));
    assert_eq!(double.asked().len(), 4);
}

#[test]
fn what_runs_code_or_leads_elsewhere_is_never_asked() {
    let double = Double::of("homeassistant");
    let bench = bench(&double.url(""), "good-token");
    let call = |domain: &str, service: &str| json!({ "domain": domain, "service": service });

    for domain in ["shell_command", "command_line", "python_script", "pyscript", "hassio", "rest_command"] {
        let why = bench.fails("ha_call_service", &call(domain, "mark"));
        assert!(why.contains("never"), "{why}");
    }
    bench.fails("ha_call_service", &call("light", "../../config/core"));
    bench.fails("ha_call_service", &call("light/../shell_command", "mark"));
    bench.fails("ha_get_state", &json!({ "entity_id": "light.a/../../config" }));
    bench.fails("ha_call_service", &json!({ "domain": "light", "service": "turn_on", "data": "not json" }));
    assert!(double.asked().is_empty());
}

#[test]
fn a_wrong_token_or_address_is_said() {
    let double = Double::of("homeassistant");

    let why = bench(&double.url(""), "bad").fails("ha_list_entities", &json!({}));
    assert!(why.contains("does not accept HASS_TOKEN"), "{why}");
    let why = bench("homeassistant.local:8123", "x").fails("ha_list_entities", &json!({}));
    assert!(why.contains("http://"), "{why}");
    let bench = Bench::with(&[]);
    let why = bench.call("ha_list_entities", &json!({})).to_string();
    assert!(why.contains("HASS_TOKEN"), "{why}");
}

/// A real one, stopped with the test.
struct Real(Child);

impl Drop for Real {
    fn drop(&mut self) {
        // Its keeper ends it, and itself, when nobody holds the other end any more.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn a_real_home_assistant_is_seen_and_controlled() {
    if std::env::var("HERMES_TEST_FULL").is_err() {
        eprintln!("not run: scripts/test --full brings a real Home Assistant");
        return;
    }
    let Some(python) = testbed("HASS_PYTHON", "homeassistant") else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/doubles/real_homeassistant.py");
    let mut command = Command::new(python);
    let child = command.arg("-B").arg(script).arg(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut real = Real(child.spawn().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(real.0.stdout.take().unwrap()), &mut line)
        .unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();

    story(&bench(ready["url"].as_str().unwrap(), ready["token"].as_str().unwrap()));
}
