//! Jobs on the disk, by subject.
//!
//! | module | what it proves |
//! |---|---|
//! | `jobs` | they are kept as the original keeps them |
//! | `claims` | what is due is claimed once, however many look |
//! | `kills` | what was cut off is told, and nothing runs twice |

#![expect(clippy::disallowed_methods, reason = "the tests write the files that the store finds")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod claims;
mod jobs;
mod kills;

use hermes_core::cron::{Draft, Here};
use hermes_core::schedule::moment;
use hermes_store::cron::{Claimed, Ended, Outcome};
use hermes_store::{CronHome, Home};
use jiff::tz::TimeZone;
use serde_json::Value;

struct Place {
    dir: tempfile::TempDir,
    home: CronHome,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let home = CronHome::of(&Home::at(dir.path()));
    Place { dir, home }
}

impl Place {
    fn file(&self) -> std::path::PathBuf {
        self.dir.path().join("cron/jobs.json")
    }

    fn json(&self) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.file()).unwrap()).unwrap()
    }

    fn look(&self, who: &str, at: &str) -> Claimed {
        self.home.claim_due(&self.home.worker(who).unwrap(), &here(at)).unwrap()
    }
}

fn here(at: &str) -> Here {
    Here { now: moment(at, &TimeZone::UTC).unwrap(), zone: TimeZone::UTC }
}

fn draft(schedule: &str, name: &str) -> Draft {
    Draft {
        schedule: Some(schedule.to_owned()),
        prompt: Some("Look at the news".to_owned()),
        name: Some(name.to_owned()),
        ..Draft::default()
    }
}

const NINE: &str = "2026-11-16T09:00:00Z";
const TEN: &str = "2026-11-16T10:00:00Z";

/// A job that is due at ten, as somebody else may have written it.
const INTERVAL: &str = r#"{"id":"bbbbbbbbbbbb","name":"n","prompt":"p","strange":{"a":1},"schedule":{"kind":"interval","minutes":60,"display":"every 60m"},"repeat":{"times":5,"completed":0},"next_run_at":"2026-11-16T10:00:00+00:00"}"#;

/// The end of a run that went well.
fn well() -> Ended {
    Ended { outcome: Outcome::Ok, error: None, model: None, output: None, delivery_error: None }
}
