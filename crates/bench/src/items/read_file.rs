//! `read_file`: pages of a file of 100 000 lines, from its start, its end and anywhere.

use std::path::Path;

use hermes::{Session, ToolCall};
use serde_json::{Value, json};

use crate::item::{ItemDef, Numbers, Work, called, with_path, worked};
use crate::timing::{median, millis, over_each, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("read_file", measure);

/// Lines of the file that a page may start at.
const LAST: u64 = 98_000;

/// Calls of one answer.
const AT_ONCE: u64 = 8;

/// Answers.
const BATCHES: u64 = 5;

fn measure(work: &Work) -> Result<Numbers, String> {
    let file = work.data("big.txt")?;
    let session = work.session(&ITEM)?;
    let page = |first: u64| called(&session, "read_file", &arguments(&file, first));
    let pages = |firsts: &mut dyn Iterator<Item = u64>| over_each(firsts, |first| page(first).map(drop));

    let length = page(77)?.body.len();
    Ok(vec![
        ("start_ms", millis(pages(&mut (1..=20))?)),
        ("random_ms", millis(pages(&mut scattered(60, 9))?)),
        ("end_ms", millis(pages(&mut (97_000..97_020))?)),
        ("parallel8_ms_per_call", parallel(&session, &file)?),
        ("result_bytes", f64::from(u32::try_from(length).unwrap_or(u32::MAX))),
    ])
}

fn arguments(file: &Path, first: u64) -> Value {
    with_path(json!({ "offset": first, "limit": 2_000 }), file)
}

/// Numbers of lines all over the file, the same in every run.
fn scattered(count: u64, seed: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |at| (at + seed * 1_000).wrapping_mul(0x9E37_79B9_7F4A_7C15) % LAST + 1)
}

/// Milliseconds per call when one answer asks for several pages.
fn parallel(session: &Session, file: &Path) -> Result<f64, String> {
    let mut times = Vec::new();
    for batch in 0..BATCHES {
        let call = |first| ToolCall::new("read_file", arguments(file, first).to_string());
        let calls: Vec<ToolCall> = scattered(AT_ONCE, 100 + batch).map(call).collect();
        let (outcomes, took) = timed(|| session.batch_blocking(calls));
        outcomes.into_iter().try_for_each(|outcome| worked(outcome).map(drop))?;
        times.push(millis(took) / f64::from(u32::try_from(AT_ONCE).unwrap_or(1)));
    }
    Ok(median(&mut times))
}
