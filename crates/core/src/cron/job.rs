//! A job as it is kept: the fields of the original's `jobs.json`, and whatever else stands there.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::JobError;
use crate::schedule::{self, CronExpr, Misfire, Schedule, ScheduleError, moment, written};

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Twelve hexadecimal digits.
    pub id: String,
    /// What people call it.
    #[serde(default)]
    pub name: String,
    /// What the agent is asked.
    #[serde(default, deserialize_with = "or_default")]
    pub prompt: String,
    /// Skills that the prompt begins with.
    #[serde(default, deserialize_with = "or_default")]
    pub skills: Vec<String>,
    /// The first of them, for older readers.
    #[serde(default)]
    pub skill: Option<String>,
    /// The model, instead of the configured one.
    #[serde(default)]
    pub model: Option<String>,
    /// Its provider.
    #[serde(default)]
    pub provider: Option<String>,
    /// Where that provider is reached.
    #[serde(default)]
    pub base_url: Option<String>,
    /// A script below `scripts/` that runs first; what it prints goes to the agent.
    #[serde(default)]
    pub script: Option<String>,
    /// What the script prints is the answer; no model is asked.
    #[serde(default, deserialize_with = "or_default")]
    pub no_agent: bool,
    /// Jobs whose last answers the agent is shown.
    #[serde(default, deserialize_with = "texts")]
    pub context_from: Vec<String>,
    /// When it runs.
    pub schedule: StoredSchedule,
    /// The same for people.
    #[serde(default)]
    pub schedule_display: String,
    /// How often it runs.
    #[serde(default, deserialize_with = "or_default")]
    pub repeat: Repeat,
    /// Whether it runs at all.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How it stands.
    #[serde(default)]
    pub state: State,
    /// Since when it is paused.
    #[serde(default)]
    pub paused_at: Option<String>,
    /// Why.
    #[serde(default)]
    pub paused_reason: Option<String>,
    /// When it was made.
    #[serde(default)]
    pub created_at: Option<String>,
    /// When it is due.
    #[serde(default)]
    pub next_run_at: Option<String>,
    /// When it last ran.
    #[serde(default)]
    pub last_run_at: Option<String>,
    /// How that ended: `ok` or `error`.
    #[serde(default)]
    pub last_status: Option<String>,
    /// What went wrong.
    #[serde(default)]
    pub last_error: Option<String>,
    /// Why its answer did not arrive everywhere.
    #[serde(default)]
    pub last_delivery_error: Option<String>,
    /// Where its answer goes.
    #[serde(default = "local", deserialize_with = "target")]
    pub deliver: String,
    /// The conversation it comes from.
    #[serde(default)]
    pub origin: Option<Value>,
    /// The toolsets or tools it has, instead of the platform's.
    #[serde(default)]
    pub enabled_toolsets: Option<Vec<String>>,
    /// The folder it works in.
    #[serde(default)]
    pub workdir: Option<String>,
    /// Whether its answer belongs to the conversation it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attach_to_session: Option<bool>,
    /// The time zone its schedule is meant in, instead of the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// What becomes of missed times: a word of [`Misfire`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misfire: Option<String>,
    /// The last time that was missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_missed_at: Option<String>,
    /// What we do not know stays as it is.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Option<String>", rename_all = "snake_case")]
pub enum State {
    /// It waits for its time.
    #[default]
    Scheduled,
    /// It waits until somebody resumes it.
    Paused,
    /// It has run as often as it should.
    Completed,
    /// Its schedule cannot be read.
    Error,
}

impl State {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Error => "error",
        }
    }
}

impl From<Option<String>> for State {
    /// A word that is not known does not keep a job from running.
    fn from(word: Option<String>) -> Self {
        let all = [Self::Paused, Self::Completed, Self::Error];
        all.into_iter().find(|state| Some(state.word()) == word.as_deref()).unwrap_or_default()
    }
}

/// How often a job runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Repeat {
    /// So many times; nothing for always.
    #[serde(default)]
    pub times: Option<u64>,
    /// How often it has run.
    #[serde(default)]
    pub completed: u64,
}

/// A schedule as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredSchedule {
    /// `once`, `interval` or `cron`.
    pub kind: String,
    /// The moment of `once`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_at: Option<String>,
    /// The minutes of `interval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
    /// The fields of `cron`, in numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expr: Option<String>,
    /// The same for people.
    #[serde(default)]
    pub display: String,
    /// What we do not know stays as it is.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl StoredSchedule {
    /// A schedule, to be kept.
    pub fn new(schedule: &Schedule, display: &str, zone: &TimeZone) -> Self {
        let mut kept = Self {
            kind: String::new(),
            run_at: None,
            minutes: None,
            expr: None,
            display: display.to_owned(),
            rest: Map::new(),
        };
        let kind = match schedule {
            Schedule::Once(at) => {
                kept.run_at = Some(written(*at, zone));
                "once"
            }
            Schedule::Every(minutes) => {
                kept.minutes = Some(*minutes);
                "interval"
            }
            Schedule::Cron(expression) => {
                kept.expr = Some(expression.numeric().to_owned());
                "cron"
            }
        };
        kind.clone_into(&mut kept.kind);
        kept
    }

    /// What was kept.
    pub fn schedule(&self, zone: &TimeZone) -> Result<Schedule, ScheduleError> {
        let unreadable = || ScheduleError::Unreadable(format!("{}: {}", self.kind, self.display));
        match self.kind.as_str() {
            "once" => {
                let at = self.run_at.as_deref().and_then(|text| moment(text, zone));
                at.map(Schedule::Once).ok_or_else(unreadable)
            }
            "interval" => {
                self.minutes.filter(|minutes| *minutes > 0).map(Schedule::Every).ok_or_else(unreadable)
            }
            "cron" => {
                let expression = CronExpr::parse(self.expr.as_deref().ok_or_else(unreadable)?)?;
                Ok(Schedule::Cron(Box::new(expression)))
            }
            _ => Err(unreadable()),
        }
    }
}

impl Job {
    /// The zone its times are meant in.
    pub fn zone(&self, default: &TimeZone) -> Result<TimeZone, ScheduleError> {
        self.timezone.as_deref().map_or_else(|| Ok(default.clone()), schedule::zone)
    }

    /// What becomes of missed times; an unknown word means what is usual.
    pub fn misfire(&self) -> Misfire {
        self.misfire.as_deref().and_then(|word| word.parse().ok()).unwrap_or_default()
    }

    /// When it is due, if it waits for its time.
    pub fn due_at(&self, default: &TimeZone) -> Option<Timestamp> {
        let zone = self.zone(default).ok()?;
        self.waits().then(|| self.next_run_at.as_deref().and_then(|text| moment(text, &zone))).flatten()
    }

    /// Whether it waits for its time.
    pub fn waits(&self) -> bool {
        self.enabled && self.state == State::Scheduled
    }

    /// Where its answer goes, one by one.
    pub fn targets(&self) -> Vec<&str> {
        self.deliver.split(',').map(str::trim).filter(|target| !target.is_empty()).collect()
    }

    /// It does not run until it is resumed.
    pub fn pause(&mut self, now: Timestamp, zone: &TimeZone, reason: Option<String>) -> Result<(), JobError> {
        if self.state == State::Completed {
            return Err(JobError::Invalid(format!("`{}` has run as often as it should", self.name)));
        }
        self.enabled = false;
        self.state = State::Paused;
        self.paused_at = Some(written(now, zone));
        self.paused_reason = reason;
        Ok(())
    }

    /// It waits for its next time from now on.
    pub fn resume(&mut self, now: Timestamp, default: &TimeZone) -> Result<(), JobError> {
        let zone = self.zone(default)?;
        let next = self.schedule.schedule(&zone)?.next(now, &zone);
        let next = next.ok_or_else(|| {
            JobError::Invalid(format!("`{}` has no time left to run at; give it a new schedule", self.name))
        })?;
        self.waits_until(Some(next), &zone);
        Ok(())
    }

    /// It is due now.
    pub fn run_soon(&mut self, now: Timestamp, default: &TimeZone) -> Result<(), JobError> {
        let zone = self.zone(default)?;
        self.waits_until(Some(now), &zone);
        Ok(())
    }

    /// It waits for this time; without one it is done.
    pub fn waits_until(&mut self, next: Option<Timestamp>, zone: &TimeZone) {
        self.next_run_at = next.map(|next| written(next, zone));
        self.enabled = next.is_some();
        self.state = if next.is_some() { State::Scheduled } else { State::Completed };
        self.paused_at = None;
        self.paused_reason = None;
    }

    /// A run of it has ended; without an error it went well.
    pub fn ended(
        &mut self,
        at: Timestamp,
        default: &TimeZone,
        error: Option<String>,
        undelivered: Option<String>,
    ) {
        let zone = self.zone(default).unwrap_or_else(|_| default.clone());
        self.last_run_at = Some(written(at, &zone));
        self.last_status = Some(if error.is_some() { "error" } else { "ok" }.to_owned());
        self.last_error = error;
        self.last_delivery_error = undelivered;
    }

    /// One of the times it is to run is over; after the last of them it is done.
    pub fn count(&mut self, default: &TimeZone) {
        let zone = self.zone(default).unwrap_or_else(|_| default.clone());
        self.repeat.completed += 1;
        if self.repeat.times.is_some_and(|times| self.repeat.completed >= times) {
            self.waits_until(None, &zone);
        }
    }
}

fn yes() -> bool {
    true
}

fn local() -> String {
    "local".to_owned()
}

/// `null` is as good as nothing.
fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// One text or a list of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Several(Vec<String>),
}

impl Texts {
    fn list(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Several(several) => several,
        }
    }
}

fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::<Texts>::deserialize(from)?.map(Texts::list).unwrap_or_default())
}

fn target<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Option::<Texts>::deserialize(from)?.map_or_else(local, |texts| texts.list().join(",")))
}
