//! Steps 6 and 10: nothing happens unrecorded, and every end is written down.

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use hermes_core::journal::{Journal, Starting};
use hermes_core::outcome::{Outcome, Status};
use hermes_testkit::{MemoryJournal, Record, Rig, echo, tool};
use serde_json::{Value, json};

use crate::error;

#[test]
fn the_start_is_recorded_before_the_handler_runs_and_the_end_after() {
    let journal = MemoryJournal::new();
    let notes = journal.clone();
    let rig = Rig::builder()
        .tool(tool("t", move |_, _| {
            notes.note("running");
            async { Ok(json!({ "ok": 1 })) }
        }))
        .journal(journal.clone())
        .build();

    rig.call_now("t", r#"{"a": 1}"#);

    let expected = [
        Record::Starting {
            id: "s.1".into(),
            tool: "t".into(),
            arguments: r#"{"a":1}"#.into(),
            effects: vec![],
        },
        Record::Note("running".into()),
        Record::Finished { id: "s.1".into(), status: Status::Ok, body: r#"{"ok":1}"#.into() },
    ];
    assert_eq!(journal.records(), expected);
}

#[test]
fn a_call_whose_start_cannot_be_recorded_is_not_run() {
    let (journal, notes) = (MemoryJournal::new(), MemoryJournal::new());
    let ran = notes.clone();
    let rig = Rig::builder()
        .tool(tool("t", move |_, _| {
            ran.note("ran");
            async { Ok(json!({})) }
        }))
        .journal(journal.clone())
        .build();
    journal.break_down();

    let outcome = rig.call_now("t", "{}");

    assert_eq!(outcome.status, Status::Failed);
    assert_eq!(error(&outcome), "nothing was run, because the call could not be recorded: the disk is full");
    assert_eq!(outcome.notes, ["the result could not be recorded: the disk is full"]);
    assert_eq!(notes.records(), []);
}

struct Breaks;

impl Journal for Breaks {
    fn starting<'a>(&'a self, start: &'a Starting<'a>) -> BoxFuture<'a, Result<(), String>> {
        assert!(start.tool != "first", "the record broke");
        Box::pin(std::future::ready(Ok(())))
    }

    fn finished<'a>(&'a self, _: &'a str, _: &'a Outcome) -> BoxFuture<'a, Result<(), String>> {
        panic!("the record broke")
    }
}

#[test]
fn a_record_that_panics_is_one_that_failed() {
    let rig = Rig::builder().tool(echo("first")).tool(echo("second")).journal(Arc::new(Breaks)).build();

    let first = rig.call_now("first", "{}");
    let second = rig.call_now("second", "{}");

    assert_eq!(error(&first), "nothing was run, because the call could not be recorded: it panicked");
    assert_eq!(
        (second.status, second.notes),
        (Status::Ok, vec!["the result could not be recorded: it panicked".to_owned()])
    );
}

#[test]
fn every_end_is_recorded_also_of_calls_that_did_not_run() {
    let journal = MemoryJournal::new();
    let rig = Rig::builder()
        .tool(echo("echo"))
        .tool(tool("fails", |_, _| async { Err::<Value, _>(ToolError::Failed("no".into())) }))
        .tool(tool("panics", |_, _| async { if true { panic!("no") } else { Ok(json!({})) } }))
        .journal(journal.clone())
        .build();

    for (name, arguments) in
        [("echo", "{}"), ("fails", "{}"), ("panics", "{}"), ("nobody", "{}"), ("echo", "[]")]
    {
        rig.call_now(name, arguments);
    }

    let ends: Vec<Status> = journal
        .records()
        .into_iter()
        .filter_map(|record| match record {
            Record::Finished { status, .. } => Some(status),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [Status::Ok, Status::Failed, Status::Broken, Status::Unknown, Status::Invalid]);
}
