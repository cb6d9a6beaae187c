//! Runs in words.

use hermes::store::cron::{Outcome, Run};

use crate::command::Failure;
use crate::shell::Shell;
use crate::table::{Cell, Tone};

/// A table of runs, or the same as JSON.
pub(crate) fn table(shell: &Shell, runs: &[Run]) -> Result<(), Failure> {
    if shell.out.wants_json() {
        return shell.out.json(&runs);
    }
    if runs.is_empty() {
        return shell.out.line("no runs");
    }
    let rows: Vec<Vec<Cell>> = runs.iter().map(row).collect();
    shell.out.table(&["JOB", "DUE", "OUTCOME", "NAME", "WHAT"], &rows)
}

fn row(run: &Run) -> Vec<Cell> {
    let tone = match run.outcome {
        Some(Outcome::Ok | Outcome::Nothing) => Tone::Good,
        Some(_) => Tone::Bad,
        None => Tone::Plain,
    };
    let due = run.scheduled_for.as_deref().or(run.claimed_at.as_deref()).unwrap_or("-");
    vec![
        Cell::new(&run.job_id).tone(Tone::Strong),
        Cell::new(due),
        Cell::new(outcome(run)).tone(tone),
        Cell::new(run.job_name.as_deref().unwrap_or_default()),
        Cell::new(what(run)),
    ]
}

/// How it ended, in a word.
pub(crate) fn outcome(run: &Run) -> String {
    let word = match run.outcome {
        Some(outcome) => outcome.word(),
        None => run.status.as_str(),
    };
    match run.late_seconds {
        Some(late) => format!("{word}, {} min late", late / 60),
        None => word.to_owned(),
    }
}

/// What there is to know about it.
fn what(run: &Run) -> String {
    let missed = run.missed_count.filter(|count| *count > 1).map(|count| format!("{count} times"));
    let parts = [missed, run.error.clone(), run.delivery_error.clone(), run.output.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// One line about a run.
pub(crate) fn line(run: &Run) -> String {
    let name = run.job_name.as_deref().unwrap_or_default();
    let what = what(run);
    let model = run.model.as_deref().map(|model| format!(" by {model}")).unwrap_or_default();
    let about = if what.is_empty() { String::new() } else { format!(": {what}") };
    format!("{} `{name}` {}{model}{about}", run.job_id, outcome(run))
}

/// Whether it did not do what it should: its answer arrives, too.
pub(crate) fn went_wrong(run: &Run) -> bool {
    !matches!(run.outcome, Some(Outcome::Ok | Outcome::Nothing) | None) || run.delivery_error.is_some()
}
