//! The built-in tools and toolsets: one file each, in `tools/` and `toolsets/`.
//!
//! What a tool needs beyond its file, or several tools share, is a module beside these folders.

use hermes_core::session::Session;
use hermes_core::tool::ToolDef;
use hermes_core::toolset::Toolset;

mod api;
mod browser;
mod choice;
mod command;
mod core_tools;
pub mod diff;
mod discord;
mod documents;
mod drawing;
mod edited;
mod feishu;
mod filming;
mod guard_rails;
mod hash;
mod homeassistant;
mod kanban;
mod lint;
pub mod matching;
mod media;
mod mixture;
mod multipart;
mod patching;
mod pictures;
mod projects;
mod read_log;
mod rl;
mod screen;
mod script;
pub mod senders;
mod skill_books;
mod speech;
mod spotify;
mod tell;
mod template;
mod text_file;
mod tools;
mod toolsets;
pub mod transcribe;
pub mod v4a;
mod web;
mod xai;
mod yuanbao;

pub use command::settings::TerminalSettings;
pub use media::MediaSettings;
pub use script::settings::ScriptSettings;

/// Every built-in tool, sorted by name.
pub fn tools() -> &'static [&'static ToolDef] {
    tools::TOOLS
}

/// Every built-in toolset, sorted by name.
pub fn toolsets() -> &'static [&'static Toolset] {
    toolsets::TOOLSETS
}

/// The tools that every preset but the small ones has; disabling a preset leaves them alone.
pub fn core_tools() -> &'static [&'static str] {
    core_tools::CORE_TOOLS
}

/// Tells the session's tools that the model no longer has what it was shown, so that they show it again.
pub fn forget_shown(session: &Session) {
    // A session without state was shown nothing that is remembered.
    let _ = session.with_slot(read_log::ReadLog::forget_pages);
}

/// What is still on the session's list of things to do, in words for the model.
pub fn open_todos(session: &Session) -> Option<String> {
    tools::todo::open_items(session)
}

/// Puts the list of things to do back that an earlier answer of `todo` showed.
pub fn restore_todos(session: &Session, answer: &str) {
    tools::todo::restore(session, answer);
}
