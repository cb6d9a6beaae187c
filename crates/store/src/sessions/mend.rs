//! Makes a session whole that was cut off in the middle of a turn.
//!
//! A model that asked for calls must get an answer to each. What finished is in the journal, and
//! its result is put where it belongs; what was interrupted, or never began, gets an answer that
//! says so. Nothing is run here.

use serde_json::{Value, json};

use super::calls::{CallState, call_after};
use super::db::Sessions;
use super::error::SessionError;
use super::log::{append, collect};
use super::message::{COLUMNS, Message, StoredMessage};
use super::moment::Moment;
use super::record::{event, number};

/// What a mend added to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mended {
    /// Results that were in the journal but not in the conversation.
    pub finished: usize,
    /// Calls that were cut off while they ran.
    pub interrupted: usize,
    /// Calls that never began.
    pub not_started: usize,
}

/// A call that a model asked for and that has no answer in the conversation.
struct Unanswered {
    asked_in: i64,
    id: String,
    tool: String,
}

impl Sessions {
    /// Answers every call of the last answer of the model that has none yet. Calls that still run
    /// in another living process are left alone.
    pub fn mend(&self, id: &str) -> Result<Mended, SessionError> {
        self.catch_up()?;
        let now = self.now();
        self.write(|db| {
            let n = number(db, id)?;
            let sql = format!(
                "SELECT {COLUMNS} FROM messages WHERE session = ?1 AND active AND NOT compacted AND id >= ifnull((
                     SELECT max(id) FROM messages WHERE session = ?1 AND active AND NOT compacted AND role = 'assistant'
                 ), 0) ORDER BY id"
            );
            let mut mended = Mended::default();
            let mut answers = Vec::new();
            for call in unanswered(&collect(db, &sql, [n])?) {
                let known = call_after(db, id, &call.id, call.asked_in)?;
                let answer = match known.as_ref().map(|record| record.state) {
                    Some(CallState::Starting) => continue,
                    Some(CallState::Finished) => {
                        mended.finished += 1;
                        Message::text("tool", known.and_then(|record| record.body).unwrap_or_default())
                    }
                    Some(CallState::Interrupted) => {
                        mended.interrupted += 1;
                        let since = known.and_then(|record| record.started_at);
                        cut_off(&interrupted_text(since), "unknown")
                    }
                    None => {
                        mended.not_started += 1;
                        cut_off("the program ended before this call began; it did not run", "none")
                    }
                };
                answers.push(Message { tool_call_id: Some(call.id), tool_name: Some(call.tool), ..answer });
            }
            if !answers.is_empty() {
                append(db, n, now, &answers)?;
                event(db, n, now, "mended", Some(json!({ "answers": answers.len() })))?;
            }
            Ok(mended)
        })
    }
}

fn interrupted_text(since: Option<Moment>) -> String {
    let when = since.map(|moment| format!(" (it began at {moment} UTC)")).unwrap_or_default();
    format!(
        "the program ended while this call ran{when}; what it had done by then is not known. \
         Look before doing it again"
    )
}

fn cut_off(error: &str, effects: &str) -> Message {
    let body = json!({ "error": error, "interrupted": true }).to_string();
    Message { effect_disposition: Some(effects.to_owned()), ..Message::text("tool", body) }
}

/// The calls asked for in these messages that no later message answers. A call id that is used
/// twice needs two answers.
fn unanswered(messages: &[StoredMessage]) -> Vec<Unanswered> {
    let mut open: Vec<Unanswered> = Vec::new();
    for stored in messages {
        let calls = stored.message.tool_calls.as_ref().and_then(Value::as_array).into_iter().flatten();
        open.extend(calls.map(|call| {
            let text = |at: &str| call.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
            Unanswered { asked_in: stored.id, id: text("/id"), tool: text("/function/name") }
        }));
        if let Some(answered) = &stored.message.tool_call_id
            && let Some(at) = open.iter().position(|call| call.id == *answered)
        {
            open.remove(at);
        }
    }
    open
}
