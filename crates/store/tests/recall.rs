//! Looking back: what a model finds in earlier conversations, and what it does not.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hermes_core::recall::{Discovered, Match, Order, Wanted};
use hermes_store::sessions::{Clock, Durability, Link, Message, NewSession, SessionError, Sessions};
use serde_json::json;

/// A clock that is a second later each time.
#[derive(Default)]
struct Steps(AtomicU64);

impl Clock for Steps {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000 + self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn pause(&self, _time: Duration) {}
}

fn store() -> (tempfile::TempDir, Sessions) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hermes.db");
    let store = Sessions::open(&path, Arc::new(Steps::default()), Durability::Kill).unwrap();
    (dir, store)
}

fn said(store: &Sessions, id: &str, source: &str, texts: &[&str]) -> Vec<i64> {
    store.create(&NewSession { id: Some(id.to_owned()), ..NewSession::from(source) }).unwrap();
    say(store, id, texts)
}

/// Person and model in turns.
fn say(store: &Sessions, id: &str, texts: &[&str]) -> Vec<i64> {
    let roles = ["user", "assistant"].iter().cycle();
    let messages: Vec<Message> =
        texts.iter().zip(roles).map(|(text, role)| Message::text(*role, *text)).collect();
    store.append(id, &messages).unwrap()
}

fn wanted(text: &str) -> Wanted {
    let roles = ["user", "assistant"].map(str::to_owned).to_vec();
    Wanted { text: text.to_owned(), roles, order: Order::Best, limit: 10 }
}

fn ids(found: &Discovered) -> Vec<&str> {
    found.found.iter().map(|found| found.passage.session.id.as_str()).collect()
}

#[test]
fn a_find_comes_with_its_surroundings_and_both_ends() {
    let (_dir, store) = store();
    let texts: Vec<String> = (0..30).map(|n| format!("line {n}")).collect();
    let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    texts[15] = "here is the zebra";
    let written = said(&store, "old", "cli", &texts);

    let found = store.discover("new", &wanted("zebra")).unwrap();

    let one = &found.found[0];
    let numbers =
        |rows: &[hermes_core::recall::MessageRow]| rows.iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!((one.by, one.role.as_str(), one.passage.anchor), (Match::Message, "assistant", written[15]));
    assert_eq!(one.snippet, "here is the >>>zebra<<<");
    assert_eq!(numbers(&one.passage.messages), written[10..=20]);
    assert_eq!((one.passage.before, one.passage.after), (10, 9));
    assert_eq!(numbers(&one.start), written[..3]);
    assert_eq!(numbers(&one.end), written[27..]);
    assert_eq!(found.sessions, 1);
}

#[test]
fn own_kin_and_handed_on_tasks_are_left_out_and_scheduled_runs_come_last() {
    let (_dir, store) = store();
    said(&store, "mine", "cli", &["zebra of my own"]);
    let now = store.fork("mine", None, None).unwrap();
    said(&store, "job", "cron", &["zebra zebra zebra"]);
    said(&store, "agent", "subagent", &["zebra of an agent"]);
    said(&store, "talk", "telegram", &["a zebra"]);
    let task = NewSession {
        id: Some("task".to_owned()),
        parent: Some(("talk".to_owned(), Link::Delegation)),
        ..NewSession::from("cli")
    };
    store.create(&task).unwrap();
    say(&store, "task", &["zebra of a task"]);

    assert_eq!(ids(&store.discover(&now, &wanted("zebra")).unwrap()), ["talk", "job"]);
    let browsed = store.browse(&now, 10).unwrap();
    assert_eq!(browsed.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["talk", "job"]);
    assert_eq!(browsed[0].preview.as_deref(), Some("a zebra"));
}

#[test]
fn a_line_of_descent_is_told_once() {
    let (_dir, store) = store();
    said(&store, "first", "cli", &["zebra one"]);
    store.fork("first", None, None).unwrap();
    said(&store, "other", "cli", &["zebra two"]);

    let found = store.discover("new", &wanted("zebra")).unwrap();

    assert_eq!((found.found.len(), found.sessions), (2, 3));
    assert_eq!(store.browse("new", 10).unwrap().len(), 2);
}

#[test]
fn a_title_comes_before_what_was_said() {
    let (_dir, store) = store();
    said(&store, "said", "cli", &["the zebra crossing"]);
    said(&store, "named", "cli", &["hello", "there"]);
    store.rename("named", "Zébra crossing plan").unwrap();

    let found = store.discover("new", &wanted("zebra crossing")).unwrap();

    assert_eq!(ids(&found), ["named", "said"]);
    assert_eq!((found.found[0].by, found.found[0].snippet.as_str()), (Match::Title, "hello"));
}

#[test]
fn order_and_limit_are_kept() {
    let (_dir, store) = store();
    for id in ["a", "b", "c"] {
        said(&store, id, "cli", &["zebra"]);
    }
    let asked = |order, limit| Wanted { order, limit, ..wanted("zebra") };

    assert_eq!(ids(&store.discover("new", &asked(Order::Newest, 2)).unwrap()), ["c", "b"]);
    assert_eq!(ids(&store.discover("new", &asked(Order::Oldest, 2)).unwrap()), ["a", "b"]);
    assert_eq!(store.discover("new", &wanted("  ")).unwrap(), Discovered::default());
}

#[test]
fn a_long_conversation_is_read_by_its_first_20_and_last_10_messages() {
    let (_dir, store) = store();
    let texts: Vec<String> = (0..40).map(|n| format!("line {n}")).collect();
    let written = said(&store, "old", "cli", &texts.iter().map(String::as_str).collect::<Vec<_>>());

    let read = store.read_through("old").unwrap();

    let ids: Vec<i64> = read.messages.iter().map(|row| row.id).collect();
    assert_eq!(ids, [&written[..20], &written[30..]].concat());
    assert_eq!(read.left_out, Some((10, written[19])));
    let short = said(&store, "short", "cli", &["x"; 30]);
    let read = store.read_through("short").unwrap();
    assert_eq!((read.messages.len(), read.left_out), (short.len(), None));
}

#[test]
fn scrolling_finds_a_message_of_the_same_line_of_descent() {
    let (_dir, store) = store();
    let written = said(&store, "first", "cli", &["one", "two", "three"]);
    let next = store.fork("first", None, None).unwrap();
    said(&store, "other", "cli", &["elsewhere"]);

    let passage = store.scroll(&next, written[1], 1).unwrap();
    assert_eq!(passage.session.id, "first");
    assert_eq!(passage.messages.len(), 3);
    let strange = store.scroll("other", written[1], 1).unwrap_err();
    assert!(matches!(strange, SessionError::NoMessage { .. }), "{strange}");
}

#[test]
fn long_messages_are_cut_and_calls_are_named() {
    let (_dir, store) = store();
    let long = "é".repeat(5000);
    let mut call = Message::text("assistant", &*long);
    call.tool_calls = Some(json!([{ "id": "1", "function": { "name": "terminal", "arguments": "{}" } }]));
    store.create(&NewSession { id: Some("old".to_owned()), ..NewSession::from("cli") }).unwrap();
    store.append("old", &[call]).unwrap();

    let read = store.read_through("old").unwrap();

    let row = &read.messages[0];
    assert_eq!(
        (row.text.chars().count(), row.cut, row.calls.as_slice()),
        (2000, 3000, &["terminal".to_owned()][..])
    );
}
