//! The actions of `hermes sessions`, one file each, and what they share: the store they look at.

pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod list;
pub(crate) mod prune;
pub(crate) mod rename;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod stats;

use hermes::store::sessions::{Moment, SessionError, Sessions};

use crate::command::Failure;
use crate::shell::Shell;

/// The store of the home, if it has one.
pub(crate) fn existing(shell: &Shell) -> Result<Option<Sessions>, Failure> {
    Ok(hermes::existing_sessions(&shell.home()?)?)
}

/// The store of the home; without one there is no session that could be meant by a name.
pub(crate) fn with(shell: &Shell, name: &str) -> Result<Sessions, Failure> {
    existing(shell)?.ok_or_else(|| SessionError::Unknown { name: name.to_owned() }.into())
}

/// A date on the command line.
pub(crate) fn date(text: &str) -> Result<Moment, String> {
    Moment::parse(text).ok_or_else(|| "write a date as 2026-11-15 or 2026-11-15T22:10:35 (UTC)".to_owned())
}

impl From<SessionError> for Failure {
    fn from(wrong: SessionError) -> Self {
        match wrong {
            SessionError::Unknown { .. }
            | SessionError::Ambiguous { .. }
            | SessionError::Title { .. }
            | SessionError::Id { .. } => Self::usage(wrong),
            other => Self::failed(other),
        }
    }
}
