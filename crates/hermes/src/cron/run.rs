//! One run of a job, from its claim to its record.
//!
//! Whatever happens in it, a panic included, the record says how it ended, the answer or the reason is in
//! a file and goes to whoever is to have it, and the job knows how it went.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{Either, select};
use hermes_agent::{TurnEnd, TurnStatus};
use hermes_core::cron::{Here, Job, JobError, session_id};
use hermes_core::model::Part;
use hermes_core::skills::Skills as _;
use hermes_core::toolset::{Selection, SelectionError};
use hermes_store::CronHome;
use hermes_store::cron::{Claim, Ended, Outcome, Report, Run};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::prompt::{self, Beside};
use super::{Cron, deliver, script};
use crate::chat::{ModelWish, Opening};

/// What a scheduled session never has: there is nobody to ask, and it plans no work of its own.
const WITHHELD: [&str; 3] = ["cronjob", "clarify", "send_message"];

/// How long a run that was stopped may take to end.
const WIND_UP: Duration = Duration::from_secs(15);

/// How answers are shown, for the model.
const SHOWN: &str = "The answer is kept in a file, and may be sent to a person. Plain Markdown.";

/// What a run came to.
struct Came {
    outcome: Outcome,
    answer: String,
    error: Option<String>,
    model: Option<String>,
    prompt: String,
    /// When it began, if it did.
    began: Option<Timestamp>,
}

impl Came {
    fn failed(why: impl Into<String>) -> Self {
        Self::to(Outcome::Failed, Some(why.into()))
    }

    fn to(outcome: Outcome, error: Option<String>) -> Self {
        Self { outcome, answer: String::new(), error, model: None, prompt: String::new(), began: None }
    }
}

impl Cron {
    /// Runs what was claimed, to its end.
    pub(super) async fn run(&self, claim: &Claim, stop: &CancellationToken) -> Result<Run, JobError> {
        let session = if claim.job.no_agent { None } else { Some(self.fresh_session(&claim.job).await?) };
        let (id, began, now) = (claim.run.clone(), session.clone(), self.now()?);
        self.on_record(move |runs| runs.began(&id, began.as_deref(), now)).await?;
        let cancel = stop.child_token();
        let work = AssertUnwindSafe(self.work(&claim.job, session.as_deref(), &cancel)).catch_unwind();
        let work = async { work.await.unwrap_or_else(|_| Came::failed("the run broke")) };
        let came = self.in_time(work, &cancel).await;
        self.record(claim, session, Came { began: Some(now), ..came }).await
    }

    /// What a claim came to that was never begun.
    pub(super) async fn never_began(&self, claim: &Claim, why: &str) -> Result<Run, JobError> {
        self.record(claim, None, Came::to(Outcome::Interrupted, Some(why.to_owned()))).await
    }

    /// The work, unless it takes too long.
    async fn in_time(&self, work: impl Future<Output = Came>, cancel: &CancellationToken) -> Came {
        let Some(limit) = self.runtime.settings().cron.run_timeout else { return work.await };
        let host = self.runtime.host();
        let (work, patience) = (Box::pin(work), host.sleep(limit));
        match select(work, patience).await {
            Either::Left((came, _)) => came,
            Either::Right(((), work)) => {
                cancel.cancel();
                let mut came = match select(work, host.sleep(WIND_UP)).await {
                    Either::Left((came, _)) => came,
                    Either::Right(_) => Came::failed(""),
                };
                came.outcome = Outcome::Failed;
                came.error = Some(format!("it took longer than {} s and was stopped", limit.as_secs()));
                came
            }
        }
    }

    async fn work(&self, job: &Job, session: Option<&str>, cancel: &CancellationToken) -> Came {
        let folder = job.workdir.as_ref().map(PathBuf::from);
        if let Some(folder) = folder.as_ref().filter(|folder| !CronHome::is_folder(folder)) {
            return Came::failed(format!("there is no folder {} to work in", folder.display()));
        }
        let printed = {
            let script = std::pin::pin!(script::printed(self, job));
            match select(script, std::pin::pin!(cancel.cancelled())).await {
                Either::Left((Ok(printed), _)) => printed,
                Either::Left((Err(why), _)) => return Came::failed(why),
                Either::Right(_) => return Came::to(Outcome::Interrupted, Some("it was stopped".to_owned())),
            }
        };
        let (printed, wakes) = match printed.as_deref().map(prompt::woken) {
            Some((printed, wakes)) => (Some(printed), wakes),
            None => (None, true),
        };
        if !wakes {
            return Came::to(Outcome::Nothing, None);
        }
        let Some(session) = session else {
            let answer = printed.unwrap_or_default();
            let outcome = if answer.trim().is_empty() { Outcome::Nothing } else { Outcome::Ok };
            return Came { answer, ..Came::to(outcome, None) };
        };
        let beside = match self.beside(job, printed, session).await {
            Ok(beside) => beside,
            Err(why) => return Came::failed(why),
        };
        match prompt::assemble(job, &beside) {
            Ok(asked) => self.asked(job, session, (asked, beside.variables), cancel).await,
            Err(why) => Came::failed(why),
        }
    }

    /// What the agent is shown beside the prompt.
    async fn beside(&self, job: &Job, printed: Option<String>, session: &str) -> Result<Beside, String> {
        let mut beside = Beside { printed, ..Beside::default() };
        for name in &job.skills {
            let skills = self.runtime.skills().ok_or("there is no home with skills")?;
            let view = skills.view(name, session).await;
            let view = view.map_err(|wrong| format!("the skill `{name}`: {wrong}"))?;
            if let Some(threat) = view.threat {
                return Err(format!("the skill `{name}` is not used, because it {threat}"));
            }
            beside.variables.extend(view.needs.names());
            beside.skills.push((name.clone(), view.text));
        }
        for name in job.context_from.clone() {
            let wanted = name.clone();
            let answer = self.on_disk(move |home| {
                let id = home.job(&wanted)?.id;
                home.last_answer(&id).map_err(|wrong| JobError::Store(wrong.to_string()))
            });
            match answer.await {
                // A job that has not answered yet has nothing to show.
                Ok(answer) => beside.answers.extend(answer.map(|answer| (name, answer))),
                Err(wrong) => return Err(format!("context_from: {wrong}")),
            }
        }
        Ok(beside)
    }

    /// One turn of a session of its own.
    async fn asked(
        &self,
        job: &Job,
        session: &str,
        (asked, variables): (String, Vec<String>),
        cancel: &CancellationToken,
    ) -> Came {
        let failed = |why: String, prompt: String| Came { prompt, ..Came::failed(why) };
        let selection = match self.selection(job) {
            Ok(selection) => selection,
            Err(wrong) => {
                let own = job.enabled_toolsets.is_some();
                let helps = self.runtime.way_out_of(&wrong, "cron").filter(|_| !own);
                let helps = helps.map(|helps| format!("; {helps}")).unwrap_or_default();
                return failed(format!("{wrong}{helps}"), asked);
            }
        };
        let mut builder = self
            .runtime
            .chat()
            .select(selection)
            .source("cron")
            .shown(SHOWN)
            .asked_at_once()
            .opening(Opening::Named(session.to_owned()))
            .model(ModelWish {
                model: job.model.clone(),
                provider: job.provider.clone(),
                // An address belongs to a provider; alone it would send a key to a stranger.
                base_url: job.base_url.clone().filter(|_| job.provider.is_some()),
                ..ModelWish::default()
            });
        if let Some(folder) = &job.workdir {
            builder = builder.cwd(folder);
        }
        let chat = match builder.open().await {
            Ok(chat) => chat,
            Err(wrong) => return failed(wrong.to_string(), asked),
        };
        chat.session().pass_variables(variables);
        let offline = chat.model().is_offline();
        let input = vec![Part::Text { text: asked.clone() }];
        let end = chat.turn(input, &|_| {}, cancel).await;
        let title: String = job.name.chars().take(60).collect();
        // A session without a title of its own is as good as any.
        let _ =
            chat.rename(&format!("{title} · {}", session.rsplit("cron_").next().unwrap_or_default())).await;
        drop(chat);
        self.end_session(session).await;
        came(end, asked, offline)
    }

    /// Ends the session of a run.
    async fn end_session(&self, session: &str) {
        if let Some(store) = self.runtime.sessions() {
            let session = session.to_owned();
            // The answer is there; a session that still looks open harms nobody.
            let _ = store.change(move |sessions| sessions.end(&session, "cron_complete")).await;
        }
    }

    /// The tools of a run: the job's own choice, or what the configuration says for scheduled work.
    fn selection(&self, job: &Job) -> Result<Selection, SelectionError> {
        let snapshot = self.runtime.tools();
        let chosen = match &job.enabled_toolsets {
            Some(names) => {
                let agent = self.runtime.settings().agent;
                let known = |name: &String| {
                    snapshot.tool(name).is_some() || snapshot.catalog().names().any(|known| known == *name)
                };
                let off = agent.disabled_toolsets.into_iter().chain(agent.disabled_tools).filter(known);
                Selection::of(names.iter().cloned()).without(off)
            }
            None => self.runtime.platform("cron")?,
        };
        Ok(chosen.without(WITHHELD.into_iter().filter(|name| snapshot.tool(name).is_some())))
    }

    /// The id of a session that does not exist yet.
    async fn fresh_session(&self, job: &Job) -> Result<String, JobError> {
        let first = session_id(&job.id, self.now()?);
        let Some(store) = self.runtime.sessions() else { return Ok(first) };
        let found = store.change(move |sessions| {
            let more = (2..1000).map(|n| format!("{first}_{n}"));
            let mut names = std::iter::once(first.clone()).chain(more);
            Ok(names.find(|name| sessions.session(name).is_err()).unwrap_or(first))
        });
        found.await.map_err(|wrong| JobError::Store(wrong.to_string()))
    }

    /// Writes down how it ended: first in a file, so that nothing is lost on the way to people, then in the
    /// record and with the job.
    async fn record(&self, claim: &Claim, session: Option<String>, came: Came) -> Result<Run, JobError> {
        let here = self.here()?;
        let keep = usize::try_from(self.runtime.settings().cron.output_retention).unwrap_or(usize::MAX);
        let came = Arc::new(came);
        let (kept, told, at) = (claim.clone(), Arc::clone(&came), here.clone());
        let output =
            self.on_disk(move |home| Ok(kept_in_a_file(home, &kept, session.as_deref(), &told, &at, keep)));
        let (output, lost) = output.await?;
        let late = claim.due.zip(came.began).map(|(due, began)| due.duration_until(began));
        let letter = deliver::answer(&claim.job, came.outcome, &came.answer, came.error.as_deref(), late);
        let undelivered = match &letter {
            Some(letter) => self.send(&claim.job, letter).await,
            None => None,
        };
        let problems: Vec<String> = [lost, undelivered].into_iter().flatten().collect();
        let ended = Ended {
            outcome: came.outcome,
            error: came.error.clone(),
            model: came.model.clone(),
            output,
            delivery_error: (!problems.is_empty()).then(|| problems.join("; ")),
        };
        let (claim, now) = (claim.clone(), self.here()?);
        self.on_disk(move |home| home.ended(&claim, &ended, &now)).await
    }
}

/// The file with the answer, and why there is none.
fn kept_in_a_file(
    home: &CronHome,
    claim: &Claim,
    session: Option<&str>,
    came: &Came,
    here: &Here,
    keep: usize,
) -> (Option<String>, Option<String>) {
    // Nothing to tell leaves nothing behind but its record.
    if came.outcome == Outcome::Nothing {
        return (None, None);
    }
    let job = &claim.job;
    let zone = job.zone(&here.zone).unwrap_or_else(|_| here.zone.clone());
    let report = Report {
        job: &job.id,
        name: &job.name,
        schedule: &job.schedule_display,
        due: claim.due.unwrap_or(here.now),
        ended: here.now,
        zone: &zone,
        model: came.model.as_deref(),
        session,
        prompt: if came.prompt.is_empty() { &job.prompt } else { &came.prompt },
        answer: &came.answer,
        error: came.error.as_deref(),
    };
    match home.write_output(&report, keep) {
        Ok(path) => (Some(path.display().to_string()), None),
        Err(wrong) => (None, Some(format!("the answer could not be kept: {wrong}"))),
    }
}

fn came(end: TurnEnd, prompt: String, offline: bool) -> Came {
    let outcome = match end.status {
        TurnStatus::Answered if end.text.trim().is_empty() => Outcome::Failed,
        TurnStatus::Answered => Outcome::Ok,
        TurnStatus::Interrupted => Outcome::Interrupted,
        _ => Outcome::Failed,
    };
    let why = match end.status {
        TurnStatus::Answered => "the answer is empty",
        TurnStatus::OutOfBudget => "it ran out of model calls",
        TurnStatus::Interrupted => "it was stopped",
        TurnStatus::Denied => "what it needed was denied",
        TurnStatus::ProviderFailed => "no model could answer",
        _ => "it failed",
    };
    let model = if offline { format!("{} (built in; no model is set up)", end.model) } else { end.model };
    let error = (outcome != Outcome::Ok).then(|| end.error.unwrap_or_else(|| why.to_owned()));
    Came { outcome, answer: end.text, error, model: Some(model), prompt, began: None }
}
