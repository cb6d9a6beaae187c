//! The contract for looking into earlier conversations: which there were, where something was said,
//! and what stood around it.

use futures::future::BoxFuture;

/// Looks into earlier conversations.
pub trait Recall: Send + Sync {
    /// The newest conversations, without the one that asks.
    fn browse<'a>(
        &'a self,
        from: Standpoint<'a>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<SessionRow>, RecallError>>;

    /// The conversations in which something was said, one for each line of descent.
    fn discover<'a>(
        &'a self,
        from: Standpoint<'a>,
        wanted: Wanted,
    ) -> BoxFuture<'a, Result<Discovered, RecallError>>;

    /// How a conversation begins and ends.
    fn read<'a>(
        &'a self,
        from: Standpoint<'a>,
        session: &'a str,
    ) -> BoxFuture<'a, Result<Conversation, RecallError>>;

    /// The messages around one.
    fn scroll<'a>(
        &'a self,
        from: Standpoint<'a>,
        session: &'a str,
        message: i64,
        each_way: u32,
    ) -> BoxFuture<'a, Result<Passage, RecallError>>;
}

/// Who asks, and of which profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standpoint<'a> {
    /// The session that asks: it and its kin are not what it looks for.
    pub session: &'a str,
    /// Another profile than its own.
    pub profile: Option<&'a str>,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The words.
    pub text: String,
    /// Only messages of these roles; none means all.
    pub roles: Vec<String>,
    /// The order of what is found.
    pub order: Order,
    /// Most conversations to give.
    pub limit: u32,
}

/// The order of what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Best first.
    #[default]
    Best,
    /// Newest first.
    Newest,
    /// Oldest first.
    Oldest,
}

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// The session it came from.
    pub parent: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The door it came in by.
    pub source: String,
    /// The model it talked to.
    pub model: Option<String>,
    /// When it began, as a person reads it (UTC).
    pub began: String,
    /// When something was last said in it.
    pub last_active: String,
    /// How many messages it has.
    pub messages: i64,
    /// How it begins.
    pub preview: Option<String>,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// Its number.
    pub id: i64,
    /// Who wrote it.
    pub role: String,
    /// What it says, cut where it is long.
    pub text: String,
    /// How many characters were cut off.
    pub cut: usize,
    /// The tool that answered.
    pub tool: Option<String>,
    /// The tools an assistant called.
    pub calls: Vec<String>,
    /// When, as a person reads it (UTC).
    pub when: String,
}

/// A part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The session the messages are in.
    pub session: SessionRow,
    /// The message it is about.
    pub anchor: i64,
    /// The messages, in order.
    pub messages: Vec<MessageRow>,
    /// How many come before them.
    pub before: i64,
    /// How many come after.
    pub after: i64,
}

/// Why a conversation was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// By its title.
    Title,
    /// By a message.
    Message,
}

/// A conversation that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Why.
    pub by: Match,
    /// Who wrote the message at its anchor.
    pub role: String,
    /// The text around the find, with `>>>` and `<<<` around it.
    pub snippet: String,
    /// What stands around it.
    pub passage: Passage,
    /// How the conversation begins, as far as that is not in the passage.
    pub start: Vec<MessageRow>,
    /// How it ends, as far as that is not in the passage.
    pub end: Vec<MessageRow>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discovered {
    /// The conversations.
    pub found: Vec<Found>,
    /// How many sessions had a match, before they were cut to the limit.
    pub sessions: usize,
}

/// How a conversation begins and ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The session.
    pub session: SessionRow,
    /// The first messages and the last.
    pub messages: Vec<MessageRow>,
    /// How many were left out between them, and behind which of the messages shown.
    pub left_out: Option<(i64, i64)>,
}

/// Why nothing can be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecallError {
    /// No session, or no message in it, goes by that name.
    #[error("{0}")]
    Unknown(String),
    /// The store could not be read.
    #[error("{0}")]
    Store(String),
}
