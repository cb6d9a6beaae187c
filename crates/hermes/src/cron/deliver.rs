//! What goes out to people: answers, and what was missed or cut off.
//!
//! By the same road as `hermes send` and `send_message`. The person who made the job has said where its
//! answers go, so nobody is asked. Each message is tried once: a second try might arrive twice. What does
//! not arrive is written down with the run.

use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::cron::Job;
use hermes_core::deliver::{Deliver, Letter, Target};
use hermes_core::schedule::LATE;
use hermes_store::cron::{Outcome, Run};
use jiff::SignedDuration;
use serde_json::Value;

use super::{Cron, prompt};

/// The answer goes to a file whatever else is wanted.
const LOCAL: &str = "local";
/// The conversation that the job comes from.
const ORIGIN: &str = "origin";
/// Every home chat.
const ALL: &str = "all";

/// How long one message may take on its way.
const PATIENCE: Duration = Duration::from_mins(2);

/// What a person is told about a run: nothing where there is nothing to tell.
pub(super) fn answer(
    job: &Job,
    outcome: Outcome,
    answer: &str,
    error: Option<&str>,
    late: Option<SignedDuration>,
) -> Option<Letter> {
    if outcome == Outcome::Nothing || (outcome == Outcome::Ok && prompt::is_silent(answer)) {
        return None;
    }
    let late = late.filter(|late| *late > LATE).map(|late| format!(", {} min late", late.as_mins()));
    let late = late.unwrap_or_default();
    Some(match error {
        None => letter(job, "⏰", &late, answer.trim()),
        Some(why) => {
            letter(job, "⚠", &format!(" {}{late}", outcome.word()), format!("{why}\n\n{answer}").trim())
        }
    })
}

/// What a person is told about times that went by, and about a run that was cut off.
fn notice(job: &Job, run: &Run) -> Letter {
    let word = run.outcome.map_or("cut off", Outcome::word);
    let at = run.scheduled_for.as_deref().or(run.claimed_at.as_deref()).unwrap_or("an unknown time");
    let when = match (run.missed_count, run.missed_until.as_deref()) {
        (Some(count), Some(until)) if count > 1 => format!("{count} times from {at} to {until}"),
        _ => format!("at {at}"),
    };
    let why = run.error.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    letter(job, "⚠", &format!(" {word}"), &format!("{when}{why}"))
}

/// The heading says of which job it is; platforms that have none write it above the text.
fn letter(job: &Job, sign: &str, what: &str, text: &str) -> Letter {
    let name = job.name.split_whitespace().collect::<Vec<_>>().join(" ");
    Letter { text: text.to_owned(), subject: Some(format!("{sign} {name}{what}")), files: Vec::new() }
}

impl Cron {
    /// Why answers of a job would not arrive everywhere now; nothing when they would.
    pub fn undeliverable(&self, job: &Job) -> Option<String> {
        undeliverable(job, self.deliver.as_ref())
    }

    /// Sends a letter everywhere the job says; why it did not arrive everywhere.
    pub(super) async fn send(&self, job: &Job, letter: &Letter) -> Option<String> {
        let host = self.runtime.host();
        let mut lost = Vec::new();
        for target in wanted(job, self.deliver.as_ref()) {
            let target = match target {
                Ok(target) => target,
                Err(why) => {
                    lost.push(why);
                    continue;
                }
            };
            match select(self.deliver.send(&target, letter), host.sleep(PATIENCE)).await {
                Either::Left((Ok(_), _)) => {}
                Either::Left((Err(wrong), _)) => lost.push(format!("{target}: {wrong}")),
                Either::Right(_) => {
                    lost.push(format!("{target}: nothing was heard for {} s", PATIENCE.as_secs()));
                }
            }
        }
        told(lost)
    }

    /// Tells people about times that went by, and about a run that was cut off; why that did not arrive.
    pub(super) async fn report(&self, run: Run) -> Option<String> {
        let id = run.job_id.clone();
        // A job that is gone by now has nobody to tell.
        let job = self.on_disk(move |home| home.job(&id)).await.ok()?;
        let why = self.send(&job, &notice(&job, &run)).await?;
        let kept = why.clone();
        // The same is told to whoever looks on, so nothing is lost with it.
        let _ = self.on_record(move |runs| runs.undelivered(&run.id, &kept)).await;
        Some(why)
    }
}

/// Why answers of a job would not arrive everywhere; nothing when they would.
pub(super) fn undeliverable(job: &Job, deliver: &dyn Deliver) -> Option<String> {
    told(wanted(job, deliver).into_iter().filter_map(|target| match target {
        Ok(target) => deliver.resolve(&target).err().map(|wrong| format!("{target}: {wrong}")),
        Err(why) => Some(why),
    }))
}

fn told(lost: impl IntoIterator<Item = String>) -> Option<String> {
    let lost: Vec<String> = lost.into_iter().collect();
    (!lost.is_empty()).then(|| format!("not delivered to {}", lost.join("; ")))
}

/// Where the answers of a job go beside their file, each place once.
fn wanted(job: &Job, deliver: &dyn Deliver) -> Vec<Result<Target, String>> {
    let mut found: Vec<Result<Target, String>> = Vec::new();
    let mut add = |target: Result<Target, String>| {
        if !found.contains(&target) {
            found.push(target);
        }
    };
    for name in job.targets() {
        match name {
            LOCAL => {}
            ORIGIN => add(origin(job.origin.as_ref())),
            ALL => {
                let homes =
                    deliver.destinations().into_iter().filter(|it| it.is_home && it.missing.is_none());
                let homes: Vec<Target> = homes.map(|it| it.target).collect();
                if homes.is_empty() {
                    add(Err("all: no platform has a home chat here".to_owned()));
                }
                for home in homes {
                    add(Ok(home));
                }
            }
            name => add(name.parse::<Target>().map_err(|wrong| wrong.to_string())),
        }
    }
    found
}

/// The chat that a job comes from.
fn origin(origin: Option<&Value>) -> Result<Target, String> {
    let text = |name: &str| {
        let value = origin.and_then(|origin| origin.get(name));
        match value {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        }
    };
    match (text("platform"), text("chat_id")) {
        (Some(platform), Some(chat)) if !matches!(platform.as_str(), "cli" | LOCAL) => {
            Ok(Target { platform, chat: Some(chat), thread: text("thread_id") })
        }
        _ => Err("origin: the conversation it comes from is on no platform".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;
    use hermes_core::cron::{Draft, Here};
    use hermes_core::deliver::{DeliverError, Destination, Sent};
    use jiff::Timestamp;
    use jiff::tz::TimeZone;
    use serde_json::json;

    use super::*;

    /// Knows two homes, of which one is not set up.
    struct Homes;

    impl Deliver for Homes {
        fn destinations(&self) -> Vec<Destination> {
            let row = |text: &str, missing: Option<&str>| Destination {
                target: text.parse().unwrap(),
                name: None,
                is_home: true,
                missing: missing.map(str::to_owned),
            };
            vec![row("email:ann@example.org", None), row("telegram:7", Some("a key"))]
        }

        fn resolve(&self, target: &Target) -> Result<Target, DeliverError> {
            Ok(target.clone())
        }

        fn send<'a>(&'a self, _: &'a Target, _: &'a Letter) -> BoxFuture<'a, Result<Sent, DeliverError>> {
            Box::pin(async { Ok(Sent::default()) })
        }
    }

    fn job(deliver: &str, origin: Option<Value>) -> Job {
        let draft = Draft {
            schedule: Some("@daily".to_owned()),
            prompt: Some("Look".to_owned()),
            name: Some("news".to_owned()),
            deliver: Some(deliver.to_owned()),
            origin,
            ..Draft::default()
        };
        let here = Here { now: Timestamp::UNIX_EPOCH, zone: TimeZone::UTC };
        draft.into_job("000000000001".to_owned(), &here).unwrap()
    }

    fn places(deliver: &str, origin: Option<Value>) -> Vec<String> {
        let wanted = wanted(&job(deliver, origin), &Homes);
        wanted.into_iter().map(|target| target.map_or_else(|why| why, |target| target.to_string())).collect()
    }

    #[test]
    fn every_word_for_a_place_leads_there_once() {
        let chat = json!({ "platform": "telegram", "chat_id": -100, "thread_id": "17" });

        assert_eq!(places("local", None), Vec::<String>::new());
        assert_eq!(places("local, telegram:7, telegram:7", None), ["telegram:7"]);
        assert_eq!(places("all", None), ["email:ann@example.org"]);
        assert_eq!(places("origin", Some(chat)), ["telegram:-100:17"]);
        assert!(places("origin", Some(json!({ "session_id": "s" })))[0].contains("on no platform"));
    }

    #[test]
    fn silence_is_told_to_nobody_and_failure_to_everybody() {
        let job = job("telegram", None);
        let late = Some(SignedDuration::from_mins(14));
        let text = |outcome, said: &str, error, late| {
            let letter = answer(&job, outcome, said, error, late)?;
            Some(format!("{} | {}", letter.subject.unwrap(), letter.text))
        };

        assert_eq!(text(Outcome::Ok, "[SILENT]", None, None), None);
        assert_eq!(text(Outcome::Nothing, "", None, None), None);
        assert_eq!(text(Outcome::Ok, "All well.", None, late).unwrap(), "⏰ news, 14 min late | All well.");
        assert_eq!(
            text(Outcome::Failed, "[SILENT]", Some("no model"), None).unwrap(),
            "⚠ news failed | no model\n\n[SILENT]"
        );
        assert_eq!(
            text(Outcome::Interrupted, "", Some("stopped"), None).unwrap(),
            "⚠ news interrupted | stopped"
        );
    }
}
