//! `hermes setup`, `hermes model` and `hermes doctor`: from nothing to a home that works.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::home::{Home, Said};

/// An address at which nobody answers.
const NOBODY: &str = "http://127.0.0.1:9/v1";

fn state_of(doctor: &Value, check: &str) -> String {
    let checks = doctor["checks"].as_array().unwrap();
    let found: Vec<&str> =
        checks.iter().filter(|one| one["check"] == check).map(|one| one["state"].as_str().unwrap()).collect();
    if found.contains(&"wrong") { "wrong".to_owned() } else { found.join(" ") }
}

#[test]
fn setup_puts_every_value_where_it_belongs() {
    let home = Home::configured("# mine\nmodel:\n  default: old # for now\n");
    let said = home.run(&[
        "setup",
        "--non-interactive",
        "OPENROUTER_API_KEY=sk-or-secret",
        "model.default=acme/large",
        "approvals.mode=manual",
    ]);

    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert!(!said.out.contains("sk-or-secret"), "{}", said.out);
    let config = home.config_text();
    assert!(config.starts_with("# mine\n") && config.contains("default: acme/large # for now"), "{config}");
    assert_eq!(home.say(&["config", "get", "approvals.mode"]).trim(), "manual");
    let env = home.state().join(".env");
    assert_eq!(std::fs::read_to_string(&env).unwrap().trim(), "OPENROUTER_API_KEY=sk-or-secret");
    assert_eq!(std::fs::metadata(&env).unwrap().permissions().mode() & 0o777, 0o600);
    let listed = home.json(&["setup", "--list"]);
    let key = listed.as_array().unwrap().iter().find(|one| one["name"] == "OPENROUTER_API_KEY").unwrap();
    assert_eq!((&key["set"], &key["secret"]), (&json!(true), &json!(true)));
}

#[test]
fn setup_writes_nothing_when_one_value_is_wrong() {
    for (words, hint) in [
        (vec!["setup", "OPENROUTER_API_KEY=x", "modle.default=y"], "model.default"),
        (vec!["setup", "OPENROUTER_API_KEY=x", "nonsense"], "NAME=VALUE"),
    ] {
        let home = Home::new();
        let said = home.run(&words);

        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains(hint), "{said:?}");
        assert!(!home.config().exists() && !home.state().join(".env").exists());
    }
}

#[test]
fn setup_reads_a_secret_from_its_input_and_waits_for_nobody() {
    let home = Home::new();
    let said = home.run_with(&["setup", "OPENAI_API_KEY=-"], b"sk-from-input\n");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(
        std::fs::read_to_string(home.state().join(".env")).unwrap().trim(),
        "OPENAI_API_KEY=sk-from-input"
    );

    for words in [["setup"].as_slice(), &["setup", "--non-interactive"]] {
        let said = home.run(words);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains("NAME=VALUE"), "{said:?}");
    }
}

#[test]
fn a_model_is_chosen_shown_and_explained() {
    let home = Home::new();
    let chosen = home.run(&["model", "acme-large", "--provider", "custom", "--base-url", NOBODY]);
    assert_eq!(chosen.code, Some(0), "{chosen:?}");

    let shown = home.json(&["model"]);
    assert_eq!(shown["model"], "custom/acme-large");
    assert_eq!((&shown["base_url"], &shown["offline"]), (&json!(NOBODY), &json!(false)));
    assert!(!shown["why"].as_array().unwrap().is_empty());
    let listed = home.json(&["model", "--providers"]);
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|one| one["provider"].as_str().unwrap()).collect();
    for name in ["openai-api", "anthropic", "openrouter", "nous", "gemini", "ollama", "vllm", "custom"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
}

#[test]
fn a_provider_nobody_knows_is_refused_and_nothing_is_written() {
    let home = Home::new();
    let said = home.run(&["model", "m", "--provider", "antropic"]);

    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("anthropic"), "{said:?}");
    assert!(!home.config().exists());
}

#[test]
fn the_doctor_finds_a_sound_home_sound() {
    let home = Home::configured("model:\n  default: m\n");
    let found = home.json(&["doctor", "--offline"]);

    assert_eq!(found["ok"], true, "{found}");
    for check in ["home", "config", "secrets", "store", "tools"] {
        assert_ne!(state_of(&found, check), "wrong", "{found}");
    }
    assert_eq!(state_of(&found, "model"), "");
}

#[test]
fn the_doctor_says_what_is_wrong_and_fails() {
    let mute = Home::configured(&format!("model:\n  default: m\n  provider: custom\n  base_url: {NOBODY}\n"));
    let said = mute.run(&["doctor", "--json"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(said.json()["ok"], false);
    assert_eq!(state_of(&said.json(), "model"), "wrong");

    let broken = Home::configured("model: [\n");
    let said = broken.run(&["doctor", "--offline", "--json"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(state_of(&said.json(), "config"), "wrong");
}

#[test]
fn the_doctor_notices_a_disk_that_takes_no_more() {
    let home = Home::configured("");
    let own = home.command(&[]).get_program().to_str().unwrap().to_owned();
    // A file may be made, but nothing be written to one.
    let script = format!("trap '' XFSZ; ulimit -f 0; exec {own} doctor --offline --json");

    let found = Said::of(home.program("sh", &["-c", &script]).output().unwrap()).json();

    assert_eq!(state_of(&found, "home"), "wrong", "{found}");
}

#[test]
fn listing_models_without_a_provider_says_what_is_missing() {
    let home = Home::new();

    let nobody = home.run(&["model", "--list"]);
    let meant = home.run(&["model", "list"]);

    assert_eq!(nobody.code, Some(1), "{nobody:?}");
    assert!(nobody.err.contains("whose models could be listed; name one with --provider"), "{nobody:?}");
    let why = "error: there is no model `list`; `hermes model --list` lists those there are\n";
    assert_eq!((meant.code, meant.err.as_str()), (Some(2), why));
}

/// Told to whoever starts an agent for a task, and no matter for setup.
const OF_A_WORKER: &str = "HERMES_KANBAN_TASK";

#[test]
fn the_keys_of_every_tool_are_told_by_setup_and_by_the_doctor() {
    let home = Home::new();
    let runtime = hermes::Runtime::builder().build().unwrap();
    let listed = home.json(&["setup", "--list"]);
    let doctor = home.say(&["doctor", "--offline", "--json"]);

    let snapshot = runtime.tools();
    let mut seen = 0;
    for tool in snapshot.tools() {
        for variable in tool.variables() {
            let row = listed.as_array().unwrap().iter().find(|row| row["name"] == variable);
            let row = row.unwrap_or_else(|| panic!("{variable} of {} is not listed", tool.name()));
            assert!(row["tools"].as_array().unwrap().contains(&json!(tool.name())), "{}: {row}", tool.name());
            assert!(doctor.contains(variable), "{variable} of {}: {doctor}", tool.name());
            seen += 1;
        }
    }
    assert!(seen >= 60, "{seen}");
    for name in
        ["web_search", "text_to_speech", "image_generate", "ha_call_service", "send_message", "x_search"]
    {
        assert!(!snapshot.tool(name).unwrap().variables().is_empty(), "{name}");
    }
    // What a tool says that it lacks is among what it says that it can use.
    for row in home.json(&["tools", "list", "--toolsets", "all"]).as_array().unwrap() {
        let Some(why) = row["reason"].as_str() else { continue };
        let tool = snapshot.tool(row["name"].as_str().unwrap()).unwrap();
        let is_word = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let named = why.split(|c: char| !is_word(c)).filter(|word| word.contains('_') && word.len() > 5);
        for name in named.filter(|name| *name != OF_A_WORKER) {
            assert!(tool.variables().contains(&name), "{}: {why}", tool.name());
        }
    }
}

#[test]
fn what_the_machine_says_about_itself_is_no_key_to_be_typed_in() {
    let home = Home::new();
    let listed = home.json(&["setup", "--list"]);
    let runtime = hermes::Runtime::builder().build().unwrap();

    let of_the_machine =
        ["DISPLAY", "WAYLAND_DISPLAY", "PATH", "HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
    for name in of_the_machine {
        assert!(listed.as_array().unwrap().iter().all(|row| row["name"] != name), "{name}");
        assert!(runtime.tools().tools().all(|tool| !tool.variables().contains(&name)), "{name}");
    }
    // That there is no screen is still told.
    let tools = home.json(&["tools", "list", "--toolsets", "all"]);
    let screen = tools.as_array().unwrap().iter().find(|row| row["name"] == "computer_use").unwrap();
    assert!(screen["reason"].as_str().unwrap().contains("DISPLAY"), "{screen}");
}

#[test]
fn the_doctor_says_what_would_open_a_tool_that_is_not_there() {
    let home = Home::configured("platform_toolsets:\n  cli: [hermes-cli, homeassistant]\n");
    let found = home.json(&["doctor", "--offline"]);

    let checks = found["checks"].as_array().unwrap();
    let tool = checks.iter().find(|one| one["what"].as_str().unwrap().contains("ha_get_state")).unwrap();
    assert_eq!(tool["fix"], "`hermes setup HASS_TOKEN=…`", "{tool}");
    // A variable that only a tool knows is none that is misspelt.
    let said = home.run(&["setup", "SPOTIFY_REFRESH_TOKEN=r"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
}
