//! The Hermes tools runtime as a library: one value that holds tools, decides what may run, and
//! runs it.
//!
//! ```
//! use hermes::{Runtime, ToolCall};
//!
//! let runtime = Runtime::builder().cwd("/").build()?;
//! let session = runtime.session().open()?;
//! let outcome = session.call_blocking(ToolCall::new("todo", r#"{"todos": []}"#));
//!
//! assert!(outcome.status.is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything here is wiring: the crates below do not know each other, this one knows them all.

mod browser;
mod builder;
pub mod chat;
mod checkpoints;
mod courier;
pub mod cron;
mod environments;
mod fence;
mod foreign;
mod hooks;
mod host;
mod inside;
mod kanban;
mod keys;
mod lasting;
mod listening;
mod lists;
mod login;
mod open_sessions;
mod policy;
mod probe;
mod redact;
mod rollback;
mod runtime;
mod session;
mod sessions;
mod settings;
mod shelf;
mod side;
mod sites;
mod spill;
mod sudo;
mod unpack;
mod web;
mod workplace;
mod world;

pub use hermes_agent as agent;
pub use hermes_core as core;
pub use hermes_env as env;
pub use hermes_extend as extend;
pub use hermes_guard as guard;
pub use hermes_llm as llm;
pub use hermes_store as store;

pub use builder::{BuildError, RuntimeBuilder};
pub use foreign::HookStanding;
pub use foreign::find_plugins::{Origin, plugin_key};
pub use foreign::plugins::{PluginState, PluginView};
pub use foreign::serve::McpServer;
pub use foreign::surface::{CliSaid, TriedFile};
pub use foreign::{Mcp, McpMemory};
pub use hermes_core::call::ToolCall;
pub use hermes_core::outcome::{Outcome, Status};
pub use hermes_env::jobs::run_as_keeper;
pub use hermes_tools::transcribe::{TranscribeError, Transcript};
pub use lasting::open_boards;
pub use login::{LoginFailed, SpotifyLogin};
pub use policy::{Explained, GuardPolicy, PolicyError, PolicySettings};
pub use rollback::{Restored, Rollback, RollbackError};
pub use runtime::Runtime;
pub use session::{Session, SessionBuilder};
pub use sessions::{existing_sessions, open_sessions};

/// The page for people who embed the runtime: its examples are run as tests of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
mod embedding {}
