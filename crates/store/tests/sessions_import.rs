//! Importing the original's `state.db`: everything comes over, once, and the file stays as it was.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hermes_store::sessions::{
    Clock, Content, Durability, Imported, Link, Message, Moment, NewSession, Search, SessionError, Sessions,
};
use serde_json::json;

struct Still;

impl Clock for Still {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_800_000_001)
    }

    fn pause(&self, _time: Duration) {}
}

/// The tables of schema version 22, by their columns.
const SESSIONS: &str = "id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, session_key TEXT, chat_id TEXT,
    chat_type TEXT, thread_id TEXT, display_name TEXT, origin_json TEXT, expiry_finalized INTEGER DEFAULT 0, model TEXT,
    model_config TEXT, system_prompt TEXT, parent_session_id TEXT REFERENCES sessions (id), started_at REAL NOT NULL,
    ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0,
    input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0,
    cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT,
    git_repo_root TEXT, billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT, estimated_cost_usd REAL,
    actual_cost_usd REAL, cost_status TEXT, cost_source TEXT, pricing_version TEXT, title TEXT,
    api_call_count INTEGER DEFAULT 0, handoff_state TEXT, handoff_platform TEXT, handoff_error TEXT,
    compression_failure_cooldown_until REAL, compression_failure_error TEXT,
    compression_fallback_streak INTEGER DEFAULT 0, profile_name TEXT, rewind_count INTEGER DEFAULT 0,
    archived INTEGER DEFAULT 0";
const MESSAGES: &str = "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions (id),
    role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, effect_disposition TEXT,
    timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT,
    reasoning_details TEXT, codex_reasoning_items TEXT, codex_message_items TEXT, platform_message_id TEXT,
    observed INTEGER DEFAULT 0, active INTEGER DEFAULT 1, compacted INTEGER DEFAULT 0, api_content TEXT";

fn original(folder: &Path) -> (PathBuf, rusqlite::Connection) {
    let path = folder.join("state.db");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.execute_batch(&format!(
        "CREATE TABLE schema_version (version INTEGER); INSERT INTO schema_version VALUES (22);
         CREATE TABLE sessions ({SESSIONS}); CREATE TABLE messages ({MESSAGES});
         ALTER TABLE messages ADD COLUMN from_the_future TEXT;
         INSERT INTO sessions (id, source, model, system_prompt, started_at, ended_at, end_reason, title, cwd,
             input_tokens, output_tokens, estimated_cost_usd, api_call_count, billing_provider, chat_id, git_branch)
         VALUES ('20250101_101010_abcdef', 'cli', 'gpt', 'You are…', 1735726210.5, 1735726300.25, 'compression', 'plan',
             '/work', 100, 50, 0.125, 3, 'openai', NULL, 'main');
         INSERT INTO sessions (id, source, started_at, title, parent_session_id, chat_id)
         VALUES ('20250102_101010_abcdef', 'telegram', 1735812610, 'plan #2', '20250101_101010_abcdef', '77');"
    ))
    .unwrap();
    let parts = format!("\u{0}json:{}", json!([{ "type": "text", "text": "看这张图片" }]));
    let calls =
        json!([{ "id": "c1", "function": { "name": "terminal", "arguments": "{\"command\":\"ls\"}" } }]);
    for (content, role, calls, active) in [
        ("deploy the web app".to_owned(), "user", None, 1),
        (String::new(), "assistant", Some(calls.to_string()), 1),
        (parts, "user", None, 1),
        ("taken back".to_owned(), "user", None, 0),
    ] {
        db.execute(
            "INSERT INTO messages (session_id, role, content, tool_calls, timestamp, active, reasoning, from_the_future)
             VALUES ('20250101_101010_abcdef', ?1, ?2, ?3, 1735726220.5, ?4, 'hm', 'x')",
            (role, content, calls, active),
        )
        .unwrap();
    }
    (path, db)
}

fn store(folder: &Path) -> Sessions {
    Sessions::open(&folder.join("hermes.db"), Arc::new(Still), Durability::Kill).unwrap()
}

#[test]
fn everything_comes_over() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _db) = original(dir.path());
    let store = store(dir.path());

    let done = store.import(&path).unwrap();

    assert_eq!(done, Imported { new_sessions: 2, new_messages: 4, ..Imported::default() });
    let first = store.session("20250101_101010_abcdef").unwrap();
    assert_eq!(first.started_at, Moment::from_seconds(1_735_726_210.5));
    assert_eq!((first.model.as_deref(), first.cwd.as_deref()), (Some("gpt"), Some("/work")));
    assert_eq!((first.tokens.input_tokens, first.tokens.api_calls, first.message_count), (100, 3, 3));
    assert!((first.tokens.cost_usd - 0.125).abs() < 1e-9);
    assert_eq!(first.extra["git_branch"], "main");
    assert_eq!(store.system_prompt(&first.id).unwrap().as_deref(), Some("You are…"));
    let second = store.session("20250102_101010_abcdef").unwrap();
    assert_eq!(
        (second.link, second.parent_session_id.as_deref()),
        (Some(Link::Compaction), Some(first.id.as_str()))
    );
    assert_eq!(second.extra["chat_id"], "77");

    let messages = store.messages(&first.id).unwrap();
    assert_eq!(messages.len(), 3);
    assert!(
        matches!(&messages[2].message.content, Some(Content::Parts(parts)) if parts[0]["text"] == "看这张图片")
    );
    assert_eq!(messages[1].message.tool_calls.as_ref().unwrap()[0]["function"]["name"], "terminal");
    assert_eq!(messages[0].message.extra["from_the_future"], "x");
    assert_eq!(messages[0].message.reasoning.as_deref(), Some("hm"));
    assert_eq!(store.search(&Search::text("图片")).unwrap().len(), 1);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_second_import_brings_only_what_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let (path, db) = original(dir.path());
    let store = store(dir.path());
    store.import(&path).unwrap();
    store.append("20250102_101010_abcdef", &[Message::text("user", "said here")]).unwrap();

    assert_eq!(store.import(&path).unwrap(), Imported { known_sessions: 2, ..Imported::default() });
    db.execute(
        "INSERT INTO messages (session_id, role, content, timestamp)
         VALUES ('20250102_101010_abcdef', 'user', 'new', 1735999999)",
        [],
    )
    .unwrap();
    let again = store.import(&path).unwrap();

    assert_eq!(again, Imported { known_sessions: 2, new_messages: 1, ..Imported::default() });
    let record = store.session("20250102_101010_abcdef").unwrap();
    assert_eq!(record.message_count, 2);
    assert_eq!(store.session("20250101_101010_abcdef").unwrap().tokens.input_tokens, 100);
}

#[test]
fn a_taken_title_is_numbered_and_a_taken_id_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _db) = original(dir.path());
    let store = store(dir.path());
    let new = |id: &str| NewSession { id: Some(id.to_owned()), ..NewSession::from("cli") };
    store.create(&new("20250102_101010_abcdef")).unwrap();
    store.create(&new("mine")).unwrap();
    store.rename("mine", "plan").unwrap();

    let done = store.import(&path).unwrap();

    assert_eq!(done.skipped, ["20250102_101010_abcdef"]);
    assert_eq!(done.renamed, [("20250101_101010_abcdef".to_owned(), "plan #2".to_owned())]);
}

#[test]
fn an_older_file_with_fewer_columns_is_read_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL);
         CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL);
         INSERT INTO sessions VALUES ('a', 'cli', 1735726210);
         INSERT INTO messages VALUES (1, 'a', 'user', 'hello', 1735726211), (2, 'gone', 'user', 'x', 1);",
    )
    .unwrap();
    let store = store(dir.path());

    let done = store.import(&path).unwrap();

    assert_eq!((done.new_sessions, done.new_messages), (1, 1));
}

#[test]
fn what_is_no_such_file_is_refused_and_nothing_changes() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let other = dir.path().join("other.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();

    for path in [other, dir.path().join("missing.db"), dir.path().to_owned()] {
        assert!(matches!(store.import(&path), Err(SessionError::Import { .. })), "{}", path.display());
    }
    assert_eq!(store.stats().unwrap().sessions, 0);
}
