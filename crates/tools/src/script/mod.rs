//! What `execute_code` is made of: scripts that call tools.
//!
//! | file | what |
//! |---|---|
//! | `command.rs` | the command that runs a script; pure |
//! | `module.rs` | the Python module a script finds its tools in; pure |
//! | `desk.rs` | takes the script's calls and puts them on the session's road |
//! | `settings.rs` | limits, as the configuration sets them |

pub(crate) mod command;
pub(crate) mod desk;
pub(crate) mod module;
pub(crate) mod settings;

/// The tools a script may call, if the session has them. Nothing in this list runs scripts, asks the
/// person, or changes what the agent remembers.
pub(crate) const CALLABLE: [&str; 7] =
    ["patch", "read_file", "search_files", "terminal", "web_extract", "web_search", "write_file"];

/// Arguments of `terminal` that make no sense in a script: it waits for every answer.
pub(crate) const NOT_IN_SCRIPTS: [&str; 4] = ["background", "pty", "notify_on_complete", "watch_patterns"];
