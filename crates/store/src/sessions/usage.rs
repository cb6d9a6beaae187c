//! What model calls used and cost: totals per session, and details per model, provider and task.

use rusqlite::Connection;
use serde::Serialize;

use super::db::Sessions;
use super::error::SessionError;
use super::record::number;

/// Counters of model calls.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Tokens {
    /// Requests made.
    #[serde(rename = "api_call_count")]
    pub api_calls: i64,
    /// Tokens sent.
    pub input_tokens: i64,
    /// Tokens received.
    pub output_tokens: i64,
    /// Of those sent, how many came from the provider's cache.
    pub cache_read_tokens: i64,
    /// Of those sent, how many were put into the cache.
    pub cache_write_tokens: i64,
    /// Of those received, how many were thoughts.
    pub reasoning_tokens: i64,
    /// What it cost, as far as known.
    #[serde(rename = "estimated_cost_usd")]
    pub cost_usd: f64,
}

/// Who used them, and what for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
pub struct Spender {
    /// The model.
    pub model: String,
    /// The provider.
    pub provider: String,
    /// What for: `chat`, `compaction`, `title`, …
    pub task: String,
}

/// The whole store in numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Stats {
    /// Sessions.
    pub sessions: i64,
    /// Messages, also those taken back.
    pub messages: i64,
    /// Recorded calls.
    pub calls: i64,
    /// Of those, interrupted.
    pub interrupted_calls: i64,
    /// Sessions by the door they came in by, most first.
    pub by_source: Vec<(String, i64)>,
    /// What all sessions used and cost.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Size of the file.
    pub bytes: i64,
}

const SUMS: &str = "ifnull(sum(api_calls), 0), ifnull(sum(input_tokens), 0), ifnull(sum(output_tokens), 0), \
     ifnull(sum(cache_read_tokens), 0), ifnull(sum(cache_write_tokens), 0), ifnull(sum(reasoning_tokens), 0), \
     ifnull(sum(cost_usd), 0.0)";

impl Sessions {
    /// Adds to what a session used.
    pub fn add_usage(&self, id: &str, spender: &Spender, tokens: &Tokens) -> Result<(), SessionError> {
        self.write(|db| add(db, number(db, id)?, spender, tokens))
    }

    /// What a session used, by model, provider and task.
    pub fn usage(&self, id: &str) -> Result<Vec<(Spender, Tokens)>, SessionError> {
        self.read(|db| {
            let mut found = db.prepare_cached(
                "SELECT api_calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
                     reasoning_tokens, cost_usd, model, provider, task
                 FROM usage WHERE session = ?1 ORDER BY model, provider, task",
            )?;
            let rows = found.query_map([number(db, id)?], |row| {
                let spender = Spender { model: row.get(7)?, provider: row.get(8)?, task: row.get(9)? };
                Ok((spender, tokens(row)?))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The whole store in numbers.
    pub fn stats(&self) -> Result<Stats, SessionError> {
        self.catch_up()?;
        self.read(|db| {
            let count =
                |sql: &str| -> Result<i64, SessionError> { Ok(db.query_row(sql, [], |row| row.get(0))?) };
            let mut sources =
                db.prepare("SELECT source, count(*) FROM sessions GROUP BY source ORDER BY 2 DESC, 1")?;
            let by_source = sources.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(Stats {
                sessions: count("SELECT count(*) FROM sessions")?,
                messages: count("SELECT count(*) FROM messages")?,
                calls: count("SELECT count(*) FROM calls")?,
                interrupted_calls: count("SELECT count(*) FROM calls WHERE state = 2")?,
                by_source: by_source.collect::<Result<_, _>>()?,
                tokens: db.query_row(&format!("SELECT {SUMS} FROM sessions"), [], tokens)?,
                bytes: count("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")?,
            })
        })
    }
}

/// Adds to the details and to the totals.
pub(super) fn add(
    db: &Connection,
    session: i64,
    spender: &Spender,
    tokens: &Tokens,
) -> Result<(), SessionError> {
    let Tokens { api_calls, input_tokens, output_tokens, .. } = tokens;
    let Tokens { cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd, .. } = tokens;
    db.prepare_cached(
        "INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT DO UPDATE SET api_calls = api_calls + ?5, input_tokens = input_tokens + ?6,
             output_tokens = output_tokens + ?7, cache_read_tokens = cache_read_tokens + ?8,
             cache_write_tokens = cache_write_tokens + ?9, reasoning_tokens = reasoning_tokens + ?10,
             cost_usd = cost_usd + ?11",
    )?
    .execute(rusqlite::params![
        session,
        spender.model,
        spender.provider,
        spender.task,
        api_calls,
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_write_tokens,
        reasoning_tokens,
        cost_usd,
    ])?;
    db.prepare_cached(
        "UPDATE sessions SET api_calls = api_calls + ?2, input_tokens = input_tokens + ?3,
             output_tokens = output_tokens + ?4, cache_read_tokens = cache_read_tokens + ?5,
             cache_write_tokens = cache_write_tokens + ?6, reasoning_tokens = reasoning_tokens + ?7,
             cost_usd = cost_usd + ?8 WHERE n = ?1",
    )?
    .execute(rusqlite::params![
        session,
        api_calls,
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_write_tokens,
        reasoning_tokens,
        cost_usd,
    ])?;
    Ok(())
}

/// The counters in the first seven columns.
fn tokens(row: &rusqlite::Row<'_>) -> rusqlite::Result<Tokens> {
    Ok(Tokens {
        api_calls: row.get(0)?,
        input_tokens: row.get(1)?,
        output_tokens: row.get(2)?,
        cache_read_tokens: row.get(3)?,
        cache_write_tokens: row.get(4)?,
        reasoning_tokens: row.get(5)?,
        cost_usd: row.get(6)?,
    })
}
