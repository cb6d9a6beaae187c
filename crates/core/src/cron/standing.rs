//! How a job stands: what runs change of it, and nothing that people do.
//!
//! What a run changes is kept apart for a moment before it stands in `jobs.json`. Meanwhile somebody may
//! have changed the job there. What they changed stays as they want it; the rest is brought up to date.

use serde::{Deserialize, Serialize};

use super::job::{Job, State};

/// What runs change of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    waits: Waits,
    last: Last,
    missed_at: Option<String>,
    completed: u64,
}

/// What it waits for. These belong together: a time without its state would mean something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Waits {
    enabled: bool,
    state: State,
    next_run_at: Option<String>,
    paused_at: Option<String>,
    paused_reason: Option<String>,
}

/// How its last run went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Last {
    run_at: Option<String>,
    status: Option<String>,
    error: Option<String>,
    delivery_error: Option<String>,
}

impl Standing {
    /// How a job stands.
    pub fn of(job: &Job) -> Self {
        Self {
            waits: Waits {
                enabled: job.enabled,
                state: job.state,
                next_run_at: job.next_run_at.clone(),
                paused_at: job.paused_at.clone(),
                paused_reason: job.paused_reason.clone(),
            },
            last: Last {
                run_at: job.last_run_at.clone(),
                status: job.last_status.clone(),
                error: job.last_error.clone(),
                delivery_error: job.last_delivery_error.clone(),
            },
            missed_at: job.last_missed_at.clone(),
            completed: job.repeat.completed,
        }
    }

    /// The standing of a job that runs have brought from one standing to another: each part of it that is as
    /// it was before is as it is after, and a part that somebody else has changed stays.
    pub fn carried(mut self, before: &Self, after: &Self) -> Self {
        fn carry<T: Clone + PartialEq>(here: &mut T, before: &T, after: &T) {
            if here == before {
                here.clone_from(after);
            }
        }
        carry(&mut self.waits, &before.waits, &after.waits);
        carry(&mut self.last, &before.last, &after.last);
        carry(&mut self.missed_at, &before.missed_at, &after.missed_at);
        carry(&mut self.completed, &before.completed, &after.completed);
        self
    }

    /// Lets a job stand so.
    pub fn give(self, job: &mut Job) {
        let Self { waits, last, missed_at, completed } = self;
        (job.enabled, job.state, job.next_run_at) = (waits.enabled, waits.state, waits.next_run_at);
        (job.paused_at, job.paused_reason) = (waits.paused_at, waits.paused_reason);
        (job.last_run_at, job.last_status, job.last_error) = (last.run_at, last.status, last.error);
        job.last_delivery_error = last.delivery_error;
        job.last_missed_at = missed_at;
        job.repeat.completed = completed;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(next: &str) -> Job {
        serde_json::from_value(json!({
            "id": "a", "schedule": { "kind": "interval", "minutes": 5 }, "next_run_at": next,
            "repeat": { "times": 3, "completed": 1 },
        }))
        .unwrap()
    }

    /// The job, brought from nine to ten by a run.
    fn after_a_run(mut found: Job) -> Job {
        let (before, mut ran) = (job("nine"), job("ten"));
        ran.last_status = Some("ok".to_owned());
        ran.repeat.completed = 2;
        Standing::of(&found).carried(&Standing::of(&before), &Standing::of(&ran)).give(&mut found);
        found
    }

    #[test]
    fn what_a_run_changed_is_carried_over_once() {
        let once = after_a_run(job("nine"));

        assert_eq!((once.next_run_at.as_deref(), once.repeat.completed), (Some("ten"), 2));
        assert_eq!(once.last_status.as_deref(), Some("ok"));
        assert_eq!(after_a_run(once.clone()), once);
    }

    #[test]
    fn what_somebody_else_changed_stays() {
        let paused = Job { enabled: false, state: State::Paused, ..job("nine") };
        let moved = Job { prompt: "other".to_owned(), ..job("noon") };

        let (paused, moved) = (after_a_run(paused), after_a_run(moved));

        assert_eq!((paused.state, paused.next_run_at.as_deref()), (State::Paused, Some("nine")));
        assert_eq!((moved.next_run_at.as_deref(), moved.prompt.as_str()), (Some("noon"), "other"));
        assert_eq!((moved.repeat.completed, paused.last_status.as_deref()), (2, Some("ok")));
    }

    #[test]
    fn a_standing_is_kept_as_text() {
        let standing = Standing::of(&Job { state: State::Error, ..job("nine") });

        let text = serde_json::to_string(&standing).unwrap();

        assert_eq!(serde_json::from_str::<Standing>(&text).unwrap(), standing);
    }
}
