//! `mcp`: a call of a server's tool through the whole road, without and with a record of calls, and a bare
//! pipe to the very same process; four calls of a second at once.
//!
//! Road and bare pipe are measured one after the other, each as it runs by itself, and then in turns, as the
//! system lets caller and server run: on two processors, which have to wake each other, or on one. With all
//! of it on one (`taskset -c 1`), where nobody has to be woken, the work of the road itself is seen.

use std::path::Path;
use std::time::Duration;

use hermes::store::Home;
use hermes::{Runtime, RuntimeBuilder, Session, ToolCall};
use serde_json::{Value, json};

use crate::item::{ItemDef, Numbers, Work, called, worked};
use crate::process::{self, PingPong};
use crate::timing::{Pairs, batch, median, micros, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("mcp", measure);

/// Servers, one after the other.
const SERVERS: u32 = 5;

/// Calls per batch, and batches of either way, by themselves and in turns. Many short ones: both ways of a
/// pair meet the machine in the same state.
const CALLS: u32 = 50;
const ROUNDS: u32 = 12;

/// A server that says what it is told.
const SERVER: &str = include_str!("../echo_server.py");

fn measure(work: &Work) -> Result<Numbers, String> {
    let script = work.folder.join("echo_server.py");
    process::keep(&script, SERVER)?;
    let (home, recording) = (work.folder.join("home-mcp"), work.folder.join("home-mcp-recorded"));
    let (mut echo, mut recorded) = (Measured::default(), Measured::default());
    let mut runtime = None;
    for _ in 0..SERVERS {
        drop(runtime.take());
        drop(echoed(&recording, &script, builder(&recording, work).record_calls(), &mut recorded)?);
        runtime = Some(echoed(&home, &script, builder(&home, work), &mut echo)?);
    }
    let runtime = runtime.ok_or("no server was measured")?;
    let session = runtime.session().open().map_err(|wrong| wrong.to_string())?;

    let calls = (0..4).map(|n| ToolCall::new("mcp__bench__slow", json!({ "n": n }).to_string())).collect();
    let (outcomes, four) = timed(|| session.batch_blocking(calls));
    for outcome in outcomes {
        worked(outcome)?;
    }

    let bare = median(&mut [&echo.bare[..], &recorded.bare[..]].concat());
    let (road, written) = (median(&mut echo.road), median(&mut recorded.road));
    Ok(vec![
        ("echo_us", micros(road)),
        ("bare_us", micros(bare)),
        ("echo_ratio", road.as_secs_f64() / bare.as_secs_f64()),
        ("recorded_us", micros(written)),
        ("recorded_ratio", written.as_secs_f64() / bare.as_secs_f64()),
        ("echo_in_turns_ratio", echo.turns.ratio()),
        ("recorded_in_turns_ratio", recorded.turns.ratio()),
        ("four_calls_s", four.as_secs_f64()),
    ])
}

/// Batches of calls: of the road and of the bare pipe by themselves, and of both in turns.
#[derive(Default)]
struct Measured {
    road: Vec<Duration>,
    bare: Vec<Duration>,
    turns: Pairs,
}

/// Measures the quick tool of a new server of a runtime of this home, and a bare pipe to that server.
fn echoed(
    home: &Path,
    script: &Path,
    builder: RuntimeBuilder,
    measured: &mut Measured,
) -> Result<Runtime, String> {
    let pipes = home.join("bare");
    // What an earlier run learnt of another server does not count.
    process::remove(home)?;
    configure(home, &json!({ "bench": { "command": "python3", "args": [script, pipes] } }))?;
    let runtime = builder.build().map_err(|wrong| wrong.to_string())?;
    runtime.mcp().ready_blocking();
    let session = runtime.session().open().map_err(|wrong| wrong.to_string())?;
    compared(&session, &pipes, measured)?;
    Ok(runtime)
}

/// Bare pipe, road, and both in turns. They lead to one process, which reads from one of them at a time.
fn compared(session: &Session, pipes: &Path, measured: &mut Measured) -> Result<(), String> {
    let mut count = 1000_u32;
    // Each call with other words: what is repeated is remarked upon, and that costs.
    let mut call = |tool: &str| {
        count += 1;
        called(session, tool, &json!({ "text": format!("hello {count}") })).map(drop)
    };
    let (echo, turn) = (line("echo"), line("turn"));
    call("mcp__bench__turn")?;
    let mut pipe = PingPong::open(pipes)?;
    // The first batch of each warms up.
    batch(CALLS, || pipe.round(&echo))?;
    for _ in 0..ROUNDS {
        measured.bare.push(batch(CALLS, || pipe.round(&echo))?);
    }
    pipe.round(&turn)?;
    batch(CALLS, || call("mcp__bench__echo"))?;
    for _ in 0..ROUNDS {
        measured.road.push(batch(CALLS, || call("mcp__bench__echo"))?);
    }
    for _ in 0..ROUNDS {
        let road = batch(CALLS, || call("mcp__bench__echo"))?;
        call("mcp__bench__turn")?;
        measured.turns.push(road, batch(CALLS, || pipe.round(&echo))?);
        pipe.round(&turn)?;
    }
    Ok(())
}

/// A call as the road writes it, for the bare pipe.
fn line(tool: &str) -> String {
    let call = json!({
        "jsonrpc": "2.0", "id": 1_073_741_824, "method": "tools/call",
        "params": { "_meta": { "progressToken": 1_073_741_824 }, "name": tool, "arguments": { "text": "hello 1000" } },
    });
    format!("{call}\n")
}

fn configure(home: &Path, servers: &Value) -> Result<(), String> {
    process::make(home)?;
    let text = json!({ "mcp_servers": servers, "mcp_discovery_timeout": 20 }).to_string();
    process::keep(&home.join("config.yaml"), &text)
}

fn builder(home: &Path, work: &Work) -> RuntimeBuilder {
    Runtime::builder().cwd(&work.folder).home(Home::at(home)).env(process::variables())
}
