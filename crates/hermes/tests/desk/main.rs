//! Tools that work on what is kept here and on the screen beside it: the task board, projects, terminals
//! that another program shows, mouse and keyboard.

#![expect(clippy::disallowed_methods, reason = "tests with real homes, servers and programs")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers are part of the tests"
)]

mod board;
mod panes;
mod projects;
mod screen;

use hermes::store::Home;
use hermes::{Runtime, Session, Status, ToolCall};
use serde_json::Value;

/// A runtime in a home with this configuration and these variables.
fn runtime(home: &tempfile::TempDir, config: &str, variables: &[(&str, &str)]) -> Runtime {
    std::fs::write(home.path().join("config.yaml"), config).unwrap();
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let builder = Runtime::builder().cwd(home.path()).home(Home::at(home.path())).env(variables);
    builder.mode(hermes::guard::Mode::Off).build().unwrap()
}

/// The answer of a call, and whether the tool did what was asked.
fn call(session: &Session, tool: &str, arguments: &Value) -> (Status, Value) {
    let outcome = session.call_blocking(ToolCall::new(tool, arguments.to_string()));
    (outcome.status, plain(&outcome.body))
}

/// What a tool said, without the mark that strangers may have had a part in it.
fn plain(body: &str) -> Value {
    let mut said: Value = serde_json::from_str(body).unwrap();
    if said["untrusted"] == true { said["data"].take() } else { said }
}

/// The answer of a call that must work.
fn done(session: &Session, tool: &str, arguments: &Value) -> Value {
    let (status, body) = call(session, tool, arguments);
    assert!(status.is_ok(), "{tool} {arguments}: {body}");
    body
}

/// Why a call did not work.
fn refused(session: &Session, tool: &str, arguments: &Value) -> String {
    let (status, body) = call(session, tool, arguments);
    assert!(!status.is_ok(), "{tool} {arguments}: {body}");
    body["error"].as_str().unwrap_or_default().to_owned()
}

/// The tools of a session whose names begin like this.
fn offered(session: &Session, beginning: &str) -> Vec<String> {
    let toolbox = session.toolbox_blocking();
    let all = toolbox.offered().iter().chain(toolbox.deferred()).map(|tool| tool.name().to_string());
    let mut names: Vec<String> = all.filter(|name| name.starts_with(beginning)).collect();
    names.sort();
    names
}
