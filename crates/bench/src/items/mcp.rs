//! `mcp`: a call of a server's tool through the whole road, without and with a record of calls, and a bare
//! pipe to the very same process; four calls of a second at once; and a server by itself, in the numbers that
//! other implementations print.
//!
//! What a round trip takes depends on where the system lets its two ends run: a bare pipe takes four times as
//! long between two processors as on one, and the system moves the ends from one moment to the next. So the
//! ways are compared where chance has no part: with everything on one processor, where nobody has to be woken
//! and the work of the road itself is seen; and in turns, as the system lets them run. What either takes by
//! itself is told as well (`free_`), and compared with nothing.

use std::path::Path;
use std::time::Duration;

use hermes::store::Home;
use hermes::{RuntimeBuilder, Session, ToolCall};
use serde_json::json;

use crate::item::{ItemDef, Numbers, Work, called, worked};
use crate::process::{self, PingPong};
use crate::servers;
use crate::timing::{Pairs, batch, median, micros, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("mcp", measure);

/// Servers, one after the other.
const SERVERS: u32 = 5;

/// Calls per batch, and batches of either way, by themselves and in turns. Many short ones: both ways of a
/// pair meet the machine in the same state.
const CALLS: u32 = 50;
const ROUNDS: u32 = 12;

fn measure(work: &Work) -> Result<Numbers, String> {
    let script = servers::script(work)?;
    let mut pinned = process::on_one_processor(|| Ways::measured(work, &script))??;
    let mut free = Ways::measured(work, &script)?;
    let (bare, echo, recorded) = pinned.times();
    let (free_bare, free_echo, free_recorded) = free.times();
    let mut numbers = vec![
        ("echo_us", micros(echo)),
        ("bare_us", micros(bare)),
        ("echo_ratio", echo.as_secs_f64() / bare.as_secs_f64()),
        ("recorded_us", micros(recorded)),
        ("recorded_ratio", recorded.as_secs_f64() / bare.as_secs_f64()),
        ("echo_in_turns_ratio", free.echo.turns.ratio()),
        ("recorded_in_turns_ratio", free.recorded.turns.ratio()),
        ("free_echo_us", micros(free_echo)),
        ("free_bare_us", micros(free_bare)),
        ("free_recorded_us", micros(free_recorded)),
        ("four_calls_s", four_calls(work, &script)?.as_secs_f64()),
    ];
    numbers.extend(servers::numbers(work, &script)?);
    Ok(numbers)
}

/// Both ways of a call, without and with a record of calls.
#[derive(Default)]
struct Ways {
    echo: Measured,
    recorded: Measured,
}

/// Batches of calls: of the road and of the bare pipe by themselves, and of both in turns.
#[derive(Default)]
struct Measured {
    road: Vec<Duration>,
    bare: Vec<Duration>,
    turns: Pairs,
}

impl Ways {
    /// Measured with new servers, each with a runtime of its own.
    fn measured(work: &Work, script: &Path) -> Result<Self, String> {
        let mut ways = Self::default();
        for _ in 0..SERVERS {
            echoed(work, "mcp-recorded", script, RuntimeBuilder::record_calls, &mut ways.recorded)?;
            echoed(work, "mcp", script, |builder| builder, &mut ways.echo)?;
        }
        Ok(ways)
    }

    /// What a round trip takes by itself: of the bare pipe, of the road, and of the road with a record.
    fn times(&mut self) -> (Duration, Duration, Duration) {
        let mut bare = [&self.echo.bare[..], &self.recorded.bare[..]].concat();
        (median(&mut bare), median(&mut self.echo.road), median(&mut self.recorded.road))
    }
}

/// Measures the quick tool of a new server, and a bare pipe to that server.
fn echoed(
    work: &Work,
    home: &str,
    script: &Path,
    with: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
    measured: &mut Measured,
) -> Result<(), String> {
    let home = Home::at(&work.folder.join(format!("home-{home}")));
    let pipes = home.path().join("bare");
    let runtime = servers::runtime(work, &home, &servers::python(script, &[&pipes]), with)?;
    runtime.mcp().ready_blocking();
    let session = runtime.session().open().map_err(|wrong| wrong.to_string())?;
    compared(&session, &pipes, measured)
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

/// Four calls of a second to one server, at once.
fn four_calls(work: &Work, script: &Path) -> Result<Duration, String> {
    let home = Home::at(&work.folder.join("home-mcp"));
    let runtime = servers::runtime(work, &home, &servers::python(script, &[]), |builder| builder)?;
    runtime.mcp().ready_blocking();
    let session = runtime.session().open().map_err(|wrong| wrong.to_string())?;
    let calls = (0..4).map(|n| ToolCall::new("mcp__bench__slow", json!({ "n": n }).to_string())).collect();
    let (outcomes, took) = timed(|| session.batch_blocking(calls));
    outcomes.into_iter().try_for_each(|outcome| worked(outcome).map(drop))?;
    Ok(took)
}
