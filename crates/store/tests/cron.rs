//! Jobs on the disk: kept as the original keeps them, claimed once however many look, told when they
//! were cut off.

#![expect(clippy::disallowed_methods, reason = "the tests write the files that the store finds")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::collections::BTreeSet;
use std::io::BufRead as _;
use std::path::Path;
use std::sync::{Arc, Barrier, Mutex};

use hermes_core::cron::{Draft, Here, JobError, State, Step};
use hermes_core::schedule::{Misfire, moment};
use hermes_store::cron::{Claimed, Ended, Outcome, Report};
use hermes_store::{CronHome, Home};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

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

#[test]
fn a_job_is_made_changed_paused_resumed_and_removed() {
    let place = place();
    let job = place.home.create(draft("every 1h", "news"), &here(NINE), 7).unwrap();
    assert!(job.id.len() == 12 && job.id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{}", job.id);
    assert_eq!(place.home.job("news").unwrap(), job);

    let change = |step| place.home.change("news", step, &here(NINE)).unwrap();
    assert_eq!(change(Step::Pause(Some("holidays".to_owned()))).state, State::Paused);
    assert_eq!(place.look("a", TEN).claims, []);
    assert_eq!(change(Step::Resume).next_run_at.as_deref(), Some("2026-11-16T10:00:00+00:00"));
    assert_eq!(change(Step::RunSoon).next_run_at.as_deref(), Some("2026-11-16T09:00:00+00:00"));
    assert_eq!(place.home.remove("news", &here(NINE)).unwrap().id, job.id);
    assert_eq!(place.json()["jobs"], json!([]));
    assert!(matches!(place.home.job("news"), Err(JobError::Unknown { .. })));
}

#[test]
fn what_is_not_known_and_what_did_not_change_stays_as_it_stood() {
    let place = place();
    std::fs::create_dir_all(place.dir.path().join("cron")).unwrap();
    let other = r#"{"id":"aaaaaaaaaaaa","name":"o","schedule":{"kind":"cron","expr":"0 9 * * *","tz_hint":1},"x":  [1, 2]}"#;
    let ours = r#"{"id":"bbbbbbbbbbbb","name":"n","prompt":"p","strange":{"a":1},"schedule":{"kind":"interval","minutes":60,"display":"every 60m"},"next_run_at":"2026-11-16T09:30:00+00:00"}"#;
    let text = format!(r#"{{"version": 3, "jobs": [{other}, {ours}], "updated_at": "old"}}"#);
    std::fs::write(place.file(), text).unwrap();

    place.home.change("n", Step::Pause(None), &here(NINE)).unwrap();

    let after = std::fs::read_to_string(place.file()).unwrap();
    assert!(after.contains(other), "{after}");
    let value = place.json();
    assert_eq!((&value["version"], &value["jobs"][1]["strange"]), (&json!(3), &json!({"a": 1})));
    assert_eq!(value["updated_at"], "2026-11-16T09:00:00+00:00");
    assert_eq!(value["jobs"][1]["state"], "paused");
}

#[test]
fn a_file_that_is_no_list_of_jobs_is_told_and_left_alone() {
    let place = place();
    std::fs::create_dir_all(place.dir.path().join("cron")).unwrap();
    for text in
        ["{\"jobs\": [{\"id\": 1}]}", "{\"jobs\": [", "nonsense", "{\"jobs\": []} x", "{\"jobs\": [{}]}"]
    {
        std::fs::write(place.file(), text).unwrap();

        let wrong = place.home.create(draft("every 1h", "news"), &here(NINE), 1).unwrap_err();

        assert!(wrong.to_string().contains("jobs.json"), "{text}: {wrong}");
        assert_eq!(std::fs::read_to_string(place.file()).unwrap(), text);
    }
}

#[test]
fn jobs_of_the_older_form_are_read() {
    let place = place();
    std::fs::create_dir_all(place.dir.path().join("cron")).unwrap();
    std::fs::write(place.file(), r#"[{"id":"a","schedule":{"kind":"interval","minutes":5}}]"#).unwrap();

    assert_eq!(place.home.jobs().unwrap().len(), 1);
    // Its time is not known: it is found out, and nothing runs yet.
    assert_eq!(place.look("a", NINE).claims, []);
    place.home.fold(&here(NINE)).unwrap();
    assert_eq!(place.json()["jobs"][0]["next_run_at"], "2026-11-16T09:05:00+00:00");
}

#[test]
fn a_time_without_an_offset_is_meant_in_the_zone_of_its_job() {
    let place = place();
    let east = Draft { timezone: Some("Asia/Tokyo".to_owned()), ..draft("0 9 * * *", "east") };
    place.home.create(east, &here("2026-11-15T12:00:00Z"), 7).unwrap();
    let mut file = place.json();
    file["jobs"][0]["next_run_at"] = json!("2026-11-16T09:00:00");
    std::fs::write(place.file(), file.to_string()).unwrap();

    assert_eq!(place.look("a", "2026-11-15T23:59:59Z").claims, []);
    let claims = place.look("a", "2026-11-16T00:00:00Z").claims;

    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].due, Some(here("2026-11-16T00:00:00Z").now));
}

#[test]
fn a_time_is_claimed_once_and_the_job_waits_for_the_next() {
    let place = place();
    let job = place.home.create(draft("every 1h", "news"), &here(NINE), 7).unwrap();

    assert_eq!(place.look("a", "2026-11-16T09:59:59Z").claims, []);
    let worker = place.home.worker("b").unwrap();
    let first = place.home.claim_due(&worker, &here(TEN)).unwrap();
    assert_eq!(first.claims.len(), 1);
    assert_eq!(first.next, Some(here("2026-11-16T11:00:00Z").now));
    assert_eq!(place.look("c", TEN).claims, []);

    // Even where the file is put back as it was.
    let mut old = place.json();
    old["jobs"][0]["next_run_at"] = json!("2026-11-16T10:00:00+00:00");
    std::fs::write(place.file(), old.to_string()).unwrap();
    let again = place.look("d", TEN);
    assert_eq!(again.claims, []);
    assert_eq!(place.home.runs().unwrap().newest(Some(&job.id), 9).unwrap().len(), 1);
}

#[test]
fn eight_at_once_run_each_time_exactly_once() {
    const JOBS: usize = 6;
    const LOOKS: i64 = 10;
    let place = Arc::new(place());
    let start = here(NINE);
    for n in 0..JOBS {
        place.home.create(draft("every 1m", &format!("job {n}")), &start, n as u64).unwrap();
    }
    let (ran, barrier) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Barrier::new(8)));
    let threads: Vec<_> = (0..8)
        .map(|who| {
            let (place, ran, barrier) = (Arc::clone(&place), Arc::clone(&ran), Arc::clone(&barrier));
            std::thread::spawn(move || {
                let worker = place.home.worker(&format!("w{who}")).unwrap();
                for look in 1..=LOOKS {
                    barrier.wait();
                    let now = jiff::Timestamp::from_second(here(NINE).now.as_second() + look * 60).unwrap();
                    let here = Here { now, zone: TimeZone::UTC };
                    let found = place.home.claim_due(&worker, &here).unwrap();
                    assert_eq!((found.missed.len(), found.interrupted.len()), (0, 0));
                    for claim in found.claims {
                        let runs = place.home.runs().unwrap();
                        runs.began(&claim.run, None, now).unwrap();
                        let end = Ended {
                            outcome: Outcome::Ok,
                            error: None,
                            model: None,
                            output: None,
                            delivery_error: None,
                        };
                        place.home.ended(&claim, &end, &here).unwrap();
                        ran.lock().unwrap().push((claim.job.id.clone(), claim.due.unwrap()));
                    }
                    barrier.wait();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }

    let ran = ran.lock().unwrap();
    let different: BTreeSet<_> = ran.iter().collect();
    assert_eq!(different.len(), ran.len(), "a time ran twice");
    assert_eq!(ran.len(), JOBS * usize::try_from(LOOKS).unwrap());
    let completed: Vec<u64> = place.home.jobs().unwrap().iter().map(|job| job.repeat.completed).collect();
    assert_eq!(completed, [LOOKS.unsigned_abs(); JOBS]);
}

#[test]
fn what_a_claim_changes_is_known_at_once_and_stands_in_the_file_later() {
    let place = place();
    std::fs::create_dir_all(place.dir.path().join("cron")).unwrap();
    let other = r#"{"id":"aaaaaaaaaaaa","schedule":{"kind":"cron","expr":"0 9 1 1 *"},"next_run_at":"2027-01-01T09:00:00+00:00","x":  [1, 2]}"#;
    let text = format!(r#"{{"version": 3, "jobs": [{other}, {INTERVAL}]}}"#);
    std::fs::write(place.file(), &text).unwrap();

    let found = place.look("a", TEN);

    assert_eq!(found.claims.len(), 1);
    assert_eq!(std::fs::read_to_string(place.file()).unwrap(), text);
    let eleven = Some("2026-11-16T11:00:00+00:00");
    assert_eq!(place.home.job("n").unwrap().next_run_at.as_deref(), eleven);
    assert_eq!(place.home.jobs().unwrap()[1].next_run_at.as_deref(), eleven);
    assert_eq!(place.look("b", TEN).claims, []);
    place.home.fold(&here(TEN)).unwrap();
    let value = place.json();
    assert!(std::fs::read_to_string(place.file()).unwrap().contains(other), "{value}");
    assert_eq!(value["jobs"][1]["next_run_at"].as_str(), eleven);
    assert_eq!((&value["jobs"][1]["strange"], &value["version"]), (&json!({"a": 1}), &json!(3)));
    // Nothing is left to bring in: the file stays as it is.
    place.home.fold(&here("2026-11-16T10:30:00Z")).unwrap();
    assert_eq!(place.json(), value);
}

/// A job that is due at ten, as somebody else may have written it.
const INTERVAL: &str = r#"{"id":"bbbbbbbbbbbb","name":"n","prompt":"p","strange":{"a":1},"schedule":{"kind":"interval","minutes":60,"display":"every 60m"},"repeat":{"times":5,"completed":0},"next_run_at":"2026-11-16T10:00:00+00:00"}"#;

#[test]
fn what_others_write_meanwhile_stays_as_they_want_it() {
    let place = place();
    std::fs::create_dir_all(place.dir.path().join("cron")).unwrap();
    let with = |id: &str, name: &str| INTERVAL.replace("bbbbbbbbbbbb", id).replace("\"n\"", name);
    let (paused, moved, told) = (with("a1", "\"paused\""), with("a2", "\"moved\""), with("a3", "\"told\""));
    std::fs::write(place.file(), format!(r#"{{"jobs": [{paused}, {moved}, {told}]}}"#)).unwrap();
    let worker = place.home.worker("w").unwrap();
    let claims = place.home.claim_due(&worker, &here(TEN)).unwrap().claims;
    assert_eq!(claims.len(), 3);

    // Another program, which knows the file alone, changes every job and puts a new one in front.
    let mut file = place.json();
    file["jobs"][0]["enabled"] = json!(false);
    file["jobs"][0]["state"] = json!("paused");
    file["jobs"][1]["next_run_at"] = json!("2026-11-16T10:20:00+00:00");
    file["jobs"][2]["prompt"] = json!("another one");
    let new: Value = serde_json::from_str(&with("a0", "\"new\"")).unwrap();
    file["jobs"].as_array_mut().unwrap().insert(0, new);
    std::fs::write(place.file(), file.to_string()).unwrap();
    let end = Ended { outcome: Outcome::Ok, error: None, model: None, output: None, delivery_error: None };
    for claim in &claims {
        place.home.ended(claim, &end, &here("2026-11-16T10:01:00Z")).unwrap();
    }
    let next = place.home.claim_due(&worker, &here("2026-11-16T10:02:00Z")).unwrap();

    assert_eq!(next.claims.iter().map(|claim| claim.job.id.as_str()).collect::<Vec<_>>(), ["a0"]);
    assert_eq!(next.next, Some(here("2026-11-16T10:20:00Z").now));
    let known = place.home.jobs().unwrap();
    place.home.fold(&here(TEN)).unwrap();
    assert_eq!(place.home.jobs().unwrap(), known);
    let file = place.json();
    let of = |at: usize, field: &str| file["jobs"][at][field].clone();
    assert_eq!((of(1, "state"), of(1, "last_status")), (json!("paused"), json!("ok")));
    assert_eq!(of(2, "next_run_at"), "2026-11-16T10:20:00+00:00");
    assert_eq!(
        (of(3, "prompt"), of(3, "next_run_at")),
        (json!("another one"), json!("2026-11-16T11:00:00+00:00"))
    );
    assert!((1..4).all(|at| file["jobs"][at]["repeat"] == json!({"times": 5, "completed": 1})), "{file}");
}

#[test]
fn a_kill_between_any_two_steps_loses_nothing_and_runs_nothing_twice() {
    let changes = |place: &Place| -> Vec<(String, String, String)> {
        let db = rusqlite::Connection::open(place.dir.path().join("cron/executions.db")).unwrap();
        let mut list = db.prepare("SELECT job_id, before, after FROM job_changes").unwrap();
        let rows = list.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    for (index, folded) in [(true, false), (false, false), (true, true), (false, true)] {
        let place = place();
        std::fs::create_dir_all(place.dir.path().join("cron")).unwrap();
        std::fs::write(place.file(), format!(r#"{{"jobs": [{INTERVAL}]}}"#)).unwrap();
        let killed = place.home.worker("killed").unwrap();
        let claimed = place.home.claim_due(&killed, &here(TEN)).unwrap();
        assert_eq!(claimed.claims.len(), 1);
        let known = place.home.jobs().unwrap();
        let left = changes(&place);
        assert_eq!(left.len(), 1);
        if folded {
            // The file was written, and the changes were not taken away.
            place.home.fold(&here(TEN)).unwrap();
            assert_eq!(changes(&place), []);
            let db = rusqlite::Connection::open(place.dir.path().join("cron/executions.db")).unwrap();
            for (id, before, after) in left {
                db.execute("INSERT INTO job_changes VALUES (?1, ?2, ?3)", [id, before, after]).unwrap();
            }
        }
        if !index {
            // What is kept without care is not there after a power cut, or is not whole.
            let file = place.dir.path().join("cron/.index");
            let half = std::fs::read(&file).unwrap();
            std::fs::write(&file, &half[..half.len() / 2]).unwrap();
        }
        drop(killed);

        assert_eq!(place.home.jobs().unwrap(), known);
        let next = place.look("next", "2026-11-16T10:01:00Z");
        assert_eq!((next.claims.len(), next.interrupted.len()), (0, 1));
        place.home.fold(&here(TEN)).unwrap();
        let job = place.json()["jobs"][0].clone();
        assert_eq!(
            (&job["next_run_at"], &job["repeat"]["completed"]),
            (&json!("2026-11-16T11:00:00+00:00"), &json!(1))
        );
        let later = place.look("later", "2026-11-16T11:00:00Z");
        assert_eq!((later.claims.len(), later.interrupted.len()), (1, 0));
        let runs = place.home.runs().unwrap().newest(None, 9).unwrap();
        assert_eq!(runs.len(), 2, "{runs:?}");
    }
}

/// The variable that tells the copy of this program, which is killed, where it works and from when on.
const KILLED: &str = "HERMES_TEST_CRON_KILLED";

/// What the copy does until it is killed: it looks, runs what it finds and folds, minute after minute.
#[test]
fn a_copy_of_this_program_works_until_it_is_killed() {
    let Ok(told) = std::env::var(KILLED) else { return };
    let (dir, from) = told.split_once('\n').unwrap();
    let home = CronHome::of(&Home::at(Path::new(dir)));
    let worker = home.worker(&std::process::id().to_string()).unwrap();
    let end = Ended { outcome: Outcome::Ok, error: None, model: None, output: None, delivery_error: None };
    let from: i64 = from.parse().unwrap();
    for second in (from..).step_by(60) {
        let now = jiff::Timestamp::from_second(second).unwrap();
        let here = Here { now, zone: TimeZone::UTC };
        for claim in home.claim_due(&worker, &here).unwrap().claims {
            home.runs().unwrap().began(&claim.run, None, now).unwrap();
            home.ended(&claim, &end, &here).unwrap();
        }
        home.fold(&here).unwrap();
        eprintln!("{second}");
    }
}

#[test]
fn a_program_that_is_killed_again_and_again_runs_each_time_once_and_tells_of_the_others() {
    const JOBS: u64 = 3;
    let place = place();
    for n in 0..JOBS {
        place.home.create(draft("every 1m", &format!("job {n}")), &here(NINE), n).unwrap();
    }
    let start = here(NINE).now.as_second();
    let mut from = start + 60;
    for kill in 0..12_u64 {
        let mut copy = std::process::Command::new(std::env::current_exe().unwrap());
        copy.args(["--exact", "a_copy_of_this_program_works_until_it_is_killed", "--nocapture"]);
        copy.env(KILLED, format!("{}\n{from}", place.dir.path().display()));
        let mut copy =
            copy.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let mut lines = std::io::BufReader::new(copy.stderr.take().unwrap()).lines();
        for line in lines.by_ref().take(3) {
            from = line.unwrap().parse().unwrap();
        }
        // Somewhere in the middle of what comes next.
        std::thread::sleep(std::time::Duration::from_micros(kill * 700));
        copy.kill().unwrap();
        copy.wait().unwrap();
        let rest = lines.map_while(Result::ok).filter_map(|line| line.parse().ok());
        from = rest.last().unwrap_or(from);
        from += 60;
    }
    // Whatever it was in the middle of, this look tells of it; and it is time for the next ones.
    let last = jiff::Timestamp::from_second(from).unwrap();
    let end = here(&last.to_string());
    place.home.claim_due(&place.home.worker("last").unwrap(), &end).unwrap();
    place.home.claim_due(&place.home.worker("very last").unwrap(), &end).unwrap();
    place.home.fold(&end).unwrap();

    let times = u64::try_from((from - start) / 60).unwrap();
    let runs = place.home.runs().unwrap().newest(None, 100_000).unwrap();
    let different: BTreeSet<_> = runs.iter().map(|run| (&run.job_id, &run.scheduled_for)).collect();
    assert_eq!((runs.len(), different.len() as u64), (different.len(), JOBS * times));
    assert!(
        runs.iter().all(|run| matches!(run.outcome, Some(Outcome::Ok | Outcome::Interrupted))),
        "{runs:?}"
    );
    for job in place.json()["jobs"].as_array().unwrap() {
        assert_eq!(job["repeat"]["completed"], times, "{job}");
    }
}

#[test]
fn what_a_dead_process_left_behind_is_told_once_and_not_run_again() {
    let place = place();
    place.home.create(draft("every 1h", "news"), &here(NINE), 7).unwrap();
    let dead = place.home.worker("dead").unwrap();
    let claim = place.home.claim_due(&dead, &here(TEN)).unwrap().claims.remove(0);
    place.home.runs().unwrap().began(&claim.run, Some("cron_x"), here(TEN).now).unwrap();
    // As long as it lives, nothing is said about it.
    assert_eq!(
        place.look("a", "2026-11-16T10:01:00Z"),
        Claimed { next: Some(here("2026-11-16T11:00:00Z").now), ..Claimed::default() }
    );

    drop(dead);
    let found = place.look("b", "2026-11-16T10:02:00Z");

    assert_eq!((found.claims.len(), found.interrupted.len()), (0, 1));
    let run = &found.interrupted[0];
    assert_eq!((run.outcome, run.status.as_str()), (Some(Outcome::Interrupted), "unknown"));
    assert_eq!((run.session_id.as_deref(), run.id.as_str()), (Some("cron_x"), claim.run.as_str()));
    assert!(place.home.job("news").unwrap().last_error.unwrap().starts_with("interrupted"));
    assert_eq!(place.look("c", "2026-11-16T10:03:00Z").interrupted, []);
    assert_eq!(place.look("d", "2026-11-16T11:00:00Z").claims.len(), 1);
}

#[test]
fn missed_times_are_recorded_and_a_job_never_runs_beside_itself() {
    let place = place();
    let rule = Draft { misfire: Some(Misfire::Skip), ..draft("every 1h", "news") };
    place.home.create(rule, &here(NINE), 7).unwrap();

    let late = place.look("a", "2026-11-16T12:30:00Z");

    assert_eq!((late.claims.len(), late.missed.len()), (0, 1));
    assert_eq!(late.missed[0].missed_count, Some(3));
    assert_eq!(late.missed[0].outcome, Some(Outcome::Missed));
    assert_eq!(place.home.job("news").unwrap().last_missed_at.as_deref(), Some("2026-11-16T12:00:00+00:00"));
    let worker = place.home.worker("b").unwrap();
    assert_eq!(place.home.claim_due(&worker, &here("2026-11-16T13:00:00Z")).unwrap().claims.len(), 1);
    let beside = place.look("c", "2026-11-16T14:00:00Z");
    assert_eq!((beside.claims.len(), beside.missed.len()), (0, 1));
    assert!(beside.missed[0].error.as_deref().unwrap().contains("had not ended"));
    let other = place.home.worker("d").unwrap();
    let out_of_turn = || place.home.claim_now(&other, "news", &here("2026-11-16T14:01:00Z"));
    assert!(out_of_turn().unwrap_err().to_string().contains("is running now"));
    drop(worker);
    assert_eq!(out_of_turn().unwrap().due, None);
}

#[test]
fn a_job_that_makes_no_sense_does_not_hold_up_the_others() {
    let place = place();
    place.home.create(draft("every 1h", "good"), &here(NINE), 7).unwrap();
    let mut file = place.json();
    let mut bad = file["jobs"][0].clone();
    bad["id"] = json!("bbbbbbbbbbbb");
    bad["schedule"] = json!({"kind": "cron", "expr": "99 * * * *", "display": "99 * * * *"});
    file["jobs"].as_array_mut().unwrap().push(bad);
    std::fs::write(place.file(), file.to_string()).unwrap();

    let found = place.look("a", TEN);

    assert_eq!(found.claims.len(), 1);
    assert!(matches!(&found.unreadable[..], [(id, why)] if id == "bbbbbbbbbbbb" && why.contains("minute")));
    assert_eq!(place.home.job("bbbbbbbbbbbb").unwrap().state, State::Error);
}

#[test]
fn a_change_by_hand_is_seen_at_the_next_look() {
    let place = place();
    place.home.create(draft("0 0 1 1 *", "rare"), &here(NINE), 7).unwrap();
    assert_eq!(place.look("a", TEN).claims, []);
    let mut file = place.json();
    file["jobs"][0]["next_run_at"] = json!("2026-11-16T09:59:00+00:00");
    std::fs::write(place.file(), file.to_string()).unwrap();

    assert_eq!(place.look("b", TEN).claims.len(), 1);
}

#[test]
fn a_record_of_the_original_is_taken_over() {
    let place = place();
    std::fs::create_dir_all(place.dir.path().join("cron")).unwrap();
    let db = rusqlite::Connection::open(place.dir.path().join("cron/executions.db")).unwrap();
    db.execute_batch(
        "CREATE TABLE executions (id TEXT PRIMARY KEY, job_id TEXT, source TEXT, process_id TEXT, pid INTEGER,
         process_started_at REAL, status TEXT, claimed_at TEXT, started_at TEXT, finished_at TEXT, error TEXT);
         INSERT INTO executions VALUES ('1', 'j', 'tick', 'p', 1, 1.5, 'completed', 'a', 'b', 'c', NULL);
         INSERT INTO executions VALUES ('2', 'j', 'tick', 'p', 1, 1.5, 'running', 'a', 'b', NULL, NULL);",
    )
    .unwrap();
    drop(db);
    place.home.create(draft("every 1h", "news"), &here(NINE), 7).unwrap();

    let found = place.look("a", TEN);

    assert_eq!((found.claims.len(), found.interrupted.len()), (1, 0));
    let runs = place.home.runs().unwrap().newest(None, 9).unwrap();
    assert_eq!(
        runs.iter().map(|run| run.status.as_str()).collect::<Vec<_>>(),
        ["claimed", "running", "completed"]
    );
    assert_eq!(runs[2].outcome, Some(Outcome::Ok));
}

#[test]
fn answers_are_kept_the_newest_ones_only() {
    let place = place();
    let write = |minute: u32, job: &str| {
        let at = here(&format!("2026-11-16T09:{minute:02}:00Z")).now;
        let answer = format!("answer {minute}");
        let report = Report {
            job,
            name: "news",
            schedule: "every 1m",
            due: at,
            ended: at,
            zone: &TimeZone::UTC,
            model: Some("m"),
            session: Some("s"),
            prompt: "p",
            answer: &answer,
            error: None,
        };
        place.home.write_output(&report, 3).unwrap()
    };

    let paths: Vec<_> = (0..5).map(|minute| write(minute, "abc")).collect();

    let there: Vec<bool> = paths.iter().map(|path| path.exists()).collect();
    assert_eq!(there, [false, false, true, true, true]);
    assert_eq!(place.home.last_answer("abc").unwrap().as_deref(), Some("answer 4"));
    assert_eq!(place.home.last_answer("none").unwrap(), None);
    let odd = write(9, "../../escape");
    assert!(odd.starts_with(place.dir.path().join("cron/output")), "{}", odd.display());
}

#[test]
fn the_jobs_of_another_home_come_in_paused_and_once() {
    let (here_now, other, place) = (here(NINE), place(), place());
    let known = other.home.create(draft("every 1h", "news"), &here_now, 1).unwrap();
    other.home.create(draft("@daily", "disk"), &here_now, 2).unwrap();

    let (new, before) = place.home.adopt(&other.file(), &here_now).unwrap();
    let (again, then) = place.home.adopt(&other.file(), &here_now).unwrap();

    assert_eq!((new.len(), before, again.len(), then), (2, 0, 0, 2));
    let job = place.home.job("news").unwrap();
    assert_eq!((job.id, job.state, job.enabled), (known.id, State::Paused, false));
    // Where they come from they go on, and here nothing runs by itself.
    assert_eq!(place.look("a", TEN).claims, []);
    assert_eq!(other.look("b", TEN).claims.len(), 1);
    assert!(place.home.adopt(&other.dir.path().join("nothing.json"), &here_now).unwrap().0.is_empty());
}

#[test]
fn one_scheduler_works_for_a_home() {
    let place = place();
    assert_eq!(place.home.served(), None);
    let server = place.home.serve(42, here(NINE).now).unwrap().unwrap();

    assert_eq!(place.home.served().map(|who| who.pid), Some(42));
    assert_eq!(place.home.serve(43, here(NINE).now).unwrap().unwrap_err().map(|who| who.pid), Some(42));
    drop(server);

    assert_eq!(place.home.served(), None);
    assert!(place.home.serve(44, here(NINE).now).unwrap().is_ok());
}

#[test]
fn a_script_is_a_file_inside_of_its_folder() {
    let place = place();
    let scripts = place.dir.path().join("scripts");
    std::fs::create_dir_all(scripts.join("deep")).unwrap();
    std::fs::write(scripts.join("deep/check.sh"), "true").unwrap();
    std::fs::write(place.dir.path().join("outside.sh"), "true").unwrap();
    std::os::unix::fs::symlink(place.dir.path().join("outside.sh"), scripts.join("link.sh")).unwrap();

    assert!(place.home.script("deep/check.sh").unwrap().ends_with(Path::new("scripts/deep/check.sh")));
    for script in ["none.sh", "deep", "../outside.sh", "link.sh"] {
        assert!(place.home.script(script).is_err(), "{script}");
    }
}
