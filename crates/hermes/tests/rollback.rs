//! Checkpoints before writes, and going back to them.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "the test makes and looks at real files")]

use std::fs;
use std::path::PathBuf;

use hermes::core::policy::{Policy, PolicyRequest, Verdict};
use hermes::store::Home;
use hermes::{RollbackError, Runtime, Session, ToolCall};
use serde_json::{Value, json};

struct Yes;

impl Policy for Yes {
    fn judge(&self, _: &PolicyRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

struct Desk {
    dir: tempfile::TempDir,
    runtime: Runtime,
    session: Session,
}

impl Desk {
    fn new(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        fs::write(dir.path().join("home/config.yaml"), config).unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        let home = Home::at(&dir.path().join("home"));
        let runtime = Runtime::builder().cwd(dir.path().join("work")).home(home).policy(Yes).build().unwrap();
        let session = runtime.session().open().unwrap();
        Self { dir, runtime, session }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    fn write(&self, path: &str, content: &str) {
        let arguments = json!({ "path": path, "content": content }).to_string();
        assert!(self.session.call_blocking(ToolCall::new("write_file", arguments)).status.is_ok());
    }

    fn patch(&self, patch: &str) {
        let arguments = json!({ "mode": "patch", "patch": patch }).to_string();
        let outcome = self.session.call_blocking(ToolCall::new("patch", arguments));
        assert!(outcome.status.is_ok(), "{}", outcome.body);
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.at(name)).ok()
    }
}

#[test]
fn what_a_command_deletes_or_writes_over_comes_back() {
    let desk = Desk::new("");
    fs::create_dir_all(desk.at("src/deep")).unwrap();
    for (name, text) in [("a", "one\n"), ("b", "b\n"), ("src/x", "x\n"), ("src/deep/y", "y\n")] {
        fs::write(desk.at(name), text).unwrap();
    }
    let command = "echo two > a && mv b c && cd src && rm -rf deep x && echo new > made";
    let call = ToolCall::new("terminal", json!({ "command": command }).to_string());
    let outcome = desk.session.call_blocking(call);
    assert!(outcome.status.is_ok(), "{}", outcome.body);
    assert_eq!((desk.text("a").as_deref(), desk.text("src/deep/y")), (Some("two\n"), None));
    let rollback = desk.runtime.rollback().unwrap();

    rollback.restore("1", None).unwrap();

    let now = ["a", "b", "c", "src/x", "src/deep/y", "src/made"].map(|name| desk.text(name));
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(now, [text("one\n"), text("b\n"), None, text("x\n"), text("y\n"), None]);
}

#[test]
fn a_command_that_only_looks_makes_no_checkpoint() {
    let desk = Desk::new("");
    fs::write(desk.at("a"), "one\n").unwrap();

    for command in ["cat a", "ls >> log", "git status 2>/dev/null; true"] {
        desk.session.call_blocking(ToolCall::new("terminal", json!({ "command": command }).to_string()));
    }

    assert_eq!(desk.runtime.rollback().unwrap().list().unwrap().len(), 0);
}

#[test]
fn going_back_undoes_a_turn_and_every_later_one() {
    let desk = Desk::new("");
    fs::write(desk.at("a"), "one\n").unwrap();
    desk.write("a", "two\n");
    desk.write("a", "two and a half\n");
    desk.session.new_turn();
    desk.patch("*** Update File: a\n-two and a half\n+three\n*** Add File: new/b\n+b\n");
    let rollback = desk.runtime.rollback().unwrap();

    let list = rollback.list().unwrap();
    assert_eq!(list.iter().map(|it| (it.turn, it.files.len())).collect::<Vec<_>>(), [(1, 2), (0, 1)]);

    let diff = rollback.diff("1", None).unwrap();
    assert!(diff.contains("-three\n+two and a half\n") && diff.contains("+++ /dev/null"), "{diff}");
    let done = rollback.restore(&list[1].id, None).unwrap();

    assert_eq!((desk.text("a"), desk.text("new/b")), (Some("one\n".to_owned()), None));
    assert_eq!((done.restored, done.removed), (vec![desk.at("a")], vec![desk.at("new/b")]));

    let undone = rollback.restore(&done.undo.unwrap(), None).unwrap();
    assert_eq!((desk.text("a"), desk.text("new/b")), (Some("three\n".to_owned()), Some("b\n".to_owned())));
    assert_eq!(undone.removed, Vec::<PathBuf>::new());
}

#[test]
fn one_file_alone_can_go_back() {
    let desk = Desk::new("");
    fs::write(desk.at("a"), "a\n").unwrap();
    fs::write(desk.at("b"), "b\n").unwrap();
    desk.patch("*** Update File: a\n-a\n+A\n*** Delete File: b\n");
    let rollback = desk.runtime.rollback().unwrap();

    rollback.restore("1", Some("b")).unwrap();

    assert_eq!((desk.text("a"), desk.text("b")), (Some("A\n".to_owned()), Some("b\n".to_owned())));
    assert!(matches!(rollback.restore("1", Some("c")), Err(RollbackError::NotInIt(_))));
    assert!(matches!(rollback.restore("zzzz", None), Err(RollbackError::Unknown(_))));
}

#[test]
fn a_move_can_be_undone() {
    let desk = Desk::new("");
    fs::write(desk.at("a"), "a\n").unwrap();
    desk.patch("*** Move File: a -> b\n");

    desk.runtime.rollback().unwrap().restore("1", None).unwrap();

    assert_eq!((desk.text("a"), desk.text("b")), (Some("a\n".to_owned()), None));
}

#[test]
fn checkpoints_can_be_switched_off_and_large_files_are_told() {
    let off = Desk::new("checkpoints:\n  enabled: false\n");
    off.write("a", "x");
    assert!(off.runtime.rollback().is_none());
    assert!(!off.dir.path().join("home/checkpoints").exists());

    let small = Desk::new("checkpoints:\n  max_file_size_mb: 0\n");
    fs::write(small.at("a"), "x").unwrap();
    let arguments = json!({ "path": "a", "content": "y" }).to_string();
    let outcome = small.session.call_blocking(ToolCall::new("write_file", arguments));
    let answer: Value = serde_json::from_str(&outcome.body).unwrap();
    assert!(answer["_warning"].as_str().unwrap().contains("too large for a checkpoint"), "{answer}");
    assert_eq!(small.text("a").as_deref(), Some("y"));
}
