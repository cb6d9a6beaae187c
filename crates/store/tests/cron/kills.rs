//! Programs that are killed: nothing is lost, nothing runs twice, and what was cut off is told.

use std::collections::BTreeSet;
use std::io::BufRead as _;
use std::path::Path;

use hermes_core::cron::Here;
use hermes_store::cron::{Claimed, Outcome};
use hermes_store::{CronHome, Home};
use jiff::tz::TimeZone;
use serde_json::json;

use crate::{INTERVAL, NINE, Place, TEN, draft, here, place, well};

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
    let end = well();
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
        copy.args(["--exact", "kills::a_copy_of_this_program_works_until_it_is_killed", "--nocapture"]);
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
