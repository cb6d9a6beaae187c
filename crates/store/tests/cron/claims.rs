//! What is due is claimed once, however many look, and whatever others write meanwhile.

use std::collections::BTreeSet;
use std::sync::{Barrier, Mutex};

use hermes_core::cron::{Draft, Here, JobError, State};
use hermes_core::schedule::Misfire;
use hermes_store::cron::{Outcome, Worker};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::{INTERVAL, NINE, Place, TEN, draft, here, place, well};

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

/// One look, and the end of everything that it found; which times those were.
fn look_and_run(place: &Place, worker: &Worker, here: &Here) -> Result<Vec<(String, Timestamp)>, String> {
    let told = |wrong: JobError| wrong.to_string();
    let found = place.home.claim_due(worker, here).map_err(told)?;
    if !found.missed.is_empty() || !found.interrupted.is_empty() {
        return Err(format!("{found:?}"));
    }
    let mut ran = Vec::new();
    for claim in found.claims {
        let runs = place.home.runs().map_err(|wrong| wrong.to_string())?;
        runs.began(&claim.run, None, here.now).map_err(|wrong| wrong.to_string())?;
        place.home.ended(&claim, &well(), here).map_err(told)?;
        ran.push((claim.job.id.clone(), claim.due.unwrap()));
    }
    Ok(ran)
}

#[test]
fn eight_at_once_run_each_time_exactly_once() {
    const JOBS: usize = 6;
    const LOOKS: i64 = 10;
    let place = place();
    for n in 0..JOBS {
        place.home.create(draft("every 1m", &format!("job {n}")), &here(NINE), n as u64).unwrap();
    }
    let (ran, wrong, barrier) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()), Barrier::new(8));
    std::thread::scope(|scope| {
        for who in 0..8 {
            let (place, ran, wrong, barrier) = (&place, &ran, &wrong, &barrier);
            scope.spawn(move || {
                let worker = place.home.worker(&format!("w{who}")).unwrap();
                for look in 1..=LOOKS {
                    let now = Timestamp::from_second(here(NINE).now.as_second() + look * 60).unwrap();
                    barrier.wait();
                    // Whoever stopped here would leave the others waiting.
                    match look_and_run(place, &worker, &Here { now, zone: TimeZone::UTC }) {
                        Ok(times) => ran.lock().unwrap().extend(times),
                        Err(why) => wrong.lock().unwrap().push(why),
                    }
                    barrier.wait();
                }
            });
        }
    });

    assert_eq!(*wrong.lock().unwrap(), [""; 0]);
    let ran = ran.lock().unwrap();
    let different: BTreeSet<_> = ran.iter().collect();
    assert_eq!(different.len(), ran.len(), "a time ran twice");
    assert_eq!(ran.len(), JOBS * usize::try_from(LOOKS).unwrap());
    let completed: Vec<u64> = place.home.jobs().unwrap().iter().map(|job| job.repeat.completed).collect();
    assert_eq!(completed, [LOOKS.unsigned_abs(); JOBS]);
}

#[test]
fn many_who_begin_the_record_at_once_all_have_it() {
    for _ in 0..40 {
        let (place, barrier) = (place(), Barrier::new(8));
        std::thread::scope(|scope| {
            let begin = || {
                barrier.wait();
                place.home.runs().map(drop).map_err(|wrong| wrong.to_string())
            };
            let all: Vec<_> = (0..8).map(|_| scope.spawn(begin)).collect();
            for one in all {
                assert_eq!(one.join().unwrap(), Ok(()));
            }
        });
    }
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
    let end = well();
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
