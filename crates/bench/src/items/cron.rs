//! `cron`: a look at ten thousand jobs: when none is due, when one is, and when the file is new to it.

use std::time::Duration;

use hermes::core::cron::{Draft, Here, Step};
use hermes::core::schedule::moment;
use hermes::cron::TimeZone;
use hermes::store::cron::{Claimed, Ended, Outcome, Worker};
use hermes::store::{CronHome, Home};
use serde_json::{Value, json};

use crate::item::{ItemDef, Numbers, Work};
use crate::process;
use crate::timing::{median, millis, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("cron", measure);

const JOBS: usize = 10_000;
const LOOKS: usize = 15;

fn measure(work: &Work) -> Result<Numbers, String> {
    let folder = work.folder.join("home-cron");
    process::remove(&folder)?;
    let home = CronHome::of(&Home::at(&folder));
    fill(&home)?;
    let worker = said(home.worker("bench"))?;
    let here = here()?;
    let look = || said(home.claim_due(&worker, &here));
    look()?;
    let file = home.folder().join("jobs.json");
    let (mut idle, mut cold, mut due) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..LOOKS {
        idle.push(looked(look, 0)?);
        // Written by somebody else: what was known about it is void.
        process::keep(&file, &process::text(&file)?)?;
        cold.push(looked(look, 0)?);
        said(home.change(&format!("job {n}"), Step::RunSoon, &here))?;
        due.push(one_due(&home, &worker, &here)?);
    }
    Ok(vec![
        ("tick_ms", median(&mut idle)),
        ("cold_tick_ms", median(&mut cold)),
        ("due_tick_ms", median(&mut due)),
    ])
}

/// A morning in November 2026.
fn here() -> Result<Here, String> {
    let now = moment("2026-11-16T09:00:00Z", &TimeZone::UTC).ok_or("that is no time")?;
    Ok(Here { now, zone: TimeZone::UTC })
}

/// Milliseconds of a look that must find so many jobs.
fn looked(look: impl FnOnce() -> Result<Claimed, String>, expected: usize) -> Result<f64, String> {
    let (found, took): (Result<Claimed, String>, Duration) = timed(look);
    let count = found?.claims.len();
    if count == expected { Ok(millis(took)) } else { Err(format!("{count} jobs were due, not {expected}")) }
}

/// The same where one is due, which is ended again.
fn one_due(home: &CronHome, worker: &Worker, here: &Here) -> Result<f64, String> {
    let took = looked(|| said(home.claim_due(worker, here)), 1)?;
    let runs = said(home.runs())?;
    let end = Ended { outcome: Outcome::Ok, error: None, model: None, output: None, delivery_error: None };
    for run in said(runs.open())? {
        said(runs.ended(&run.id, &end, here.now))?;
    }
    Ok(took)
}

/// Ten thousand jobs that are due later, as the program itself would write them.
fn fill(home: &CronHome) -> Result<(), String> {
    let draft = Draft {
        schedule: Some("0 9 1 1 *".to_owned()),
        prompt: Some("Look at the build of the main branch and tell what is broken and why".to_owned()),
        ..Draft::default()
    };
    let job = said(draft.into_job("0".repeat(12), &here()?))?;
    let mut one = said(serde_json::to_value(&job))?;
    let jobs: Vec<Value> = (0..JOBS)
        .map(|n| {
            if let Some(fields) = one.as_object_mut() {
                fields.insert("id".to_owned(), json!(format!("{n:012x}")));
                fields.insert("name".to_owned(), json!(format!("job {n}")));
            }
            one.clone()
        })
        .collect();
    process::make(home.folder())?;
    process::keep(
        &home.folder().join("jobs.json"),
        &said(serde_json::to_string_pretty(&json!({ "jobs": jobs })))?,
    )
}

fn said<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|wrong| wrong.to_string())
}
