//! Scheduled work by a clock in the hands of the test.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures::future::BoxFuture;
use hermes::Runtime;
use hermes::core::cron::{Draft, State, Step};
use hermes::core::deliver::{Deliver, DeliverError, Destination, Letter, Sent, Target};
use hermes::core::schedule::Misfire;
use hermes::cron::Cron;
use hermes::store::cron::Outcome;
use hermes::store::sessions::{Clock, Moment};
use hermes_testkit::{Answer, ModelServer, TempHome};
use tokio_util::sync::CancellationToken;

use crate::home;

/// A clock that stands still until it is moved.
struct HandClock(Mutex<SystemTime>);

impl HandClock {
    fn at(text: &str) -> Arc<Self> {
        let micros = Moment::parse(text).unwrap().micros().unsigned_abs();
        Arc::new(Self(Mutex::new(SystemTime::UNIX_EPOCH + Duration::from_micros(micros))))
    }

    fn advance(&self, time: Duration) {
        *self.0.lock().unwrap() += time;
    }
}

impl Clock for HandClock {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap()
    }

    fn pause(&self, _time: Duration) {}
}

fn cron(home: &TempHome, clock: &Arc<HandClock>) -> Cron {
    let builder = Runtime::builder().cwd("/").home(hermes::store::Home::at(home.path())).unattended();
    let env = [("HERMES_TIMEZONE".to_owned(), "UTC".to_owned())];
    builder.env(env).build().unwrap().cron().unwrap().with_clock(clock.clone())
}

fn draft(schedule: &str, name: &str) -> Draft {
    Draft {
        schedule: Some(schedule.to_owned()),
        prompt: Some("Tell the news".to_owned()),
        name: Some(name.to_owned()),
        enabled_toolsets: Some(vec!["todo".to_owned()]),
        ..Draft::default()
    }
}

#[test]
fn a_job_runs_at_its_time_in_its_folder_and_not_before() {
    let server = ModelServer::always(Answer::text("No news."));
    let (home, clock) = (home(&server, "chat_completions"), HandClock::at("2026-11-16 09:00:00"));
    let (cron, stop) = (cron(&home, &clock), CancellationToken::new());
    let folder = home.path().display().to_string();
    cron.create(Draft { workdir: Some(folder.clone()), ..draft("30m", "once") }).unwrap();

    assert_eq!(cron.tick_blocking(&stop).unwrap().runs, []);
    clock.advance(Duration::from_mins(30));
    let runs = cron.tick_blocking(&stop).unwrap().runs;

    assert_eq!(runs.iter().map(|run| run.outcome).collect::<Vec<_>>(), [Some(Outcome::Ok)], "{runs:?}");
    assert_eq!(runs[0].scheduled_for.as_deref(), Some("2026-11-16T09:30:00+00:00"));
    assert_eq!(runs[0].late_seconds, None);
    let id = runs[0].session_id.clone().unwrap();
    assert_eq!(id, format!("cron_{}_20261116_093000", runs[0].job_id));
    let sessions = hermes::open_sessions(&hermes::store::Home::at(home.path())).unwrap();
    assert_eq!(sessions.session(&id).unwrap().cwd, Some(folder));
    assert_eq!(cron.home().job("once").unwrap().state, State::Completed);
    let asked = server.bodies()[0]["messages"].to_string();
    assert!(asked.contains("Scheduled run of the job `once`") && asked.contains("Tell the news"), "{asked}");
}

#[test]
fn missed_times_are_caught_up_with_one_after_the_other_in_sessions_of_their_own() {
    let server = ModelServer::always(Answer::text("[SILENT]"));
    let (home, clock) = (home(&server, "chat_completions"), HandClock::at("2026-11-16 09:00:00"));
    let (cron, stop) = (cron(&home, &clock), CancellationToken::new());
    let wish = Draft {
        misfire: Some(Misfire::CatchUp),
        deliver: Some("telegram".to_owned()),
        ..draft("every 1h", "news")
    };
    cron.create(wish).unwrap();

    clock.advance(Duration::from_mins(200));
    let ticked = cron.tick_blocking(&stop).unwrap();

    let times: Vec<&str> = ticked.runs.iter().filter_map(|run| run.scheduled_for.as_deref()).collect();
    assert_eq!(
        times,
        ["2026-11-16T10:00:00+00:00", "2026-11-16T11:00:00+00:00", "2026-11-16T12:00:00+00:00"]
    );
    let sessions: BTreeSet<_> = ticked.runs.iter().map(|run| run.session_id.clone()).collect();
    assert_eq!(sessions.len(), 3);
    assert_eq!(ticked.runs[0].late_seconds, Some(140 * 60));
    // Silence is delivered nowhere, and so nothing is missing.
    assert_eq!(ticked.runs[0].delivery_error, None);
    assert_eq!(cron.home().job("news").unwrap().repeat.completed, 3);
}

/// Takes every message, unless its text has the word `refuse`.
#[derive(Default)]
struct Mailbox(Mutex<Vec<(String, String)>>);

impl Mailbox {
    fn taken(&self) -> Vec<(String, String)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Deliver for Mailbox {
    fn destinations(&self) -> Vec<Destination> {
        let target = Target { chat: Some("42".to_owned()), ..Target::home("telegram") };
        vec![Destination { target, name: None, is_home: true, missing: None }]
    }

    fn resolve(&self, target: &Target) -> Result<Target, DeliverError> {
        Ok(target.clone())
    }

    fn send<'a>(
        &'a self,
        target: &'a Target,
        letter: &'a Letter,
    ) -> BoxFuture<'a, Result<Sent, DeliverError>> {
        let refused = letter.text.contains("refuse");
        let subject = letter.subject.clone().unwrap_or_default();
        self.0.lock().unwrap().push((target.to_string(), format!("{subject} | {}", letter.text)));
        let refusal = DeliverError::Refused { platform: target.platform.clone(), why: "no".to_owned() };
        Box::pin(std::future::ready(if refused { Err(refusal) } else { Ok(Sent::default()) }))
    }
}

#[test]
fn answers_failures_and_missed_times_go_to_whoever_is_to_know() {
    let server = ModelServer::saying([
        Answer::text("All is well."),
        Answer::text("They refuse."),
        Answer::error(401, "no such key"),
    ]);
    let (home, clock) = (home(&server, "chat_completions"), HandClock::at("2026-11-16 09:00:00"));
    let (mail, stop) = (Arc::new(Mailbox::default()), CancellationToken::new());
    let cron = cron(&home, &clock).delivered_by(mail.clone());
    let wish = Draft { deliver: Some("local, all".to_owned()), ..draft("every 1h", "news") };
    cron.create(wish).unwrap();

    clock.advance(Duration::from_mins(74));
    let run = cron.tick_blocking(&stop).unwrap().runs[0].clone();
    assert_eq!((run.outcome, run.delivery_error, run.late_seconds), (Some(Outcome::Ok), None, Some(14 * 60)));
    let said = "\u{23f0} news, 14 min late | All is well.".to_owned();
    assert_eq!(mail.taken(), [("telegram:42".to_owned(), said)]);

    // What does not arrive is recorded, with the run and with the job.
    clock.advance(Duration::from_mins(46));
    let run = cron.tick_blocking(&stop).unwrap().runs[0].clone();
    let lost = run.delivery_error.unwrap();
    assert!(
        run.outcome == Some(Outcome::Ok) && lost.contains("telegram:42: telegram did not take"),
        "{lost}"
    );
    assert_eq!(cron.home().job("news").unwrap().last_delivery_error, Some(lost));

    // A run that fails is told as well.
    mail.taken();
    clock.advance(Duration::from_hours(1));
    let run = cron.tick_blocking(&stop).unwrap().runs[0].clone();
    assert_eq!(run.outcome, Some(Outcome::Failed));
    let (_, failed) = mail.taken().remove(0);
    assert!(failed.starts_with("\u{26a0} news failed | "), "{failed}");

    // And so are times that nobody was there for.
    cron.change("news", Step::Update(Box::new(Draft { misfire: Some(Misfire::Skip), ..Draft::default() })))
        .unwrap();
    clock.advance(Duration::from_mins(190));
    let ticked = cron.tick_blocking(&stop).unwrap();
    assert_eq!((ticked.runs.len(), ticked.missed.len(), ticked.unreadable.len()), (0, 1, 0));
    let (_, missed) = mail.taken().remove(0);
    assert!(
        missed.contains("news missed | 3 times from 2026-11-16T13:00:00+00:00 to 2026-11-16T15:00:00"),
        "{missed}"
    );
}

#[test]
fn what_is_stopped_before_it_begins_is_recorded_as_interrupted() {
    let server = ModelServer::always(Answer::text("No news."));
    let (home, clock) = (home(&server, "chat_completions"), HandClock::at("2026-11-16 09:00:00"));
    let (cron, stop) = (cron(&home, &clock), CancellationToken::new());
    cron.create(draft("every 1h", "news")).unwrap();
    clock.advance(Duration::from_hours(1));
    stop.cancel();

    let ticked = cron.tick_blocking(&stop).unwrap();

    assert_eq!(ticked.runs[0].outcome, Some(Outcome::Interrupted));
    assert_eq!(server.requests().len(), 0);
    assert_eq!(cron.tick_blocking(&CancellationToken::new()).unwrap().runs, []);
}

#[test]
fn a_job_whose_folder_or_toolset_is_gone_fails_in_words() {
    let server = ModelServer::always(Answer::text("No news."));
    let (home, clock) = (home(&server, "chat_completions"), HandClock::at("2026-11-16 09:00:00"));
    let (cron, stop) = (cron(&home, &clock), CancellationToken::new());
    cron.create(Draft { workdir: Some("/nowhere/at/all".to_owned()), ..draft("1h", "folder") }).unwrap();
    let toolsets = Some(vec!["no_such_toolset".to_owned()]);
    cron.create(Draft { enabled_toolsets: toolsets, ..draft("1h", "toolset") }).unwrap();
    clock.advance(Duration::from_hours(1));

    let runs = cron.tick_blocking(&stop).unwrap().runs;

    let why = |name: &str| {
        let run = runs.iter().find(|run| run.job_name.as_deref() == Some(name)).unwrap();
        (run.outcome, run.error.clone().unwrap_or_default())
    };
    assert!(matches!(why("folder"), (Some(Outcome::Failed), why) if why.contains("/nowhere/at/all")));
    assert!(matches!(why("toolset"), (Some(Outcome::Failed), why) if why.contains("no_such_toolset")));
}
