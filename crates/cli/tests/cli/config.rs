//! `hermes config`: values are found, set, removed, checked and explained; comments stay.

use serde_json::json;

use crate::home::{Home, Said};

#[test]
fn a_value_is_set_and_found_and_the_comments_stay() {
    let home = Home::configured("# mine\nagent:\n  max_turns: 5 # few\n");

    let set = home.run(&["config", "set", "agent.max_turns", "12"]);

    assert_eq!(set.code, Some(0), "{set:?}");
    assert_eq!(home.run(&["config", "get", "agent.max_turns"]).out, "12\n");
    assert_eq!(home.config_text(), "# mine\nagent:\n  max_turns: 12 # few\n");
    assert_eq!(home.run(&["config", "get", "approvals.mode"]).out, "smart\n", "the default");
    assert!(home.run(&["config", "unset", "agent.max_turns"]).out.contains("no longer set"));
    assert_eq!(home.run(&["config", "get", "agent.max_turns"]).out, "90\n");
}

#[test]
fn a_value_that_cannot_be_used_is_refused_and_nothing_is_written() {
    let home = Home::new();

    let said = home.run(&["config", "set", "agent.max_turns", "many"]);

    // The file is fine, and not to be blamed.
    let why = "`agent.max_turns` must be a whole number, not the text `many`; nothing was written";
    assert_eq!((said.code, said.err), (Some(2), format!("error: {why}\n")));
    assert!(!home.config().exists());
    let odd = home.run(&["config", "set", "modle.default", "x", "--dry-run"]);
    assert!(odd.err.contains("did you mean `model.default`?"), "{odd:?}");
    assert!(!home.config().exists());
}

#[test]
fn a_variable_goes_into_the_secrets_and_is_never_shown() {
    let home = Home::new();

    let set = home.run_with(&["config", "set", "SOME_API_KEY", "-"], b"hush-hush\n");

    assert_eq!(set.code, Some(0), "{set:?}");
    assert!(!set.out.contains("hush"), "{set:?}");
    assert_eq!(std::fs::read_to_string(home.state().join(".env")).unwrap().trim(), "SOME_API_KEY=hush-hush");
    home.run(&["config", "set", "model.api_key", "hush"]);
    for words in [&["config", "show"][..], &["config", "get", "model.api_key"], &["config", "show", "--json"]]
    {
        let said = home.run(words);
        assert!(said.code == Some(0) && !said.out.contains("hush"), "{said:?}");
    }
    assert_eq!(home.run(&["config", "get", "model.api_key", "--reveal"]).out, "hush\n");
}

#[test]
fn a_check_names_what_is_wrong_unknown_and_not_used_with_its_line() {
    let home =
        Home::configured("tts: {provider: espeak}\nagent:\n  max_trns: 3\ncurator:\n  interval_hours: 1\n");

    let said = home.run(&["config", "check", "--json"]);

    assert_eq!(said.code, Some(0), "{said:?}");
    let found = said.json()["found"].clone();
    let told: Vec<(u64, &str, &str)> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["line"].as_u64().unwrap(), f["level"].as_str().unwrap(), f["key"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [(3, "warning", "agent.max_trns"), (4, "note", "curator")], "{found}");
    let bad = Home::configured("agent:\n  max_turns: x\ntoolsets: web\n");
    let said = bad.run(&["config", "check"]);
    assert_eq!(said.code, Some(1));
    assert!(said.out.contains("agent.max_turns") && said.out.contains("toolsets"), "{said:?}");
    assert!(Home::new().run(&["config", "check"]).out.contains("is fine"));
}

#[test]
fn an_explanation_says_where_a_value_comes_from() {
    let home = Home::configured("\nmodel:\n  default: big\n");

    let set = home.json(&["config", "explain", "model.default"]);
    let unset = home.json(&["config", "explain", "approvals.timeout"]);

    assert_eq!(set["value"], json!("big"));
    assert!(set["from"].as_str().unwrap().ends_with("config.yaml, line 3"), "{set}");
    assert_eq!((unset["value"].clone(), unset["from"].as_str()), (json!(60), Some("the default")));
    assert_eq!(home.run(&["config", "explain", "no.such"]).code, Some(2));
    assert!(home.run(&["config", "explain"]).out.contains("compression.threshold"));
}

#[test]
fn the_file_opens_in_the_persons_editor_and_is_checked_when_it_closes() {
    let home = Home::new().file("editor", "#!/bin/sh\nprintf 'agent:\\n  max_turns: nine\\n' > \"$1\"\n");
    let editor = home.project().join("editor");
    let edit =
        |editor: &str| Said::of(home.command(&["config", "edit"]).env("EDITOR", editor).output().unwrap());

    let said = edit(&format!("sh {}", editor.display()));

    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("agent.max_turns"), "{said:?}");
    let none = edit("/no/such/editor");
    assert!(none.err.contains("set EDITOR"), "{none:?}");
}
