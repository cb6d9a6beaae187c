//! What can go wrong with the store of sessions.

use std::path::PathBuf;

use crate::error::StoreError;

/// Why something could not be done with a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The database said no.
    #[error("the session store failed: {0}")]
    Database(#[from] rusqlite::Error),
    /// A file beside the database could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record is not what was written there.
    #[error("a stored record cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// Other processes kept the database busy for too long.
    #[error("{} is kept busy by other processes; try again", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// The database was made by a newer program.
    #[error("{} has schema {found}, this program knows up to {known}; use the newer program", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// No session goes by this id, beginning of an id, or title.
    #[error("no session `{name}`; `hermes sessions list` shows them")]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// Several sessions begin like this.
    #[error("`{name}` could be {}", ids.join(", "))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// The sessions it could mean, newest first.
        ids: Vec<String>,
    },
    /// There is no such message in the session.
    #[error("session `{session}` has no active message {message}")]
    NoMessage {
        /// The session.
        session: String,
        /// The message.
        message: i64,
    },
    /// A title breaks the rules.
    #[error("not a title: {why}")]
    Title {
        /// Which rule.
        why: &'static str,
    },
    /// Another session has this title.
    #[error("session `{holder}` already has the title `{title}`")]
    TitleTaken {
        /// The title.
        title: String,
        /// The session that has it.
        holder: String,
    },
    /// A session id is empty, too long, or has characters that do not belong there.
    #[error("`{id}` is not a session id: use 1 to 128 letters, digits, `_`, `-`, `.` or `:`")]
    Id {
        /// The id.
        id: String,
    },
    /// A session with this id is already there.
    #[error("session `{id}` already exists")]
    Exists {
        /// The id.
        id: String,
    },
    /// The file to import is not a store this program can read.
    #[error("cannot import {}: {why}", path.display())]
    Import {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The store could not be opened.
    #[error("{why}")]
    Open {
        /// Why not.
        why: String,
    },
    /// The thread that did the work is gone; whether it was done is known after reopening.
    #[error("the session store stopped before it answered")]
    Lost,
    /// Work that was committed together with other work which could not be committed.
    #[error("the session store could not commit: {0}")]
    Commit(String),
}

impl SessionError {
    /// Whether the database was only busy, so that trying again may help.
    pub(crate) fn is_busy(&self) -> bool {
        let Self::Database(rusqlite::Error::SqliteFailure(failure, _)) = self else { return false };
        matches!(failure.code, rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
    }
}
