//! Sessions as the rest of the program uses them: made, found, written to, named, taken back.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hermes_core::call::CallId;
use hermes_core::effect::Effect;
use hermes_core::journal::Starting;
use hermes_core::outcome::{Outcome, Status};
use hermes_store::sessions::{
    CallStart, CallState, Clock, Content, Durability, Link, Listing, Mended, Message, Moment, NewSession,
    Prune, Search, SessionError, Sessions, Spender, StoredMessage, Tokens,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// One second later each time it is asked.
#[derive(Default)]
struct Steps(AtomicU64);

impl Clock for Steps {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000 + self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn pause(&self, _time: Duration) {}
}

fn open(dir: &tempfile::TempDir) -> Sessions {
    Sessions::open(&dir.path().join("hermes.db"), Arc::new(Steps::default()), Durability::Kill).unwrap()
}

fn store() -> (tempfile::TempDir, Sessions) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    (dir, store)
}

fn session(store: &Sessions, id: &str) -> String {
    store.create(&NewSession { id: Some(id.to_owned()), ..NewSession::from("cli") }).unwrap()
}

fn titled(store: &Sessions, id: &str, title: &str) {
    session(store, id);
    store.rename(id, title).unwrap();
}

fn texts(store: &Sessions, id: &str) -> Vec<String> {
    let messages = store.messages(id).unwrap();
    messages.into_iter().map(|stored| stored.message.content.unwrap().text()).collect()
}

fn start(id: &str, given: &str, session: &str) -> CallStart<'static> {
    let arguments = Map::from_iter([("path".to_owned(), json!("/etc"))]);
    let effects = [Effect::Write("/etc".into())];
    let id = CallId::from(id);
    let start = Starting {
        id: &id,
        given_id: given,
        session,
        tool: "write_file",
        arguments: &arguments,
        effects: &effects,
    };
    CallStart::from(&start).into_owned()
}

fn outcome(id: &str, given: &str, body: &str) -> Outcome {
    Outcome {
        id: id.into(),
        given_id: given.to_owned(),
        tool: "write_file".into(),
        status: Status::Ok,
        body: body.to_owned(),
        spilled: None,
        attachments: Vec::new(),
        notes: Vec::new(),
        took: Duration::from_millis(3),
    }
}

fn asking(ids: &[&str]) -> Message {
    let calls: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "id": id, "function": { "name": "write_file", "arguments": "{}" } }))
        .collect();
    Message { tool_calls: Some(json!(calls)), ..Message::text("assistant", "") }
}

#[test]
fn every_field_of_a_message_comes_back_as_it_was() {
    let (dir, store) = store();
    session(&store, "s");
    let message: Message = serde_json::from_value(json!({
        "role": "assistant", "content": [{ "type": "text", "text": "a" }, { "type": "image_url", "image_url": { "url": "u" } }],
        "tool_calls": [{ "id": "c", "call_id": "c", "function": { "name": "x", "arguments": "{\"a\": 1.0}" } }],
        "tool_call_id": "t", "tool_name": "n", "effect_disposition": "unknown", "reasoning": "r", "reasoning_content": "rc",
        "reasoning_details": [{ "signature": "s" }], "codex_reasoning_items": [1], "codex_message_items": { "a": null },
        "api_content": "bytes\u{0}sent", "platform_message_id": "p", "token_count": 7, "finish_reason": "stop",
        "anthropic_content_blocks": [{ "type": "thinking" }], "observed": true,
    }))
    .unwrap();
    let empty = Message { role: "user".into(), ..Message::default() };

    store.append("s", &[message.clone(), empty.clone()]).unwrap();
    drop(store);
    let stored = open(&dir).messages("s").unwrap();

    assert_eq!(stored.iter().map(|stored| stored.message.clone()).collect::<Vec<_>>(), [message, empty]);
    assert!(stored.iter().all(|stored| stored.active && !stored.compacted));
}

#[test]
fn a_system_prompt_is_kept_byte_for_byte() {
    let (dir, store) = store();
    let prompt = "line\r\n\ttab \u{0} 中文 🎉 \u{feff}end\n\n";
    session(&store, "s");
    assert_eq!(store.system_prompt("s").unwrap(), None);

    store.set_system_prompt("s", prompt).unwrap();
    drop(store);

    assert_eq!(open(&dir).system_prompt("s").unwrap().as_deref(), Some(prompt));
}

#[test]
fn a_session_is_found_by_id_beginning_or_title() {
    let (_dir, store) = store();
    session(&store, "20260101_000000_aaaaaa");
    session(&store, "20260101_000000_aabbbb");
    titled(&store, "x1", "work");
    titled(&store, "x2", "work #2");
    titled(&store, "x10", "work #10");
    titled(&store, "x11", "work #x");

    let id = |name: &str| store.find(name).map(|session| session.id);

    assert_eq!(id("20260101_000000_aaa").unwrap(), "20260101_000000_aaaaaa");
    assert_eq!(id("work").unwrap(), "x10");
    assert_eq!(id("work #2").unwrap(), "x2");
    assert_eq!(id("x1").unwrap(), "x1");
    assert!(matches!(id("20260101"), Err(SessionError::Ambiguous { ids, .. }) if ids.len() == 2));
    for name in ["", "%", "*", "nothing", "wor"] {
        assert!(matches!(id(name), Err(SessionError::Unknown { .. })), "{name}");
    }
}

#[test]
fn fresh_ids_begin_with_the_date_and_differ() {
    let (_dir, store) = store();
    let ids: std::collections::BTreeSet<String> =
        (0..50).map(|_| store.create(&NewSession::from("cli")).unwrap()).collect();

    assert_eq!(ids.len(), 50);
    assert!(ids.iter().all(|id| id.starts_with("20231114_22") && id.len() == 22), "{ids:?}");
    assert!(matches!(
        store.create(&NewSession { id: ids.first().cloned(), ..NewSession::from("cli") }),
        Err(SessionError::Exists { .. })
    ));
    for id in ["", "a b", "a/b", "a\n"] {
        let new = NewSession { id: Some(id.to_owned()), ..NewSession::from("cli") };
        assert!(matches!(store.create(&new), Err(SessionError::Id { .. })), "{id}");
    }
}

#[test]
fn titles_are_cleaned_and_unlike_each_other() {
    let (_dir, store) = store();
    session(&store, "a");
    session(&store, "b");

    assert_eq!(store.rename("a", "  my\u{200b} plan\n").unwrap(), "my plan");
    assert_eq!(store.rename("a", "my plan").unwrap(), "my plan");
    assert!(
        matches!(store.rename("b", "my plan"), Err(SessionError::TitleTaken { holder, .. }) if holder == "a")
    );
    assert!(matches!(store.rename("b", &"x".repeat(101)), Err(SessionError::Title { .. })));
    assert!(matches!(store.rename("none", "t"), Err(SessionError::Unknown { .. })));
}

#[test]
fn what_is_taken_back_stays_in_the_history() {
    let (_dir, store) = store();
    session(&store, "s");
    let say = |role: &str, text: &str| Message::text(role, text);
    store
        .append("s", &[say("user", "1"), say("assistant", "2"), say("user", "3"), say("assistant", "4")])
        .unwrap();

    let undone = store.undo("s", 1).unwrap().unwrap();
    store.append("s", &[say("user", "5")]).unwrap();

    assert_eq!(undone.message.content, Some(Content::Text("3".into())));
    assert_eq!(texts(&store, "s"), ["1", "2", "5"]);
    assert_eq!(store.history("s").unwrap().len(), 5);
    let record = store.session("s").unwrap();
    assert_eq!((record.message_count, record.rewind_count), (3, 1));
    assert!(matches!(store.rewind("s", undone.id), Err(SessionError::NoMessage { .. })));
    assert_eq!(store.undo("s", 9).unwrap().unwrap().message.content, Some(Content::Text("1".into())));
    assert_eq!(store.undo("s", 1).unwrap(), None);
}

#[test]
fn a_window_shows_what_stands_around_a_message() {
    let (_dir, store) = store();
    session(&store, "s");
    let ids = store.append("s", &[1, 2, 3, 4, 5, 6].map(|n| Message::text("user", n.to_string()))).unwrap();

    let window = store.around("s", ids[2], 1).unwrap();

    let shown: Vec<i64> = window.messages.iter().map(|stored| stored.id).collect();
    assert_eq!((shown.as_slice(), window.before, window.after), (&ids[1..4], 1, 2));
    assert!(store.around("s", 999, 1).is_err());
}

#[test]
fn a_fork_goes_on_from_a_copy() {
    let (_dir, store) = store();
    titled(&store, "s", "plan");
    store.set_system_prompt("s", "be kind").unwrap();
    let ids = store.append("s", &["1", "2", "3"].map(|text| Message::text("user", text))).unwrap();

    let whole = store.fork("s", None, None).unwrap();
    let part = store.fork("s", Some(ids[1]), Some("other")).unwrap();
    store.append("s", &[Message::text("user", "4")]).unwrap();

    assert_eq!(texts(&store, &whole), ["1", "2", "3"]);
    assert_eq!(texts(&store, &part), ["1", "2"]);
    let record = store.session(&whole).unwrap();
    assert_eq!(
        (record.title.as_deref(), record.link, record.message_count),
        (Some("plan #2"), Some(Link::Fork), 3)
    );
    assert_eq!(record.parent_session_id.as_deref(), Some("s"));
    assert_eq!(store.system_prompt(&part).unwrap().as_deref(), Some("be kind"));
    assert_eq!(store.lineage(&part).unwrap(), ["s".to_owned(), whole, part]);
}

#[test]
fn a_session_that_was_ended_by_a_compaction_is_resumed_where_it_went_on() {
    let (_dir, store) = store();
    titled(&store, "s", "plan");
    store.append("s", &[Message::text("user", "long story")]).unwrap();
    let goes_on = |from: &str, id: &str, title: &str| {
        let parent = Some((from.to_owned(), Link::Compaction));
        let (id, title) = (Some(id.to_owned()), Some(title.to_owned()));
        store.create(&NewSession { id, title, parent, ..NewSession::from("cli") }).unwrap()
    };

    let second = goes_on("s", "second", "plan #2");
    let third = goes_on("second", "third", "plan #3");
    store.append(&second, &[Message::text("user", "summary")]).unwrap();

    assert_eq!(store.resume("s").unwrap().id, second);
    store.append(&third, &[Message::text("user", "more")]).unwrap();
    assert_eq!(store.resume("s").unwrap().id, third);
    assert_eq!(store.resume("plan").unwrap().title.as_deref(), Some("plan #3"));
}

#[test]
fn a_session_without_a_title_gets_one_that_is_free() {
    let (_dir, store) = store();
    titled(&store, "first", "Look at it");
    session(&store, "second");

    assert!(store.title_if_none("second", "Look at it").unwrap());
    assert!(!store.title_if_none("second", "another").unwrap());
    assert!(!store.title_if_none("first", "another").unwrap());

    let title = |id: &str| store.session(id).unwrap().title.unwrap();
    assert_eq!((title("first").as_str(), title("second").as_str()), ("Look at it", "Look at it #2"));
}

#[test]
fn a_shorter_conversation_takes_the_place_of_the_long_one_and_nothing_is_lost() {
    let (_dir, store) = store();
    session(&store, "s");
    store.append("s", &[Message::text("user", "a long story"), Message::text("assistant", "yes")]).unwrap();

    let folded = store.compact("s", &[Message::text("user", "summary")]).unwrap();

    assert_eq!(folded, 2);
    let texts = |list: Vec<StoredMessage>| -> Vec<String> {
        list.into_iter().filter_map(|stored| Some(stored.message.content?.text())).collect()
    };
    assert_eq!(texts(store.messages("s").unwrap()), ["summary"]);
    assert_eq!(texts(store.history("s").unwrap()), ["a long story", "yes", "summary"]);
    assert_eq!(store.session("s").unwrap().message_count, 1);
    assert_eq!(store.search(&Search::text("story")).unwrap().len(), 1);
}

#[test]
fn an_end_is_told_once_and_can_be_taken_back() {
    let (_dir, store) = store();
    session(&store, "s");

    store.end("s", "cli_close").unwrap();
    store.end("s", "other").unwrap();
    assert_eq!(store.session("s").unwrap().end_reason.as_deref(), Some("cli_close"));
    store.reopen("s").unwrap();
    store.reopen("s").unwrap();

    assert_eq!(store.session("s").unwrap().ended_at, None);
    let kinds: Vec<String> = store.events("s").unwrap().into_iter().map(|(_, kind, _)| kind).collect();
    assert_eq!(kinds, ["created", "ended", "resumed"]);
}

#[test]
fn a_deleted_session_is_gone_and_its_forks_stay() {
    let (_dir, store) = store();
    session(&store, "s");
    store.append("s", &[Message::text("user", "hello")]).unwrap();
    store.call_finished("s", &outcome("s.1", "c", "{}")).unwrap();
    let fork = store.fork("s", None, None).unwrap();

    store.delete("s").unwrap();

    assert!(matches!(store.session("s"), Err(SessionError::Unknown { .. })));
    assert_eq!(store.calls("s").unwrap(), []);
    assert_eq!(store.session(&fork).unwrap().parent_session_id, None);
    assert_eq!(texts(&store, &fork), ["hello"]);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn old_sessions_are_pruned_unless_a_call_of_theirs_runs() {
    let (_dir, store) = store();
    for id in ["old", "busy", "young"] {
        session(&store, id);
    }
    store.call_starting(start("busy.1", "c", "busy")).unwrap();
    let middle = store.session("young").unwrap().started_at;
    let which = |source: Option<&str>| Prune { before: middle, source: source.map(str::to_owned) };

    assert_eq!(store.prunable(&which(Some("telegram"))).unwrap(), Vec::<String>::new());
    assert_eq!(store.prunable(&which(None)).unwrap(), ["old"]);
    assert_eq!(store.prune(&which(Some("cli"))).unwrap(), ["old"]);
    let left: Vec<String> = store.list(&Listing::default()).unwrap().into_iter().map(|s| s.id).collect();
    assert_eq!(left, ["young", "busy"]);
}

#[test]
fn lists_come_in_pages_last_used_first() {
    let (_dir, store) = store();
    for id in ["a", "b", "c", "d"] {
        session(&store, id);
    }
    store.append("b", &[Message::text("user", "  hi\n you ")]).unwrap();
    store.archive("d", true).unwrap();
    let ids = |listing: Listing| {
        store.list(&listing).unwrap().into_iter().map(|session| session.id).collect::<Vec<_>>()
    };

    assert_eq!(ids(Listing::default()), ["b", "c", "a"]);
    assert_eq!(ids(Listing { limit: 1, offset: 1, ..Listing::default() }), ["c"]);
    assert_eq!(ids(Listing { archived: true, ..Listing::default() }), ["b", "d", "c", "a"]);
    assert_eq!(ids(Listing { with_messages: true, ..Listing::default() }), ["b"]);
    assert_eq!(ids(Listing { source: Some("telegram".into()), ..Listing::default() }), Vec::<String>::new());
    assert_eq!(store.preview("b", 4).unwrap().as_deref(), Some("hi y"));
    assert_eq!(store.preview("a", 4).unwrap(), None);
}

#[test]
fn usage_adds_up_by_spender_and_in_all() {
    let (_dir, store) = store();
    session(&store, "s");
    let chat = Spender { model: "m".into(), provider: "p".into(), task: "chat".into() };
    let title = Spender { task: "title".into(), ..chat.clone() };
    let tokens =
        Tokens { api_calls: 1, input_tokens: 10, output_tokens: 5, cost_usd: 0.25, ..Tokens::default() };

    store.add_usage("s", &chat, &tokens).unwrap();
    store.add_usage("s", &chat, &tokens).unwrap();
    store.add_usage("s", &title, &tokens).unwrap();

    let twice =
        Tokens { api_calls: 2, input_tokens: 20, output_tokens: 10, cost_usd: 0.5, ..Tokens::default() };
    assert_eq!(store.usage("s").unwrap(), [(chat, twice), (title, tokens)]);
    assert_eq!(store.session("s").unwrap().tokens.input_tokens, 30);
    let stats = store.stats().unwrap();
    assert_eq!((stats.sessions, stats.tokens.output_tokens), (1, 15));
    assert!((stats.tokens.cost_usd - 0.75).abs() < 1e-9);
}

#[test]
fn the_later_word_about_a_call_counts() {
    let (_dir, store) = store();
    store.call_starting(start("s.1", "c1", "s")).unwrap();
    assert_eq!(store.calls("s").unwrap()[0].state, CallState::Starting);
    // This process lives: its call is not interrupted.
    assert_eq!(store.interrupted(None).unwrap(), []);

    store.call_finished("s", &outcome("s.1", "c1", "{\"long\":1}")).unwrap();
    store.call_finished("s", &outcome("s.1", "c1", "{\"short\":1}")).unwrap();
    store.call_finished("s", &Outcome { status: Status::Denied, ..outcome("s.2", "c2", "{}") }).unwrap();

    let calls = store.calls("s").unwrap();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0].body.as_deref(), Some("{\"short\":1}"));
    assert_eq!(
        (calls[0].effects.as_slice(), calls[0].took_us),
        (&["writes /etc".to_owned()][..], Some(3000))
    );
    assert_eq!((calls[1].status.as_deref(), calls[1].started_at), (Some("denied"), None));
}

#[test]
fn after_a_reopening_unfinished_calls_are_interrupted_and_told() {
    let (dir, store) = store();
    session(&store, "s");
    store.append("s", &[Message::text("user", "go"), asking(&["c1", "c2", "c3", "c1"])]).unwrap();
    store.call_starting(start("s.1", "c1", "s")).unwrap();
    store.call_finished("s", &outcome("s.1", "c1", "{\"result\":1}")).unwrap();
    store.call_starting(start("s.2", "c2", "s")).unwrap();
    drop(store);

    let store = open(&dir);
    let interrupted = store.interrupted(Some("s")).unwrap();
    let mended = store.mend("s").unwrap();

    assert_eq!(interrupted.len(), 1);
    assert_eq!((interrupted[0].given_id.as_str(), interrupted[0].tool.as_str()), ("c2", "write_file"));
    assert_eq!(mended, Mended { finished: 2, interrupted: 1, not_started: 1 });
    assert_eq!(store.mend("s").unwrap(), Mended::default());
    let answers = store.messages("s").unwrap().split_off(2);
    let told: Vec<_> = answers.iter().map(|a| a.message.effect_disposition.as_deref()).collect();
    assert_eq!(told, [None, Some("unknown"), Some("none"), None]);
    assert_eq!(answers[0].message.content, Some(Content::Text("{\"result\":1}".into())));
}

#[test]
fn a_call_id_used_again_in_a_later_turn_does_not_get_the_old_result() {
    let (dir, store) = store();
    session(&store, "s");
    store.append("s", &[asking(&["call_0"])]).unwrap();
    store.call_starting(start("s.1", "call_0", "s")).unwrap();
    store.call_finished("s", &outcome("s.1", "call_0", "{\"old\":1}")).unwrap();
    let answer = Message { tool_call_id: Some("call_0".into()), ..Message::text("tool", "{\"old\":1}") };
    store.append("s", &[answer, asking(&["call_0"])]).unwrap();
    drop(store);

    let mended = open(&dir).mend("s").unwrap();

    assert_eq!(mended, Mended { not_started: 1, ..Mended::default() });
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it looks at the files of the store")]
fn leaving_does_not_wait_for_the_log_to_be_folded_in_and_nothing_is_lost() {
    let (dir, store) = store();
    session(&store, "s");
    store.append("s", &[Message::text("user", "hello")]).unwrap();
    let log = store.path().with_extension("db-wal");
    drop(store);

    assert!(std::fs::metadata(log).unwrap().len() > 0);
    assert_eq!(texts(&open(&dir), "s"), ["hello"]);
}

#[test]
fn moments_are_kept_to_the_microsecond() {
    let (_dir, store) = store();
    session(&store, "s");
    assert_eq!(store.session("s").unwrap().started_at, Moment::from_seconds(1_700_000_000.0 + 1.0));
    store.sync().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_text_is_kept_as_it_is(texts in proptest::collection::vec("\\PC{0,80}|[\\x00-\\x1f\"'%]{0,20}", 1..8)) {
        let (_dir, store) = store();
        session(&store, "s");
        let messages: Vec<Message> = texts.iter().map(|text| Message::text("user", text.clone())).collect();

        store.append("s", &messages).unwrap();

        prop_assert_eq!(self::texts(&store, "s"), texts);
        store.delete("s").unwrap();
        prop_assert_eq!(store.check().unwrap(), Vec::<String>::new());
    }
}
