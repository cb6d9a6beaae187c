//! Tools that send, speak, look and make: real programs and servers of this machine where there are any,
//! doubles of published APIs where there are none.
//!
//! | module | what it proves |
//! |---|---|
//! | `messages` | messages go out, once, where a person agreed to; a real mail server takes one |
//! | `speech` | espeak-ng speaks without any key; every service is asked in its own words |
//! | `looking` | pictures are looked at by the model that is meant for it, or not at all |
//! | `making` | pictures and films are made, waited for and paid for only when somebody agrees |
//! | `listening` | recordings become text, by services and by programs; the SDK of a vendor agrees with the doubles |

#![expect(clippy::disallowed_methods, reason = "a test brings its own servers and home")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of tests fail like tests, and say what they left out"
)]

mod listening;
mod looking;
mod making;
mod messages;
mod server;
mod speech;

use hermes::guard::Mode;
use hermes::store::Home;
use hermes::{Runtime, ToolCall};
use serde_json::Value;

/// A runtime in a folder of its own.
fn runtime(config: &str, mode: Mode, variables: &[(&str, &str)]) -> (tempfile::TempDir, Runtime) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.yaml"), config).unwrap();
    let own = ["PATH", "HOME"].map(|name| (name.to_owned(), std::env::var(name).unwrap_or_default()));
    let given = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let env = own.into_iter().chain(given);
    let runtime =
        Runtime::builder().cwd(folder.path()).home(Home::at(&home)).env(env).mode(mode).build().unwrap();
    (folder, runtime)
}

/// What a call answers.
fn call(runtime: &Runtime, tool: &str, arguments: &Value) -> Value {
    let outcome = runtime.call_blocking(ToolCall::new(tool, arguments.to_string()));
    serde_json::from_str(&outcome.body).unwrap()
}

/// What a testbed has left for us in the environment; without it a test says so, and fails in CI.
fn testbed(variable: &str, script: &str) -> Option<String> {
    let found = std::env::var(variable).ok();
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "scripts/testbeds/{script} was not run");
        eprintln!("SKIPPED: scripts/testbeds/{script} was not run");
    }
    found
}
