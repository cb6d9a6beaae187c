-- Sessions, their messages, what was done to them, and the journal of calls.
-- All times are microseconds since 1970. A message, once written, keeps its content: only the
-- marks `active` and `compacted` change.

CREATE TABLE sessions (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    model TEXT,
    title TEXT,
    parent INTEGER REFERENCES sessions (n) ON DELETE SET NULL,
    link TEXT,
    cwd TEXT,
    system_prompt TEXT,
    started_at INTEGER NOT NULL,
    active_at INTEGER NOT NULL,
    ended_at INTEGER,
    end_reason TEXT,
    message_count INTEGER NOT NULL DEFAULT 0,
    tool_call_count INTEGER NOT NULL DEFAULT 0,
    rewind_count INTEGER NOT NULL DEFAULT 0,
    api_calls INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0,
    imported INTEGER NOT NULL DEFAULT 0,
    extra TEXT
) STRICT;
CREATE UNIQUE INDEX sessions_title ON sessions (title) WHERE title IS NOT NULL;
CREATE INDEX sessions_active ON sessions (active_at DESC, n DESC);
CREATE INDEX sessions_parent ON sessions (parent) WHERE parent IS NOT NULL;

CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    role TEXT NOT NULL,
    active INTEGER NOT NULL DEFAULT 1,
    compacted INTEGER NOT NULL DEFAULT 0,
    -- The id in the store it was imported from.
    origin INTEGER,
    -- Long columns last: what a search filters by is read without them.
    -- The text; of content in parts, the text of the parts, and the parts themselves beside it.
    content TEXT,
    parts TEXT,
    tool_calls TEXT,
    tool_call_id TEXT,
    tool_name TEXT,
    effect_disposition TEXT,
    reasoning TEXT,
    reasoning_content TEXT,
    reasoning_details TEXT,
    codex_reasoning_items TEXT,
    codex_message_items TEXT,
    api_content TEXT,
    platform_message_id TEXT,
    token_count INTEGER,
    finish_reason TEXT,
    extra TEXT
) STRICT;
CREATE INDEX messages_session ON messages (session, id);
CREATE UNIQUE INDEX messages_origin ON messages (session, origin) WHERE origin IS NOT NULL;

CREATE TABLE events (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    detail TEXT
) STRICT;
CREATE INDEX events_session ON events (session, n);

CREATE TABLE usage (
    session INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    task TEXT NOT NULL,
    api_calls INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (session, model, provider, task)
) STRICT, WITHOUT ROWID;

-- The journal. `owner` is the number of the process that recorded the call, see `owner.rs`.
-- `session` is the id as text: a call is recorded even for a session nobody keeps.
-- `state`: 0 about to run, 1 finished, 2 interrupted.
CREATE TABLE calls (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    id TEXT NOT NULL,
    given_id TEXT NOT NULL,
    session TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT,
    effects TEXT,
    state INTEGER NOT NULL,
    status TEXT,
    body TEXT,
    spilled TEXT,
    notes TEXT,
    -- The newest message of the session when the call was first heard of.
    after_message INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER,
    ended_at INTEGER,
    took_us INTEGER,
    UNIQUE (owner, id)
) STRICT;
CREATE INDEX calls_session ON calls (session, n);
CREATE INDEX calls_open ON calls (owner) WHERE state = 0;
