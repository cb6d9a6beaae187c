//! The command line as a person or a script meets it: the real program, in temporary homes.
//!
//! | module | what it proves |
//! |---|---|
//! | `answers` | what every command says, in words and in JSON |
//! | `auth` | logging in to a service, and out again |
//! | `call` | one JSON document per call, where arguments come from, Ctrl-C |
//! | `config` | the configuration, looked at and changed |
//! | `contract` | definitions and toolsets are those of the contract |
//! | `docs` | every documented command works, and says what the page shows |
//! | `env` | the places where commands run, looked at, tried, entered and cleaned |
//! | `kanban` | the task board |
//! | `keyless` | a fresh home reads, looks, speaks and plans without any key |
//! | `mcp` | MCP servers: added, looked at, agreed to, removed |
//! | `mcp_login` | logging in to an MCP server, in a browser |
//! | `mcp_switch` | which tools of an MCP server the agent gets |
//! | `memory` | notes and earlier conversations |
//! | `plugin_commands` | commands that plugins add |
//! | `plugin_trust` | plugins of a project with a say, accepted and then changed |
//! | `plugins` | plugins, in any language |
//! | `prompt` | the question about a dangerous command, in a real terminal |
//! | `python_tools` | Python tool files, dropped in |
//! | `sessions` | sessions, import, recorded calls |
//! | `setting_up` | from nothing to a home that works: setup, model, doctor |
//! | `sudo` | a stand-in for it, for the prompts that ask for its password |
//! | `switch` | enable and disable, on files with comments and all at once |
//! | `terminal` | colours, widths, pipes that close, completion scripts |
//! | `wrong` | what happens when something is wrong: words and exit codes |

#![expect(clippy::disallowed_methods, reason = "the tests start the program and write the files it finds")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers are part of the tests, and say what they left out"
)]

mod answers;
mod auth;
mod call;
mod config;
mod contract;
mod docs;
#[path = "../../../env/tests/conformance/doubles.rs"]
#[expect(dead_code, clippy::print_stderr, reason = "shared with the suite of environments")]
mod doubles;
mod env;
mod home;
mod hooks;
mod kanban;
mod keyless;
mod mcp;
mod mcp_login;
mod mcp_remote;
mod mcp_switch;
mod memory;
mod plugin_commands;
mod plugin_trust;
mod plugins;
mod prompt;
mod python_tools;
mod sessions;
mod setting_up;
mod skills;
#[path = "../../../env/tests/conformance/sshd.rs"]
#[expect(dead_code, clippy::print_stderr, reason = "shared with the suite of environments")]
mod sshd;
mod sudo;
mod switch;
mod terminal;
mod wrong;

/// Where the shared server helper looks for it.
mod processes {
    /// Waits until something is so; a test that waits in vain fails.
    pub(crate) fn until(what: &str, so: impl Fn() -> bool) {
        let begin = std::time::Instant::now();
        while !so() {
            assert!(begin.elapsed() < std::time::Duration::from_secs(10), "in vain: {what}");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}
