//! Yuanbao, as tools reach it: through the connection that a gateway keeps open.
//!
//! There is no way to ask Yuanbao from outside of such a connection, so this is all that tools know of
//! it. Whoever keeps one hands it to its sessions; without it the tools are not there.

use futures::future::BoxFuture;

use crate::permit::{Connect, Permit};

/// The name under which calls declare it.
pub const SERVICE: &str = "Yuanbao";

/// What comes of a question.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, YuanbaoError>>;

/// An open connection.
pub trait Yuanbao: Send + Sync {
    /// The chat that the session is about, if it is one.
    fn chat(&self) -> Option<String>;

    /// A group.
    fn group<'a>(&'a self, permit: Permit<Connect>, code: &'a str) -> Answer<'a, Group>;

    /// Everybody in a group.
    fn members<'a>(&'a self, permit: Permit<Connect>, code: &'a str) -> Answer<'a, Vec<Member>>;

    /// All stickers that can be sent.
    fn stickers(&self, permit: Permit<Connect>) -> Answer<'_, Vec<Sticker>>;

    /// Writes to one person.
    fn send_direct(&self, permit: Permit<Connect>, message: Direct) -> Answer<'_, Sent>;

    /// Sends a sticker to a chat.
    fn send_sticker<'a>(
        &'a self,
        permit: Permit<Connect>,
        chat: &'a str,
        sticker: &'a Sticker,
        reply_to: Option<&'a str>,
    ) -> Answer<'a, Sent>;
}

/// A group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its code.
    pub code: String,
    /// What it is called.
    pub name: String,
    /// Who made it.
    pub owner: Option<Member>,
    /// How many are in it.
    pub members: Option<u64>,
}

/// Somebody in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Their id.
    pub id: String,
    /// What they are called there.
    pub name: String,
    /// What they are.
    pub kind: MemberKind,
}

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberKind {
    /// A person.
    Person,
    /// A bot of somebody.
    Bot,
    /// Yuanbao itself.
    Yuanbao,
}

/// A sticker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sticker {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What it shows, in words to search in.
    pub description: String,
}

/// A message to one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Direct {
    /// To whom.
    pub user: String,
    /// The group in which both are, if it is known.
    pub group: Option<String>,
    /// What it says.
    pub text: String,
    /// What comes with it.
    pub media: Vec<Media>,
}

/// A file that comes with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Whether it is to be heard as a voice message.
    pub is_voice: bool,
}

/// What was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Where to.
    pub chat: String,
    /// Its id, if Yuanbao told it.
    pub message: Option<String>,
}

/// Why Yuanbao does not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Yuanbao: {0}")]
pub struct YuanbaoError(pub String);
