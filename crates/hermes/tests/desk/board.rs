//! The task board as agents use it: who sees which tools, and a task that goes from one to the next.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::{done, offered, refused, runtime};

const ORCHESTRATOR: &str = "toolsets: [hermes-cli, kanban]\nsecurity: {allow_private_urls: true}\n";

/// Answers every request with these bytes.
fn serve(content: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            while reader.read_line(&mut line).unwrap_or(0) > 2 {
                line.clear();
            }
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/csv; charset=utf-8\r\nContent-Length: {}\r\n\
                 Connection: close\r\n\r\n{content}",
                content.len()
            );
            let _ = reader.get_mut().write_all(answer.as_bytes());
        }
    });
    address
}

#[test]
fn workers_and_those_who_hand_out_work_see_their_own_tools() {
    let home = tempfile::tempdir().unwrap();
    let names = |config: &str, variables: &[(&str, &str)]| {
        offered(&runtime(&home, config, variables).session().open().unwrap(), "kanban_")
    };

    assert_eq!(names("{}", &[]), Vec::<String>::new());
    let all = names(ORCHESTRATOR, &[]);
    assert_eq!(all.len(), 12, "{all:?}");
    let worker = names("{}", &[("HERMES_KANBAN_TASK", "t_1")]);
    assert_eq!(worker.len(), 10);
    assert!(!worker.iter().any(|name| name == "kanban_list" || name == "kanban_unblock"), "{worker:?}");
    assert_eq!(names(ORCHESTRATOR, &[("HERMES_KANBAN_TASK", "t_1")]), worker);
}

#[test]
fn hooks_hear_of_tasks_that_are_taken_up_stuck_and_done() {
    let home = tempfile::tempdir().unwrap();
    let script = home.path().join("heard.sh");
    std::fs::write(&script, "cat >> \"$(dirname \"$0\")/heard\"; echo >> \"$(dirname \"$0\")/heard\"\n")
        .unwrap();
    let hook = |event: &str| format!("  {event}:\n    - command: sh {}\n", script.display());
    let events = ["kanban_task_claimed", "kanban_task_blocked", "kanban_task_completed"];
    let config = format!("{ORCHESTRATOR}hooks_auto_accept: true\nhooks:\n{}", events.map(hook).concat());
    let runtime = runtime(&home, &config, &[]);
    let session = runtime.session().id("worker").open().unwrap();
    let made = done(&session, "kanban_create", &json!({ "title": "Look", "assignee": "default" }));
    let id = &made["task_id"];

    done(&session, "kanban_heartbeat", &json!({ "task_id": id }));
    done(&session, "kanban_heartbeat", &json!({ "task_id": id, "note": "still there" }));
    assert!(runtime.settle(std::time::Duration::from_secs(20)).is_empty());
    done(&session, "kanban_block", &json!({ "task_id": id, "reason": "no key" }));
    assert!(runtime.settle(std::time::Duration::from_secs(20)).is_empty());
    done(&session, "kanban_unblock", &json!({ "task_id": id }));
    done(&session, "kanban_heartbeat", &json!({ "task_id": id }));
    assert!(runtime.settle(std::time::Duration::from_secs(20)).is_empty());
    done(&session, "kanban_complete", &json!({ "task_id": id, "summary": "42" }));
    assert!(runtime.settle(std::time::Duration::from_secs(20)).is_empty());

    let heard = std::fs::read_to_string(home.path().join("heard")).unwrap();
    let heard: Vec<Value> = heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = heard.iter().map(|told| told["hook_event_name"].as_str().unwrap()).collect();
    assert_eq!(names, [events[0], events[1], events[0], events[2]]);
    let extra = |at: usize| &heard[at]["extra"];
    assert_eq!((&extra(0)["task_id"], &heard[0]["session_id"]), (id, &json!("worker")));
    assert_eq!((&extra(1)["reason"], &extra(3)["summary"]), (&json!("no key"), &json!("42")));
    assert_eq!((&extra(0)["run_id"], &extra(2)["run_id"]), (&json!(1), &json!(2)));
}

#[test]
fn a_task_is_handed_out_worked_on_blocked_answered_and_done() {
    let home = tempfile::tempdir().unwrap();
    let chief = runtime(&home, ORCHESTRATOR, &[]).session().id("chief").open().unwrap();
    let made =
        done(&chief, "kanban_create", &json!({ "title": "Look", "assignee": "default", "priority": 5 }));
    let first = made["task_id"].as_str().unwrap().to_owned();
    assert_eq!((&made["status"], &made["created"]), (&json!("ready"), &json!(true)));
    let made = done(
        &chief,
        "kanban_create",
        &json!({ "title": "Build", "assignee": "default", "parents": [first], "body": "Use what was found." }),
    );
    let second = made["task_id"].as_str().unwrap().to_owned();
    assert_eq!(made["status"], "todo");

    let worker = runtime(&home, "{}", &[("HERMES_KANBAN_TASK", &first)]);
    let worker = worker.session().id("worker").open().unwrap();
    assert_eq!(done(&worker, "kanban_heartbeat", &json!({ "note": "reading" }))["status"], "running");
    let why = refused(&chief, "kanban_complete", &json!({ "task_id": first, "summary": "mine" }));
    assert!(why.contains("being worked on by default"), "{why}");
    let why = refused(&worker, "kanban_complete", &json!({ "task_id": second, "summary": "x" }));
    assert!(why.contains(&first), "{why}");
    done(&worker, "kanban_block", &json!({ "reason": "which API?", "kind": "needs_input" }));
    done(&chief, "kanban_comment", &json!({ "task_id": first, "body": "The second one" }));
    let listed = done(&chief, "kanban_list", &json!({ "status": "blocked" }));
    assert_eq!((&listed["count"], &listed["tasks"][0]["block_reason"]), (&json!(1), &json!("which API?")));
    assert_eq!(done(&chief, "kanban_unblock", &json!({ "task_id": first }))["status"], "ready");
    let shown = done(&worker, "kanban_show", &json!({}));
    let text = shown["worker_context"].as_str().unwrap();
    assert!(text.contains("which API?") && text.contains("The second one"), "{text}");

    std::fs::write(home.path().join("report.md"), "# API 2\n").unwrap();
    let why = refused(&worker, "kanban_complete", &json!({ "summary": "x", "artifacts": ["missing.md"] }));
    assert!(why.contains("missing.md"), "{why}");
    let end = done(
        &worker,
        "kanban_complete",
        &json!({ "summary": "API 2 it is", "metadata": { "version": 2 }, "artifacts": ["report.md"] }),
    );
    assert_eq!(end["status"], "done");
    assert_eq!(std::fs::read_to_string(end["attachments"][0].as_str().unwrap()).unwrap(), "# API 2\n");
    let next = done(&chief, "kanban_show", &json!({ "task_id": second }));
    assert_eq!(
        (&next["task"]["status"], &next["parents"][0]["summary"]),
        (&json!("ready"), &json!("API 2 it is"))
    );
    assert!(next["worker_context"].as_str().unwrap().contains(r#"{"version":2"#));
    let why = refused(&chief, "kanban_link", &json!({ "parent_id": second, "child_id": first }));
    assert!(why.contains("done"), "{why}");
}

#[test]
fn files_are_kept_with_a_task_from_text_and_from_the_web() {
    let home = tempfile::tempdir().unwrap();
    let chief = runtime(&home, ORCHESTRATOR, &[]).session().open().unwrap();
    let made = done(&chief, "kanban_create", &json!({ "title": "x", "assignee": "default" }));
    let id = made["task_id"].as_str().unwrap().to_owned();
    let attach = |name: &str| json!({ "task_id": id, "filename": name, "content_base64": "aGVsbG8=" });

    done(&chief, "kanban_attach", &attach("hello.txt"));
    for bad in ["../hello.txt", "/etc/hello", ".."] {
        assert!(refused(&chief, "kanban_attach", &attach(bad)).contains("plain file name"));
    }
    let url = format!("{}/data/numbers.csv?x=1", serve("a,b\n1,2\n"));
    let kept = done(&chief, "kanban_attach_url", &json!({ "task_id": id, "url": url }));
    let why = refused(&chief, "kanban_attach_url", &json!({ "task_id": id, "url": "file:///etc/passwd" }));
    assert!(why.contains("no address of the web"), "{why}");

    assert_eq!(kept["attachment"]["filename"], "numbers.csv");
    assert_eq!(kept["attachment"]["content_type"], "text/csv");
    let listed = done(&chief, "kanban_attachments", &json!({ "task_id": id }));
    let contents: Vec<String> = listed["attachments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| std::fs::read_to_string(file["path"].as_str().unwrap()).unwrap())
        .collect();
    assert_eq!(contents, ["hello", "a,b\n1,2\n"]);
}

#[test]
fn an_address_of_this_network_is_not_fetched_for_a_task() {
    let home = tempfile::tempdir().unwrap();
    let chief = runtime(&home, "toolsets: [kanban]\n", &[]).session().open().unwrap();
    let made: Value = done(&chief, "kanban_create", &json!({ "title": "x", "assignee": "default" }));
    let url = serve("secret");

    let why = refused(&chief, "kanban_attach_url", &json!({ "task_id": made["task_id"], "url": url }));

    assert!(why.contains("127.0.0.1"), "{why}");
    assert_eq!(done(&chief, "kanban_attachments", &json!({ "task_id": made["task_id"] }))["count"], 0);
}
