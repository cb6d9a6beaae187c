//! Sessions that cannot be lost: conversations, the journal of calls, search, in one database.
//!
//! | module | what it does |
//! |---|---|
//! | `db`, `schema` | one connection, transactions, patience, versions of the schema |
//! | `record`, `title`, `lineage`, `upkeep` | sessions: make, find, list, rename, fork, end, delete, prune |
//! | `message`, `log` | messages: append, read, take back |
//! | `calls`, `call_log`, `owner`, `mend` | the journal, who is alive, and what to do after a kill |
//! | `floor` | whose turn it is, where several programs share a session |
//! | `usage` | tokens and cost |
//! | `query`, `search`, `snippet`, `indexing` | finding messages by what they say |
//! | `recall` | earlier conversations as a model asks for them |
//! | `export`, `import` | out to text, in from the original's `state.db` |
//! | `shared`, `journal` | the store behind worker threads, for async code, and as the road's journal |
//!
//! [`Sessions`] is for one thread and simply blocks; [`SessionStore`] is for everybody and does the
//! same work on threads of the host, opened when first needed.

mod call_log;
mod calls;
mod clock;
mod db;
mod error;
mod export;
mod floor;
mod fold;
mod import;
mod indexing;
mod journal;
mod lineage;
mod log;
mod mend;
mod message;
mod moment;
mod owner;
mod query;
mod recall;
mod record;
mod schema;
mod search;
mod shared;
mod snippet;
#[cfg(test)]
mod testing;
mod title;
mod upkeep;
mod usage;

pub use calls::{CallRecord, CallStart, CallState};
pub use clock::Clock;
pub use db::{Durability, Sessions};
pub use error::SessionError;
pub use export::Export;
pub use floor::Floor;
pub use import::Imported;
pub use log::Window;
pub use mend::Mended;
pub use message::{Content, Message, StoredMessage};
pub use moment::Moment;
pub use record::{Link, Listing, NewSession, SessionRecord, fresh_id};
pub use search::{Hit, Order, Search};
pub use shared::SessionStore;
pub use snippet::MARKS;
pub use title::MAX_TITLE;
pub use upkeep::Prune;
pub use usage::{Spender, Stats, Tokens};
