//! `dispatch`: a call of a tool that does nothing.
//!
//! There is one road, so every number here is a full call: arguments read from text, coerced and
//! checked, hooks, policy, deadline, result shaped. They differ in who calls.

use hermes::{Session, ToolCall};
use hermes_bench::subject::{NOOP, NOOP_BLOCKING, call};
use tokio::runtime::Builder;

use crate::item::{ItemDef, Numbers, Work, worked};
use crate::timing::{micros, nanos, per_call, per_second};

pub(crate) const ITEM: ItemDef = ItemDef::new("dispatch", measure);

fn measure(work: &Work) -> Result<Numbers, String> {
    let session = work.session(&ITEM)?;
    let threads = Builder::new_current_thread().build().map_err(|wrong| wrong.to_string())?;
    let blocking = |call: ToolCall| worked(session.call_blocking(call)).map(drop);

    let sync = per_call(2_000, || blocking(call(&NOOP)))?;
    let inside = threads.block_on(async { per_call(2_000, || blocking(call(&NOOP))) })?;
    let off_thread = per_call(200, || blocking(call(&NOOP_BLOCKING)))?;
    // A whole batch of calls is awaited at a time, so that entering the runtime is not what counts.
    let asynchronous = per_call(20, || threads.block_on(awaited(&session, 100)))? / 100;
    Ok(vec![
        ("sync_ns", nanos(sync)),
        ("sync_calls_per_s", per_second(sync)),
        ("async_ns", nanos(asynchronous)),
        ("async_calls_per_s", per_second(asynchronous)),
        ("async_in_loop_us", micros(inside)),
        ("handle_function_call_us", micros(sync)),
        ("blocking_handler_us", micros(off_thread)),
    ])
}

async fn awaited(session: &Session, calls: u32) -> Result<(), String> {
    for _ in 0..calls {
        worked(session.call(call(&NOOP)).await)?;
    }
    Ok(())
}
