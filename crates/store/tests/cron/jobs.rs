//! Jobs as they are kept: in the original's file, with what we do not know left as it stood; answers and
//! scripts beside it.

use std::path::Path;

use hermes_core::cron::{JobError, State, Step};
use hermes_store::cron::{Outcome, Report};
use jiff::tz::TimeZone;
use serde_json::json;

use crate::{NINE, TEN, draft, here, place};

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
