//! Tasks of the original's board come along, once.

use std::time::Duration;

use hermes_core::kanban::{Act, Actor, BlockKind, Hand, Status};

use crate::{Bench, agent, done, task};

/// Tables and columns as the original has them; older files have fewer.
const ORIGINAL: &str = "
    CREATE TABLE tasks (id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT, assignee TEXT, status TEXT NOT NULL,
        priority INTEGER, created_by TEXT, created_at INTEGER NOT NULL, started_at INTEGER, completed_at INTEGER,
        workspace_kind TEXT, workspace_path TEXT, claim_lock TEXT, claim_expires INTEGER, tenant TEXT, result TEXT,
        idempotency_key TEXT, consecutive_failures INTEGER, skills TEXT, goal_mode INTEGER, block_kind TEXT);
    CREATE TABLE task_links (parent_id TEXT, child_id TEXT);
    CREATE TABLE task_comments (id INTEGER PRIMARY KEY, task_id TEXT, author TEXT, body TEXT, created_at INTEGER);
    CREATE TABLE task_events (id INTEGER PRIMARY KEY, task_id TEXT, run_id INTEGER, kind TEXT, payload TEXT, created_at INTEGER);
    CREATE TABLE task_runs (id INTEGER PRIMARY KEY, task_id TEXT, profile TEXT, status TEXT, started_at INTEGER,
        ended_at INTEGER, outcome TEXT, summary TEXT, error TEXT, last_heartbeat_at INTEGER, claim_expires INTEGER);
    CREATE TABLE task_attachments (id INTEGER PRIMARY KEY, task_id TEXT, filename TEXT, stored_path TEXT,
        content_type TEXT, size INTEGER, uploaded_by TEXT, created_at INTEGER);
    INSERT INTO tasks (id, title, status, priority, created_by, created_at, workspace_kind, skills, result)
        VALUES ('t_done', 'Collect', 'done', 2, 'ann', 1700000000, 'scratch', '[\"csv\"]', '42');
    INSERT INTO tasks (id, title, status, created_at, block_kind)
        VALUES ('t_stuck', 'Ask', 'blocked', 1700000001, 'needs_input'),
               ('t_run', 'Report', 'running', 1700000002, NULL),
               ('t_wait', 'Print', 'todo', 1700000003, NULL),
               ('t_odd', 'Check', 'review', 1700000004, NULL);
    INSERT INTO task_links VALUES ('t_run', 't_wait'), ('t_done', 't_run'), ('t_gone', 't_run');
    INSERT INTO task_comments (task_id, author, body, created_at) VALUES ('t_done', 'bob', 'well done', 1700000005);
    INSERT INTO task_events (task_id, kind, payload, created_at)
        VALUES ('t_stuck', 'blocked', '{\"reason\": \"which one?\"}', 1700000006);
    INSERT INTO task_runs (task_id, profile, status, started_at, ended_at, outcome, summary)
        VALUES ('t_done', 'analyst', 'done', 1700000000, 1700000009, 'completed', 'all of it');
    INSERT INTO task_runs (task_id, profile, status, started_at) VALUES ('t_run', 'writer', 'running', 1700000002);
";

#[test]
fn the_tasks_of_the_original_are_brought_in_once() {
    let (bench, other) = (Bench::new(), tempfile::tempdir().unwrap());
    let path = other.path().join("kanban.db");
    let file = other.path().join("data.csv");
    std::fs::write(&file, "a,b\n").unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(ORIGINAL).unwrap();
    let attach = "INSERT INTO task_attachments (task_id, filename, stored_path, size, created_at) VALUES (?1, ?2, ?3, 4, 1)";
    db.execute(attach, ("t_done", "data.csv", file.to_str().unwrap())).unwrap();
    db.execute(attach, ("t_done", "passwd", "/etc/passwd")).unwrap();
    let by = Actor { name: "import".to_owned(), hand: Hand::Person };

    let brought = bench.boards.import(&path, None, &by).unwrap();

    assert_eq!((brought.new_tasks, brought.known_tasks, brought.comments, brought.attachments), (5, 0, 1, 1));
    // A file from elsewhere cannot be made to come along.
    assert_eq!((brought.left_out.len(), brought.left_out[0].1.as_str()), (1, "passwd"));
    let view = |id: &str| bench.boards.show(&task(id)).unwrap();
    let first = view("t_done");
    assert_eq!(
        (first.task.status, first.task.created_at, first.task.priority),
        (Status::Done, 1_700_000_000, 2)
    );
    assert_eq!((first.task.skills, first.task.result), (vec!["csv".to_owned()], Some("42".to_owned())));
    assert_eq!(
        (first.comments[0].body.as_str(), first.runs[0].summary.as_deref()),
        ("well done", Some("all of it"))
    );
    let stuck = view("t_stuck").task;
    assert_eq!((stuck.status, stuck.block_kind), (Status::Blocked, Some(BlockKind::NeedsInput)));
    assert_eq!(stuck.block_reason.as_deref(), Some("which one?"));
    assert_eq!(view("t_odd").task.status, Status::Blocked);
    // Nobody here works on what ran there, and somebody may.
    let running = view("t_run");
    assert_eq!((running.task.status, running.task.run_id), (Status::Ready, None));
    bench.act("t_run", Act::Claim(Duration::from_mins(1)), &agent("s1")).unwrap();
    bench.act("t_run", done("x"), &agent("s1")).unwrap();
    assert_eq!(view("t_wait").task.status, Status::Ready);

    let again = bench.boards.import(&path, None, &by).unwrap();
    assert_eq!((again.new_tasks, again.known_tasks, again.attachments), (0, 5, 0));
    assert_eq!(view("t_run").task.status, Status::Done);
    let wrong = bench.boards.import(&file, None, &by).unwrap_err();
    assert!(wrong.to_string().contains("cannot import"), "{wrong}");
}
