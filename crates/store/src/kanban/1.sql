-- Times are microseconds since 1970.
CREATE TABLE boards (
    name TEXT PRIMARY KEY,
    title TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    board TEXT NOT NULL REFERENCES boards(name),
    title TEXT NOT NULL,
    body TEXT,
    status TEXT NOT NULL,
    assignee TEXT,
    priority INTEGER NOT NULL DEFAULT 0,
    tenant TEXT,
    workspace_kind TEXT NOT NULL,
    workspace_path TEXT,
    project TEXT,
    idempotency_key TEXT,
    max_runtime INTEGER,
    skills TEXT NOT NULL DEFAULT '[]',
    goal_mode INTEGER NOT NULL DEFAULT 0,
    goal_max_turns INTEGER,
    created_by TEXT NOT NULL,
    created_in TEXT,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER,
    summary TEXT,
    result TEXT,
    metadata TEXT NOT NULL DEFAULT '{}',
    block_kind TEXT,
    block_reason TEXT,
    failures INTEGER NOT NULL DEFAULT 0,
    run INTEGER
) STRICT;

CREATE INDEX tasks_by_place ON tasks (board, status, priority DESC, created_at);
CREATE UNIQUE INDEX tasks_by_key ON tasks (board, idempotency_key)
    WHERE idempotency_key IS NOT NULL AND status <> 'archived';

CREATE TABLE links (
    parent TEXT NOT NULL REFERENCES tasks(id),
    child TEXT NOT NULL REFERENCES tasks(id),
    PRIMARY KEY (parent, child)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_by_child ON links (child);

CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES tasks(id),
    profile TEXT NOT NULL,
    session TEXT,
    ttl INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    outcome TEXT,
    summary TEXT
) STRICT;

CREATE INDEX runs_by_task ON runs (task, id);
CREATE INDEX runs_that_are_on ON runs (expires_at) WHERE ended_at IS NULL;
-- Nobody works on a task beside somebody else, whatever else goes wrong.
CREATE UNIQUE INDEX one_run_of_a_task ON runs (task) WHERE ended_at IS NULL;

CREATE TABLE comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES tasks(id),
    author TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX comments_by_task ON comments (task, id);

CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES tasks(id),
    run INTEGER,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    detail TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX events_by_task ON events (task, id);

CREATE TABLE attachments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES tasks(id),
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    size INTEGER NOT NULL,
    stored TEXT NOT NULL,
    source TEXT,
    actor TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX attachments_by_task ON attachments (task, id);
