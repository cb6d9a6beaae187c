//! `mcp`: a call of a server's tool through the whole road, without and with a record of calls, beside the
//! bare pipe to the same program; four calls of a second at once; the start with twenty servers configured.

use std::path::{Path, PathBuf};

use hermes::store::Home;
use hermes::{Runtime, RuntimeBuilder, ToolCall};
use serde_json::{Map, Value, json};

use crate::item::{ItemDef, Numbers, Work, called, worked};
use crate::process::{self, PingPong};
use crate::timing::{micros, millis, side_by_side, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("mcp", measure);

/// Calls per batch.
const CALLS: u32 = 100;

/// A server that says what it is told.
const SERVER: &str = include_str!("../echo_server.py");

/// Starts of one measurement.
const STARTS: u32 = 20;

/// Servers that are configured and not needed.
const MANY: usize = 20;

fn measure(work: &Work) -> Result<Numbers, String> {
    let home = work.folder.join("home-mcp");
    let script = work.folder.join("echo_server.py");
    process::keep(&script, SERVER)?;
    configure(&home, &json!({ "bench": server(&script) }))?;
    let runtime = open(&home, work)?;
    runtime.mcp().ready_blocking();
    let session = runtime.session().open().map_err(|wrong| wrong.to_string())?;
    let text = json!({ "text": "hello" });
    let line = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "echo", "arguments": text, "_meta": { "progressToken": 1 } },
    });
    let line = format!("{line}\n");
    let mut pipe = PingPong::start("python3", &[&script.to_string_lossy()])?;
    // In turns, so that what else the machine does falls on both alike.
    let (road, bare) =
        side_by_side(CALLS, || called(&session, "mcp__bench__echo", &text).map(drop), || pipe.round(&line))?;
    let recording = builder(&home, work).record_calls().build().map_err(|wrong| wrong.to_string())?;
    let recorded = recording.session().open().map_err(|wrong| wrong.to_string())?;
    let (written, beside) =
        side_by_side(CALLS, || called(&recorded, "mcp__bench__echo", &text).map(drop), || pipe.round(&line))?;

    let calls = (0..4).map(|n| ToolCall::new("mcp__bench__slow", json!({ "n": n }).to_string())).collect();
    let (outcomes, four) = timed(|| session.batch_blocking(calls));
    for outcome in outcomes {
        worked(outcome)?;
    }

    let (none, many) = (work.folder.join("home-mcp-none"), work.folder.join("home-mcp-many"));
    configure(&none, &json!({}))?;
    configure(&many, &twenty(&script))?;
    remember(&many, &home)?;
    let start = |home: &PathBuf| open(home, work).map(|runtime| drop(runtime.tools()));
    let (alone, loaded) = side_by_side(STARTS, || start(&none), || start(&many))?;
    Ok(vec![
        ("echo_us", micros(road)),
        ("bare_us", micros(bare)),
        ("echo_ratio", road.as_secs_f64() / bare.as_secs_f64()),
        ("recorded_us", micros(written)),
        ("recorded_ratio", written.as_secs_f64() / beside.as_secs_f64()),
        ("four_calls_s", four.as_secs_f64()),
        ("start_0_ms", millis(alone)),
        ("start_20_ms", millis(loaded)),
    ])
}

fn server(script: &Path) -> Value {
    json!({ "command": "python3", "args": [script] })
}

fn twenty(script: &Path) -> Value {
    let servers: Map<String, Value> = (0..MANY).map(|n| (format!("s{n}"), server(script))).collect();
    Value::Object(servers)
}

/// Makes what is known of one server known of all: they are the same program.
fn remember(many: &Path, one: &Path) -> Result<(), String> {
    let known = process::text(&one.join("mcp/bench.json"))?;
    process::make(&many.join("mcp"))?;
    (0..MANY).try_for_each(|n| process::keep(&many.join(format!("mcp/s{n}.json")), &known))
}

fn configure(home: &Path, servers: &Value) -> Result<(), String> {
    process::make(home)?;
    let text = json!({ "mcp_servers": servers, "mcp_discovery_timeout": 20 }).to_string();
    process::keep(&home.join("config.yaml"), &text)
}

fn open(home: &Path, work: &Work) -> Result<Runtime, String> {
    builder(home, work).build().map_err(|wrong| wrong.to_string())
}

fn builder(home: &Path, work: &Work) -> RuntimeBuilder {
    Runtime::builder().cwd(&work.folder).home(Home::at(home)).env(process::variables())
}
