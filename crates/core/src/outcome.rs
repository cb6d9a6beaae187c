//! How a call ended, typed, with the one JSON string the model reads.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::call::CallId;

/// The end of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The runtime's id.
    pub id: CallId,
    /// The caller's id, unchanged.
    pub given_id: String,
    /// The tool that was meant, or the name as it was written when there is none.
    pub tool: Arc<str>,
    /// What became of it.
    pub status: Status,
    /// One well-formed JSON document, always.
    pub body: String,
    /// Where the whole result is, when `body` holds only a part of it.
    pub spilled: Option<PathBuf>,
    /// What comes beside the document: pictures for models that see.
    pub attachments: Vec<Attachment>,
    /// What went wrong beside the call itself: failed observers, an unwritten record, a server's question that
    /// nobody could be asked.
    pub notes: Vec<String>,
    /// How long the handler ran.
    pub took: Duration,
}

/// Something a call hands back that is no text. It is never part of the JSON document; whoever
/// speaks to the model gives it to models that can take it.
#[derive(Clone, PartialEq, Eq)]
pub struct Attachment {
    /// What it is, as in `image/png`.
    pub media_type: String,
    /// What it is called, for people.
    pub name: String,
    /// The thing itself.
    pub bytes: Arc<[u8]>,
}

impl Attachment {
    /// The largest one that is handed on, in bytes.
    pub const MAX_BYTES: u64 = 5 * 1024 * 1024;
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attachment({} {}, {} bytes)", self.media_type, self.name, self.bytes.len())
    }
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// It ran and answered.
    Ok,
    /// It ran, and what it answered is kept back, since nobody could look through it.
    Withheld,
    /// It ran and could not do it.
    Failed,
    /// The arguments do not fit.
    Invalid,
    /// There is no such tool here.
    Unknown,
    /// A rule, a hook or a person said no.
    Denied,
    /// It was repeated too often.
    Repeated,
    /// It took too long.
    TimedOut,
    /// It was taken back.
    Cancelled,
    /// The handler broke.
    Broken,
}

impl Status {
    /// Whether the tool did what was asked, and said so.
    pub fn is_ok(self) -> bool {
        self == Self::Ok
    }

    /// Whether the tool did what was asked, also when nobody gets to read what it said.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Ok | Self::Withheld)
    }

    /// One word for records and machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Withheld => "withheld",
            Self::Failed => "failed",
            Self::Invalid => "invalid",
            Self::Unknown => "unknown",
            Self::Denied => "denied",
            Self::Repeated => "repeated",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Broken => "broken",
        }
    }
}
