//! What may run, end to end: the guard, the user's settings, grants and approvers on the real road.

#![expect(clippy::disallowed_methods, reason = "a test sets up a home of its own")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use hermes::core::effect::{Command, Effect};
use hermes::core::policy::{Answer, ApprovalRequest, Grant};
use hermes::core::registry::{Scope, Source};
use hermes::core::smart::{Risk, RiskModel};
use hermes::core::tool::{Definition, ToolEntry};
use hermes::guard::Mode;
use hermes::store::Home;
use hermes::{Outcome, Runtime, RuntimeBuilder, Session, Status, ToolCall};
use hermes_testkit::TempHome;
use serde_json::json;

/// A tool that would run a command, and only says so.
fn shell() -> ToolEntry {
    let parameters = json!({
        "type": "object",
        "properties": { "command": { "type": "string" } },
        "required": ["command"],
    });
    let definition = Definition { description: "Runs a command.".to_owned(), parameters };
    ToolEntry::from_fn(
        "shell",
        "tests",
        definition,
        |arguments, place| {
            let text = arguments.get("command").and_then(|text| text.as_str()).unwrap_or_default().to_owned();
            vec![Effect::Exec(Command { text, environment: "local".to_owned(), workdir: place.cwd.clone() })]
        },
        |_, _| async { Ok(json!({ "ran": true })) },
    )
    .trusted()
}

fn builder(home: &TempHome) -> RuntimeBuilder {
    Runtime::builder()
        .cwd("/home/ann/app")
        .user_home("/home/ann")
        .home(Home::at(home.path()))
        .scope(Scope::new(Source::Embedder("tests".to_owned())).tool(shell()))
}

/// A home with this configuration.
fn home(config: &str) -> TempHome {
    let home = TempHome::new();
    std::fs::write(home.path().join("config.yaml"), config).unwrap();
    home
}

fn run(session: &Session, command: &str) -> Outcome {
    session.call_blocking(ToolCall::new("shell", json!({ "command": command }).to_string()))
}

/// A session in which every question is answered with the same grant, and counted.
fn session_with(runtime: &Runtime, grant: Grant) -> (Session, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let approver = Arc::new(move |_: &ApprovalRequest| {
        count.fetch_add(1, Ordering::Relaxed);
        Answer::Approved(grant)
    });
    (runtime.session().approver(approver).open().unwrap(), asked)
}

#[test]
fn what_is_harmless_runs_and_what_is_not_is_refused_at_once_where_nobody_is() {
    let home = home("approvals: {mode: manual}\n");
    let session = builder(&home).build().unwrap().session().open().unwrap();

    assert_eq!(run(&session, "cargo test && git status").status, Status::Ok);
    let refused = run(&session, "x=rm; $x -rf ../other");
    assert_eq!(refused.status, Status::Denied);
    assert!(
        refused.body.contains("delete_recursive") && refused.body.contains("nobody can be asked"),
        "{}",
        refused.body
    );
}

#[test]
fn the_agents_own_folder_and_folders_with_skills_are_guarded_wherever_they_are() {
    let (home, link) = (TempHome::new(), TempHome::new());
    let (skills, linked) = (home.path().join("more"), link.path().join("agent"));
    std::os::unix::fs::symlink(home.path(), &linked).unwrap();
    let config = format!("approvals: {{mode: manual}}\nskills: {{external_dirs: [{}]}}\n", skills.display());
    std::fs::write(home.path().join("config.yaml"), config).unwrap();
    std::fs::create_dir(&skills).unwrap();
    let session = builder(&home).home(Home::at(&linked)).build().unwrap().session().open().unwrap();

    for folder in [linked.to_str().unwrap(), home.path().to_str().unwrap(), "$HERMES_HOME"] {
        for file in ["trusted.json", "tools/x.py", "plugins/p/__init__.py", "cache/plugin-roster.packed"] {
            let command = format!("cp /tmp/x {folder}/{file}");
            let refused = run(&session, &command);
            assert_eq!(refused.status, Status::Denied, "{command}");
            assert!(refused.body.contains("agent_config_write"), "{}", refused.body);
        }
    }
    assert_eq!(run(&session, &format!("echo x > {}/tea/SKILL.md", skills.display())).status, Status::Denied);
    assert_eq!(run(&session, &format!("ls {}", linked.display())).status, Status::Ok);
}

#[test]
fn the_question_shows_the_guilty_part_and_what_may_be_granted() {
    let home = home("approvals: {mode: manual}\n");
    let seen = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&seen);
    let approver = Arc::new(move |request: &ApprovalRequest| {
        *keep.lock().unwrap() = Some(request.clone());
        Answer::Refused { by: "ann".to_owned(), why: "not today".to_owned() }
    });
    let session = builder(&home).build().unwrap().session().approver(approver).open().unwrap();

    let refused = run(&session, "ls; git push --force");

    assert_eq!(refused.body, json!({ "error": "denied by ann: not today" }).to_string());
    let request = seen.lock().unwrap().clone().unwrap();
    let finding = &request.reason.findings[0];
    assert_eq!(
        (finding.rule.as_str(), "ls; git push --force".get(finding.span.clone()).unwrap()),
        ("git_force_push", "git push --force")
    );
    assert_eq!(request.reason.grants, [Grant::Exact, Grant::Class, Grant::Always]);
}

#[test]
fn a_grant_covers_no_more_than_was_shown() {
    let home = home("approvals: {mode: manual}\n");
    let runtime = builder(&home).build().unwrap();
    let count = |grant, commands: &[&str]| {
        let (session, asked) = session_with(&runtime, grant);
        for command in commands {
            assert_eq!(run(&session, command).status, Status::Ok, "{command}");
        }
        asked.load(Ordering::Relaxed)
    };
    let commands = ["git push -f", "git push -f", "git push --force origin main", "systemctl stop nginx"];

    assert_eq!(count(Grant::Once, &commands), 4);
    assert_eq!(count(Grant::Exact, &commands), 3);
    assert_eq!(count(Grant::Class, &commands), 2);
}

#[test]
fn always_is_written_to_the_configuration_and_holds_in_the_next_process() {
    let home = home("# mine\napprovals:\n  mode: manual  # ask me\n");
    let (session, _) = session_with(&builder(&home).build().unwrap(), Grant::Always);
    assert_eq!(run(&session, "git push -f").status, Status::Ok);

    let written = std::fs::read_to_string(home.path().join("config.yaml")).unwrap();
    let next = builder(&home).build().unwrap().session().open().unwrap();

    assert!(written.starts_with("# mine\napprovals:\n  mode: manual  # ask me\n"), "{written}");
    assert!(written.contains("command_allowlist") && written.contains("git_force_push"), "{written}");
    assert_eq!(run(&next, "git push --force origin main").status, Status::Ok);
    assert_eq!(run(&next, "systemctl stop nginx").status, Status::Denied);
}

#[test]
fn the_never_list_holds_in_every_mode_and_against_every_answer() {
    for mode in [Mode::Manual, Mode::Smart, Mode::Off, Mode::Deny] {
        let home = home(
            "command_allowlist: [delete_root, 'rm -rf /']\napprovals: {rules: [{then: allow, effect: delete}]}\n",
        );
        let runtime = builder(&home).mode(mode).build().unwrap();
        let (session, asked) = session_with(&runtime, Grant::Always);

        let refused = run(&session, "rm -rf /");

        assert_eq!((refused.status, asked.load(Ordering::Relaxed)), (Status::Denied, 0), "{mode:?}");
    }
}

#[test]
fn modes_decide_what_happens_to_a_question() {
    let home = home("");
    let status = |mode| {
        let session = builder(&home).mode(mode).build().unwrap().session().open().unwrap();
        run(&session, "git push -f").status
    };

    assert_eq!(status(Mode::Off), Status::Ok);
    assert_eq!(status(Mode::Deny), Status::Denied);
    assert_eq!(status(Mode::Manual), Status::Denied);
}

struct Trusting;

impl RiskModel for Trusting {
    fn assess<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Result<Risk, String>> {
        Box::pin(std::future::ready(Ok(Risk::Low)))
    }
}

#[test]
fn a_second_model_answers_in_smart_mode_only_and_never_about_the_never_list() {
    let home = home("");
    let session = |mode| {
        let runtime = builder(&home).mode(mode).build().unwrap();
        runtime.session().risk_model(Arc::new(Trusting)).open().unwrap()
    };

    assert_eq!(run(&session(Mode::Smart), "git push -f").status, Status::Ok);
    assert_eq!(run(&session(Mode::Manual), "git push -f").status, Status::Denied);
    assert_eq!(run(&session(Mode::Smart), "mkfs.ext4 /dev/sda").status, Status::Denied);
}

#[test]
fn the_users_own_rules_count_and_deny_wins() {
    let home = home(
        "approvals:\n  mode: off\n  deny: ['*--no-verify*']\n  rules:\n    - {then: deny, program: terraform, because: pipeline only}\n    - {then: allow, program: terraform}\n    - {then: deny, effect: git_force_push}\n",
    );
    let session = builder(&home).build().unwrap().session().open().unwrap();

    assert_eq!(run(&session, "terraform plan").status, Status::Denied);
    assert_eq!(run(&session, "git push -f").status, Status::Denied);
    assert_eq!(run(&session, "git commit --no-verify -m x").status, Status::Denied);
    assert_eq!(run(&session, "git push").status, Status::Ok);
}

#[test]
fn a_rule_that_makes_no_sense_is_an_error_with_its_line() {
    let home = home(
        "approvals:\n  rules:\n    - {then: allow, effect: delete}\n    - {then: maybe, effect: delete}\n",
    );

    let wrong = builder(&home).build().err().unwrap().to_string();

    assert!(wrong.contains("line 4"), "{wrong}");
}

#[test]
fn files_are_judged_by_where_they_are() {
    let home = home("approvals: {mode: manual}\n");
    let session = builder(&home).build().unwrap().session().open().unwrap();
    let read =
        |path: &str| session.call_blocking(ToolCall::new("read_file", json!({ "path": path }).to_string()));

    assert_eq!(read("/home/ann/.ssh/id_ed25519").status, Status::Denied);
    assert_eq!(read(Path::new(home.path()).join(".env").to_str().unwrap()).status, Status::Denied);
    assert_eq!(read("/dev/zero").status, Status::Denied);
    assert_eq!(read("src/missing.rs").status, Status::Failed, "allowed, but not there");
}

#[test]
fn known_secrets_and_recognisable_keys_do_not_reach_the_model() {
    let home = home("");
    std::fs::write(home.path().join(".env"), "MY_SERVICE_TOKEN=correct-horse-battery\n").unwrap();
    let notes = home.path().join("notes.txt");
    std::fs::write(&notes, "token is correct-horse-battery\nand ghp_abcdefghijklmnopqrstuvwxyz0123456789\n")
        .unwrap();
    let session = builder(&home).mode(Mode::Off).build().unwrap().session().open().unwrap();

    let read = session.call_blocking(ToolCall::new("read_file", json!({ "path": notes }).to_string()));

    assert_eq!(read.status, Status::Ok, "{}", read.body);
    assert!(!read.body.contains("correct-horse") && !read.body.contains("ghp_abc"), "{}", read.body);
    assert!(read.body.contains("[REDACTED]"), "{}", read.body);
}
