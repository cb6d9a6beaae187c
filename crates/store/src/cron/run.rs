//! A run of a job, or a row of missed times, as the record keeps it.

use serde::Serialize;

/// Why a run was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Its time had come.
    Schedule,
    /// A person wanted it now.
    Manual,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It has an answer.
    Ok,
    /// Its script found that there is nothing to do.
    Nothing,
    /// It went wrong.
    Failed,
    /// The process ended, or was told to stop, before the run did.
    Interrupted,
    /// It never began.
    Missed,
}

impl Outcome {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Nothing => "nothing",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Missed => "missed",
        }
    }

    /// What the original would call it.
    pub(super) const fn status(self) -> &'static str {
        match self {
            Self::Ok | Self::Nothing => "completed",
            Self::Failed | Self::Missed => "failed",
            Self::Interrupted => "unknown",
        }
    }

    pub(super) fn of(word: &str, status: &str) -> Option<Self> {
        let all = [Self::Ok, Self::Nothing, Self::Failed, Self::Interrupted, Self::Missed];
        let by_word = all.into_iter().find(|outcome| outcome.word() == word);
        // Rows of the original have a status alone.
        by_word.or(match status {
            "completed" => Some(Self::Ok),
            "failed" => Some(Self::Failed),
            "unknown" => Some(Self::Interrupted),
            _ => None,
        })
    }
}

/// One run, or one row of missed times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Run {
    /// Its id.
    pub id: String,
    /// The job's id.
    pub job_id: String,
    /// What people called it then.
    pub job_name: Option<String>,
    /// Why it was begun.
    pub source: Option<String>,
    /// The process that had it.
    pub pid: Option<i64>,
    /// `claimed`, `running`, `completed`, `failed` or `unknown`.
    pub status: String,
    /// How it ended; nothing while it goes on.
    pub outcome: Option<Outcome>,
    /// When it was due.
    pub scheduled_for: Option<String>,
    /// When it was claimed.
    pub claimed_at: Option<String>,
    /// When it began.
    pub started_at: Option<String>,
    /// When it ended.
    pub finished_at: Option<String>,
    /// Seconds between when it was due and when it began, where those are many.
    pub late_seconds: Option<i64>,
    /// What went wrong.
    pub error: Option<String>,
    /// The conversation.
    pub session_id: Option<String>,
    /// Who answered.
    pub model: Option<String>,
    /// The file with the answer.
    pub output: Option<String>,
    /// Why the answer did not arrive everywhere.
    pub delivery_error: Option<String>,
    /// How many times were missed together.
    pub missed_count: Option<i64>,
    /// The last of them.
    pub missed_until: Option<String>,
}

/// How a run ended, to be written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub outcome: Outcome,
    /// What went wrong, or what is to be known about it.
    pub error: Option<String>,
    /// Who answered.
    pub model: Option<String>,
    /// The file with the answer.
    pub output: Option<String>,
    /// Why the answer did not arrive everywhere.
    pub delivery_error: Option<String>,
}
