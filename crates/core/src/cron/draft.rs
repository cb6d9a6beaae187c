//! What somebody wants of a job: the same wishes make a new one and change one that is there.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::job::{Job, Repeat, State, StoredSchedule};
use super::{JobError, script_path};
use crate::deliver::Target;
use crate::schedule::{self, Misfire, Schedule, Written, parse, written};
use crate::threat;

/// Most characters of a prompt.
const MAX_PROMPT: usize = 100_000;
/// Most characters of a name, and of one that is made from a prompt.
const MAX_NAME: usize = 200;
const MADE_NAME: usize = 50;

/// Wishes; what is not there stays as it is, or as is usual.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// What the agent is asked.
    pub prompt: Option<String>,
    /// When it runs, as people write it.
    pub schedule: Option<String>,
    /// What people call it.
    pub name: Option<String>,
    /// How often it runs; 0 or less for always.
    pub repeat: Option<i64>,
    /// Where its answer goes.
    pub deliver: Option<String>,
    /// Skills that the prompt begins with.
    pub skills: Option<Vec<String>>,
    /// The model; an empty one is the configured one.
    pub model: Option<String>,
    /// Its provider.
    pub provider: Option<String>,
    /// A script that runs first; an empty one is none.
    pub script: Option<String>,
    /// What the script prints is the answer.
    pub no_agent: Option<bool>,
    /// Jobs whose last answers the agent is shown.
    pub context_from: Option<Vec<String>>,
    /// The toolsets or tools it has; none for the platform's.
    pub enabled_toolsets: Option<Vec<String>>,
    /// The folder it works in, absolute; an empty one is where the scheduler stands.
    pub workdir: Option<String>,
    /// Whether its answer belongs to the conversation it comes from.
    pub attach_to_session: Option<bool>,
    /// The time zone its schedule is meant in; an empty one is the configured one.
    pub timezone: Option<String>,
    /// What becomes of missed times.
    pub misfire: Option<Misfire>,
    /// The conversation it comes from.
    pub origin: Option<Value>,
}

/// Where and when something is wished.
#[derive(Debug, Clone)]
pub struct Here {
    /// The time it is.
    pub now: Timestamp,
    /// The zone that is meant where none is named.
    pub zone: TimeZone,
}

impl Draft {
    /// A new job.
    pub fn into_job(self, id: String, here: &Here) -> Result<Job, JobError> {
        if self.schedule.as_deref().is_none_or(|text| text.trim().is_empty()) {
            let how = "schedule is needed: `every 2h`, `0 9 * * mon-fri`, `30m`, or a time";
            return Err(JobError::Invalid(how.to_owned()));
        }
        let mut job = Job {
            id,
            name: String::new(),
            prompt: String::new(),
            skills: Vec::new(),
            skill: None,
            model: None,
            provider: None,
            base_url: None,
            script: None,
            no_agent: false,
            context_from: Vec::new(),
            schedule: StoredSchedule::new(&Schedule::Every(1), "", &here.zone),
            schedule_display: String::new(),
            repeat: Repeat::default(),
            enabled: true,
            state: State::Scheduled,
            paused_at: None,
            paused_reason: None,
            created_at: Some(written(here.now, &here.zone)),
            next_run_at: None,
            last_run_at: None,
            last_status: None,
            last_error: None,
            last_delivery_error: None,
            deliver: "local".to_owned(),
            origin: None,
            enabled_toolsets: None,
            workdir: None,
            attach_to_session: None,
            timezone: None,
            misfire: None,
            last_missed_at: None,
            rest: Map::new(),
        };
        self.apply(&mut job, here)?;
        Ok(job)
    }

    /// Changes a job, whole or not at all.
    pub fn apply(self, job: &mut Job, here: &Here) -> Result<(), JobError> {
        let mut changed = job.clone();
        self.write(&mut changed, here)?;
        check(&changed)?;
        if changed.name.trim().is_empty() {
            changed.name = made_name(&changed);
        }
        *job = changed;
        Ok(())
    }

    fn write(self, job: &mut Job, here: &Here) -> Result<(), JobError> {
        if let Some(prompt) = self.prompt {
            prompt.trim().clone_into(&mut job.prompt);
        }
        if let Some(name) = self.name {
            job.name = name.trim().chars().take(MAX_NAME).collect();
        }
        if let Some(skills) = self.skills {
            job.skills = words(&skills);
            job.skill = job.skills.first().cloned();
        }
        if let Some(deliver) = self.deliver {
            job.deliver = some(&deliver).unwrap_or_else(|| "local".to_owned());
        }
        set(&mut job.model, self.model);
        set(&mut job.provider, self.provider);
        set(&mut job.script, self.script);
        set(&mut job.workdir, self.workdir);
        job.no_agent = self.no_agent.unwrap_or(job.no_agent);
        if let Some(from) = self.context_from {
            job.context_from = words(&from);
        }
        if let Some(toolsets) = self.enabled_toolsets {
            job.enabled_toolsets = Some(words(&toolsets)).filter(|names| !names.is_empty());
        }
        job.attach_to_session = self.attach_to_session.or(job.attach_to_session);
        job.origin = self.origin.or_else(|| job.origin.take());
        if let Some(rule) = self.misfire {
            job.misfire = (rule != Misfire::default()).then(|| rule.word().to_owned());
        }
        let zone_changed = self.timezone.is_some();
        set(&mut job.timezone, self.timezone);
        if let Some(text) = self.schedule.as_deref().and_then(some) {
            return plan(job, &text, self.repeat, here);
        }
        if let Some(times) = self.repeat {
            job.repeat.times = u64::try_from(times).ok().filter(|times| *times > 0);
        }
        if zone_changed && job.waits() {
            let zone = job.zone(&here.zone)?;
            let next = job.schedule.schedule(&zone)?.next(here.now, &zone);
            job.waits_until(next, &zone);
        }
        Ok(())
    }
}

/// Gives a job a schedule, and the first time that follows from it.
fn plan(job: &mut Job, text: &str, repeat: Option<i64>, here: &Here) -> Result<(), JobError> {
    let zone = job.zone(&here.zone)?;
    let Written { schedule, zone: named, display } = parse(text, here.now, &zone)?;
    if named.is_some() {
        job.timezone = named;
    }
    let zone = job.zone(&here.zone)?;
    job.schedule = StoredSchedule::new(&schedule, &display, &zone);
    job.schedule_display = display;
    let times = match repeat {
        Some(times) => u64::try_from(times).ok().filter(|times| *times > 0),
        None if job.next_run_at.is_some() && schedule.recurs() => job.repeat.times,
        None => None,
    };
    job.repeat = Repeat { times: if schedule.recurs() { times } else { Some(1) }, completed: 0 };
    let first = match &schedule {
        // One that is just over is due at once.
        Schedule::Once(at) => Some(*at),
        other => other.next(here.now, &zone),
    };
    let paused = job.state == State::Paused;
    let why = (job.paused_at.take(), job.paused_reason.take());
    job.waits_until(first, &zone);
    if paused {
        (job.enabled, job.state) = (false, State::Paused);
        (job.paused_at, job.paused_reason) = why;
    }
    Ok(())
}

/// Whether all of it makes sense together.
fn check(job: &Job) -> Result<(), JobError> {
    let invalid = |why: &str| Err(JobError::Invalid(why.to_owned()));
    if let Some(script) = &job.script {
        script_path(script)?;
    }
    if job.no_agent && job.script.is_none() {
        return invalid("no_agent needs a script: what it prints is the answer");
    }
    if job.prompt.is_empty() && job.skills.is_empty() && !job.no_agent {
        return invalid("prompt is needed: what the agent is to do, with everything it has to know");
    }
    if job.prompt.chars().count() > MAX_PROMPT {
        return invalid("the prompt is longer than 100,000 characters");
    }
    if let Some(threat) = threat::scan(&job.prompt) {
        return Err(JobError::Threat(threat));
    }
    if let Some(workdir) = &job.workdir
        && !std::path::Path::new(workdir).is_absolute()
    {
        return Err(JobError::Invalid(format!("the folder `{workdir}` must be given from `/` on")));
    }
    if job.context_from.contains(&job.id) {
        return invalid("a job cannot be shown its own answer; name another one in context_from");
    }
    if let Some(zone) = &job.timezone {
        schedule::zone(zone)?;
    }
    for target in job.targets() {
        target.parse::<Target>().map_err(|wrong| JobError::Invalid(format!("deliver: {wrong}")))?;
    }
    Ok(())
}

/// A name from what the job does.
fn made_name(job: &Job) -> String {
    let from = [job.prompt.as_str(), job.skill.as_deref().unwrap_or_default()];
    let from = from.into_iter().chain(job.script.as_deref()).find(|text| !text.is_empty());
    let line = from.and_then(|text| text.lines().next()).unwrap_or("job").trim();
    let short: String = line.chars().take(MADE_NAME).collect();
    if short.len() < line.len() { format!("{}…", short.trim_end()) } else { short }
}

/// Sets what is wished; an empty wish takes it away.
fn set(field: &mut Option<String>, wish: Option<String>) {
    if let Some(wish) = wish {
        *field = some(&wish);
    }
}

fn some(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn words(list: &[String]) -> Vec<String> {
    list.iter().filter_map(|text| some(text)).collect()
}
