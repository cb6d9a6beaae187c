//! `cron`: a look at ten thousand jobs: when none is due, when one or a hundred are, and when somebody else
//! has written the file. What is left for after the look, the end of a run and the writing of the file, is
//! told beside it.

use std::time::Duration;

use hermes::core::cron::{Draft, Here, Step};
use hermes::core::schedule::moment;
use hermes::cron::TimeZone;
use hermes::store::cron::{Claimed, Ended, Outcome};
use hermes::store::{CronHome, Home};
use serde_json::{Value, json};

use crate::item::{ItemDef, Numbers, Work};
use crate::process;
use crate::timing::{median, millis, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("cron", measure);

const JOBS: usize = 10_000;
const LOOKS: usize = 15;
const MANY: usize = 100;

fn measure(work: &Work) -> Result<Numbers, String> {
    let folder = work.folder.join("home-cron");
    process::remove(&folder)?;
    let home = CronHome::of(&Home::at(&folder));
    fill(&home)?;
    let worker = said(home.worker("bench"))?;
    let here = here()?;
    let look = || said(home.claim_due(&worker, &here));
    look()?;
    let mut times: [Vec<f64>; 6] = Default::default();
    for n in 0..LOOKS {
        let [idle, changed, one, many, end, fold] = &mut times;
        idle.push(looked(look, 0)?.0);
        // Written by somebody else: what was known about it is void.
        due_now(&home, 0)?;
        changed.push(looked(look, 0)?.0);
        // One from the end: the hundred are taken from the front.
        said(home.change(&format!("job {}", JOBS - 2 - n), Step::RunSoon, &here))?;
        let (took, found) = looked(look, 1)?;
        one.push(took);
        end.push(ended(&home, &found, &here)?);
        fold.push(said_in(|| home.fold(&here))?);
        due_now(&home, MANY)?;
        said(home.change("job 9999", Step::Pause(None), &here))?;
        let (took, found) = looked(look, MANY)?;
        many.push(took);
        ended(&home, &found, &here)?;
        said(home.fold(&here))?;
    }
    let [tick, changed, one, many, end, fold] = times.map(|mut times| median(&mut times));
    Ok(vec![
        ("tick_ms", tick),
        ("changed_tick_ms", changed),
        ("due_tick_ms", one),
        ("hundred_due_tick_ms", many),
        ("run_end_ms", end),
        ("fold_ms", fold),
    ])
}

/// Writes the file anew, as another program would, with so many jobs that are due.
fn due_now(home: &CronHome, count: usize) -> Result<(), String> {
    let file = home.folder().join("jobs.json");
    let text = process::text(&file)?;
    if count == 0 {
        return process::keep(&file, &text);
    }
    let mut jobs: Value = said(serde_json::from_str(&text))?;
    let all = jobs.get_mut("jobs").and_then(Value::as_array_mut).ok_or("there are no jobs")?;
    // Each time other ones: a time of a job is run once.
    let due = all.iter_mut().filter(|job| job.get("last_run_at").is_none_or(Value::is_null)).take(count);
    for fields in due.filter_map(Value::as_object_mut) {
        fields.insert("next_run_at".to_owned(), json!("2026-11-16T09:00:00+00:00"));
    }
    process::keep(&file, &said(serde_json::to_string_pretty(&jobs))?)
}

/// A morning in November 2026.
fn here() -> Result<Here, String> {
    let now = moment("2026-11-16T09:00:00Z", &TimeZone::UTC).ok_or("that is no time")?;
    Ok(Here { now, zone: TimeZone::UTC })
}

/// Milliseconds of a look that must find so many jobs, and what it found.
fn looked(look: impl FnOnce() -> Result<Claimed, String>, expected: usize) -> Result<(f64, Claimed), String> {
    let (found, took): (Result<Claimed, String>, Duration) = timed(look);
    let found = found?;
    let count = found.claims.len();
    if count != expected {
        return Err(format!("{count} jobs were due, not {expected}"));
    }
    Ok((millis(took), found))
}

/// Ends what was found; milliseconds for each.
fn ended(home: &CronHome, found: &Claimed, here: &Here) -> Result<f64, String> {
    let end = Ended { outcome: Outcome::Ok, error: None, model: None, output: None, delivery_error: None };
    let mut times = Vec::new();
    for claim in &found.claims {
        times.push(said_in(|| home.ended(claim, &end, here))?);
    }
    Ok(median(&mut times))
}

/// Milliseconds of some work.
fn said_in<T, E: std::fmt::Display>(work: impl FnOnce() -> Result<T, E>) -> Result<f64, String> {
    let (done, took) = timed(work);
    said(done).map(|_| millis(took))
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
