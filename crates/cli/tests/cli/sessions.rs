//! `hermes sessions`, `hermes import` and recorded calls.

use hermes::store::Home as StateFolder;
use hermes::store::sessions::{Message, NewSession, Sessions};
use serde_json::{Value, json};

use crate::home::Home;

/// A user with two sessions.
fn talkative() -> (Home, Sessions) {
    let home = Home::new();
    let store = hermes::open_sessions(&StateFolder::at(&home.state())).unwrap();
    for (id, title, text) in [("a1", Some("shopping"), "buy milk"), ("b2", None, "deploy the app")] {
        store.create(&NewSession { id: Some(id.to_owned()), ..NewSession::from("cli") }).unwrap();
        store.append(id, &[Message::text("user", text), Message::text("assistant", "done")]).unwrap();
        if let Some(title) = title {
            store.rename(id, title).unwrap();
        }
    }
    (home, store)
}

#[test]
fn without_a_store_there_is_nothing_and_nothing_is_made() {
    let home = Home::new();

    assert_eq!(home.json(&["sessions", "list"]), json!([]));
    assert_eq!(home.json(&["sessions", "search", "milk"]), json!([]));
    assert_eq!(home.json(&["sessions", "stats"])["sessions"], 0);
    assert_eq!(home.run(&["sessions", "export"]).out, "");
    assert_eq!(home.run(&["sessions", "show", "x"]).code, Some(2));
    assert!(!home.state().join("hermes.db").exists());
}

#[test]
fn sessions_are_listed_last_used_first() {
    let (home, _store) = talkative();

    let list = home.json(&["sessions", "list"]);

    assert_eq!(list[0]["id"], "b2");
    assert_eq!(list[0]["preview"], "deploy the app");
    assert_eq!(list[1]["title"], "shopping");
    assert_eq!(list[1]["message_count"], 2);
    let said = home.say(&["sessions", "list", "--limit", "1"]);
    assert!(said.contains("deploy the app") && !said.contains("shopping"), "{said}");
}

#[test]
fn a_search_shows_where_the_words_are() {
    let (home, _store) = talkative();

    let found = home.json(&["sessions", "search", "milk"]);

    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!((&found[0]["session_id"], &found[0]["snippet"]), (&json!("a1"), &json!("buy >>>milk<<<")));
    assert_eq!(home.json(&["sessions", "search", "milk", "--role", "tool"]), json!([]));
    assert_eq!(home.json(&["sessions", "search", "milk", "--since", "2200-01-01"]), json!([]));
    assert_eq!(home.json(&["sessions", "search", "done", "--session", "shopping"])[0]["session_id"], "a1");
    assert_eq!(home.run(&["sessions", "search", "x", "--since", "soon"]).code, Some(2));
}

#[test]
fn a_session_is_shown_by_its_title() {
    let (home, _store) = talkative();

    let said = home.say(&["sessions", "show", "shopping"]);

    assert!(said.starts_with("# shopping") && said.contains("## User\n\nbuy milk"), "{said}");
    assert_eq!(home.json(&["sessions", "show", "a"])["messages"][1]["content"], "done");
    let wrong = home.run(&["sessions", "show", "nothing"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("no session `nothing`"), "{}", wrong.err);
}

#[test]
fn a_title_can_be_given_once() {
    let (home, _store) = talkative();

    assert_eq!(home.json(&["sessions", "rename", "b2", "big", "day"])["title"], "big day");
    let taken = home.run(&["sessions", "rename", "b2", "shopping"]);

    assert_eq!(taken.code, Some(1));
    assert!(taken.err.contains("a1"), "{}", taken.err);
    assert_eq!(home.json(&["sessions", "show", "big day"])["id"], "b2");
}

#[test]
fn an_export_is_one_line_per_session_or_a_document() {
    let (home, _store) = talkative();

    let lines = home.say(&["sessions", "export"]);

    let ids: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
    assert_eq!(ids, ["b2", "a1"]);
    assert!(home.say(&["sessions", "export", "a1", "--format", "markdown"]).starts_with("# shopping"));
}

#[test]
fn deleting_and_pruning_want_a_yes() {
    let (home, store) = talkative();

    let asked = home.run(&["sessions", "delete", "shopping"]);
    assert_eq!(asked.code, Some(2));
    assert!(asked.err.contains("a1 (shopping)") && asked.err.contains("--yes"), "{}", asked.err);
    assert_eq!(home.json(&["sessions", "delete", "shopping", "--yes"]), json!({ "deleted": ["a1"] }));
    assert!(store.session("a1").is_err());

    let old = home.json(&["sessions", "prune", "--older-than", "0"]);
    assert_eq!(old, json!({ "sessions": ["b2"], "deleted": false }));
    assert_eq!(home.json(&["sessions", "prune"])["sessions"], json!([]));
    assert_eq!(home.json(&["sessions", "prune", "--older-than", "0", "--yes"])["deleted"], true);
    assert_eq!(home.json(&["sessions", "stats"])["sessions"], 0);
}

#[test]
fn a_call_is_recorded_in_the_session_it_names() {
    let home = Home::new().file("notes.txt", "buy milk\n");

    home.say(&["tools", "call", "read_file", r#"{"path": "notes.txt"}"#, "--session", "plan"]);
    home.run(&["tools", "call", "nothing", "--session", "plan"]);

    let calls = home.json(&["sessions", "show", "plan", "--calls"]);
    assert_eq!(calls[0]["tool"], "read_file");
    assert_eq!((&calls[0]["state"], &calls[0]["status"]), (&json!("finished"), &json!("ok")));
    assert!(calls[0]["body"].as_str().unwrap().contains("buy milk"));
    assert_eq!(calls[1]["status"], "unknown");
    assert!(home.say(&["sessions", "show", "plan", "--calls"]).starts_with("ok "));
}

#[test]
fn a_call_without_a_session_records_nothing() {
    let home = Home::new().file("notes.txt", "buy milk\n");

    home.say(&["tools", "call", "read_file", r#"{"path": "notes.txt"}"#]);

    assert!(!home.state().join("hermes.db").exists());
}

#[test]
fn what_is_not_a_state_db_is_not_imported() {
    let home = Home::new().file("notes.db", "buy milk\n");

    for words in [&["import"][..], &["import", "notes.db"], &["import", "."]] {
        let said = home.run(words);
        assert_eq!(said.code, Some(1), "{words:?}");
        assert!(said.err.contains("cannot import"), "{}", said.err);
    }
}
