//! Foreign programs that crash, hang and change while the runtime goes on: each costs its own call,
//! nothing runs twice, and what belongs to others stays.
//!
//! | module | what it proves |
//! |---|---|
//! | `accepted` | plugins of a project with a say, that are not as they were accepted |
//! | `asking` | what hooks of plugins may call, and who is asked about it |
//! | `checks` | checks that hang, take long or end the process |
//! | `clashes` | plugins that want one name, and skills that lie elsewhere |
//! | `deciding` | plugins with a say in what may run, and what follows when they fail |
//! | `handlers` | handlers of tool files that crash, hang, block or answer oddly |
//! | `host` | every call is answered at once by the process that was asked, and costs no other |
//! | `observers` | hooks that nobody waits for, and what they leave behind |
//! | `one_call` | what a program looks at that makes one call of a tool of our own |
//! | `own` | plugins of the home with a say, that are gone |
//! | `packages` | plugins in packages that were installed in place |
//! | `plugins` | what plugins bring, and what is left when one changes |
//! | `secrets` | secrets in what tool files and plugins say of themselves |
//! | `starts` | what is learnt at a start, by whom it is held up, and what later starts know |

#![expect(clippy::disallowed_methods, reason = "the tests write files, and wait for processes")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

mod accepted;
mod asking;
mod checks;
mod clashes;
mod deciding;
mod handlers;
mod host;
mod observers;
mod one_call;
mod own;
mod packages;
mod plugins;
mod secrets;
mod starts;

use std::time::Duration;

use hermes::core::road::RoadLimits;
use hermes::store::Home;
use hermes::{Outcome, Runtime, ToolCall};
use hermes_testkit::TempHome;
use serde_json::Value;

fn runtime(home: &TempHome, call: Duration) -> Runtime {
    let path = std::env::var("PATH").unwrap();
    Runtime::builder()
        .cwd(home.path().join("project"))
        .home(Home::at(&home.path().join("home")))
        .env([("PATH".to_owned(), path), ("HOME".to_owned(), home.path().display().to_string())])
        .limits(RoadLimits { call, ..RoadLimits::default() })
        .build()
        .unwrap()
}

/// Long enough for anything that does not hang, on a busy machine too.
const LONG: Duration = Duration::from_secs(30);

fn call(runtime: &Runtime, tool: &str, arguments: &Value) -> Outcome {
    runtime.call_blocking(ToolCall::new(tool, arguments.to_string()))
}

fn body(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.body).unwrap()
}

/// A tool file with one tool, after these lines.
fn file_with(tool: &str, lines: &str) -> String {
    format!(
        "import json, os, time\nfrom tools.registry import registry\n{lines}\nregistry.register('{tool}', 'mine', \
         {{'name': '{tool}', 'parameters': {{'type': 'object', 'properties': {{}}}}}}, \
         lambda args, **kw: json.dumps({{'from': '{tool}'}}))\n"
    )
}

/// A plugin in Python with this `register(ctx)`.
fn plugin_with(home: &TempHome, name: &str, manifest: &str, body: &str) {
    home.write(&format!("home/plugins/{name}/plugin.yaml"), &format!("name: {name}\n{manifest}"));
    let lines = format!("import json, os, time\n\ndef register(ctx):\n{body}");
    home.write(&format!("home/plugins/{name}/__init__.py"), &lines);
}

/// The lines of `register(ctx)` that bring one tool.
fn tool_lines(tool: &str) -> String {
    format!(
        "    ctx.register_tool(name='{tool}', toolset='{tool}', schema={{'name': '{tool}', 'parameters': \
         {{'type': 'object', 'properties': {{}}}}}}, handler=lambda args, **kw: json.dumps({{'from': '{tool}'}}))\n"
    )
}
