//! The task board from the command line.

use serde_json::{Value, json};

use crate::home::Home;

fn make(home: &Home, words: &[&str]) -> String {
    let made = home.json(&[&["kanban", "create"], words].concat());
    made["task"]["id"].as_str().unwrap().to_owned()
}

fn status(home: &Home, id: &str) -> Value {
    home.json(&["kanban", "show", id])["task"]["status"].clone()
}

#[test]
fn a_person_hands_out_follows_and_finishes_tasks() {
    let home = Home::new().file("body.md", "All of it.\n");
    let first = make(&home, &["Collect", "--assignee", "analyst", "--priority", "2", "--body", "@body.md"]);
    let second = make(&home, &["Report", "--parent", &first, "--max-runtime", "2h"]);

    assert_eq!((status(&home, &first), status(&home, &second)), (json!("ready"), json!("todo")));
    assert!(home.say(&["kanban", "claim", &first, "--ttl", "60"]).contains("claimed (run 1), running"));
    home.say(&["kanban", "heartbeat", &first, "--note", "half"]);
    home.say(&["kanban", "comment", &first, "see the wiki"]);
    home.say(&["kanban", "block", &first, "no access", "--kind", "needs_input"]);
    assert_eq!(home.json(&["kanban", "ls", "--status", "blocked"])[0]["block_reason"], "no access");
    home.say(&["kanban", "unblock", &first]);
    let done = home.json(&["kanban", "complete", &first, "--summary", "42", "--metadata", r#"{"n": 42}"#]);
    assert_eq!(done[0]["task"]["metadata"], json!({ "n": 42 }));
    assert_eq!(status(&home, &second), "ready");
    let page = home.say(&["kanban", "show", &first]);
    for piece in ["Collect", "All of it.", "run 1 by", "blocked: no access", "see the wiki", "before t_"] {
        assert!(page.contains(piece), "{piece}: {page}");
    }
    home.say(&["kanban", "assign", &second, "writer"]);
    home.say(&["kanban", "archive", &first]);
    let left = home.json(&["kanban", "list"]);
    assert_eq!((left.as_array().unwrap().len(), &left[0]["assignee"]), (1, &json!("writer")));
}

#[test]
fn hooks_hear_of_a_task_that_a_person_finishes() {
    let hooks = "hooks_auto_accept: true\nhooks:\n  kanban_task_completed:\n    - command: sh heard.sh\n";
    let home = Home::configured(hooks).file("heard.sh", "cat > heard\n");
    let id = make(&home, &["Look"]);

    home.say(&["kanban", "complete", &id, "--summary", "42"]);

    let told = std::fs::read_to_string(home.project().join("heard")).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["extra"]["task_id"], &told["extra"]["summary"]), (&json!(id), &json!("42")));
}

#[test]
fn the_board_says_why_it_refuses() {
    let home = Home::new();
    let (first, second) = (make(&home, &["a"]), make(&home, &["b"]));
    home.say(&["kanban", "link", &first, &second]);

    let circle = home.run(&["kanban", "link", &second, &first]);
    let early = home.run(&["kanban", "complete", &second]);
    let missing = home.run(&["kanban", "show", "t_0"]);
    let board = home.run(&["kanban", "list", "--board", "lab"]);

    assert_eq!((circle.code, early.code, missing.code, board.code), (Some(1), Some(1), Some(2), Some(2)));
    assert!(circle.err.contains("which waits for it"), "{circle:?}");
    assert!(early.err.contains("have to be done first"), "{early:?}");
    home.say(&["kanban", "unlink", &first, &second]);
    home.say(&["kanban", "complete", &first, &second]);
    home.say(&["kanban", "boards", "create", "lab", "--title", "Trials"]);
    make(&home, &["c", "--board", "lab", "--triage", "--workspace", "dir:src"]);
    assert_eq!(
        home.json(&["kanban", "boards"]),
        json!([
            { "name": "default", "title": null, "tasks": [["done", 2]] },
            { "name": "lab", "title": "Trials", "tasks": [["triage", 1]] },
        ])
    );
}

#[test]
fn a_key_makes_a_task_once_and_profiles_share_the_board() {
    let home = Home::new();
    std::fs::create_dir_all(home.state().join("profiles/coder")).unwrap();

    let first = make(&home, &["a", "--idempotency-key", "k"]);
    let again = home.json(&["-p", "coder", "kanban", "create", "b", "--idempotency-key", "k"]);

    assert_eq!((&again["created"], &again["task"]["id"]), (&json!(false), &json!(first)));
    assert!(home.state().join("kanban/tasks.db").exists());
}

#[test]
fn files_are_kept_with_a_task() {
    let home = Home::new().file("data.csv", "a,b\n").file("notes.md", "# Notes\n");
    let id = make(&home, &["Collect"]);

    let kept = home.json(&["kanban", "attach", &id, "data.csv", "notes.md"]);

    assert_eq!((&kept[0]["filename"], &kept[0]["content_type"]), (&json!("data.csv"), &json!("text/csv")));
    assert_eq!(std::fs::read_to_string(kept[1]["path"].as_str().unwrap()).unwrap(), "# Notes\n");
    let view = home.json(&["kanban", "show", &id]);
    assert_eq!(view["attachments"].as_array().unwrap().len(), 2, "{view}");
    let said = home.run(&["kanban", "attach", &id, "nowhere.csv"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("cannot read nowhere.csv"), "{said:?}");
}

#[test]
fn a_home_of_the_original_is_brought_in_with_its_tasks_and_jobs() {
    let (home, other) = (Home::new(), Home::new());
    other.run(&["cron", "create", "@daily", "Look", "--name", "look"]);
    let folder = other.state().to_str().unwrap().to_owned();

    let done = home.json(&["import", &folder]);
    assert_eq!((&done["jobs"]["new_jobs"], &done["tasks"]), (&json!(1), &Value::Null), "{done}");
    assert_eq!(home.json(&["cron", "list"])[0]["state"], "paused");
    let again = home.say(&["import", &folder]);
    assert!(again.contains("0 new jobs, 1 known"), "{again}");
    std::fs::write(other.state().join("kanban.db"), "no database").unwrap();
    let said = home.run(&["import", &folder]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("cannot import"), "{said:?}");
}
