//! Two programs of one home that use the same place at the same time.

use std::fs;
use std::sync::Arc;

use hermes_core::environment::{End, EnvError, Ran, Why, Workplace};
use hermes_env::backends::Surroundings;
use serde_json::json;

use crate::apptainer;
use crate::bench::{Bench, usual};
use crate::clouds::VENDORS;
use crate::containers::{self, ENGINES, engine, told};
use crate::doubles::Double;
use crate::processes::until;

/// How many there are that run.
type Running<'a> = &'a dyn Fn(&Bench) -> usize;

/// Every kind of place that programs share, with a folder for what outlives it.
fn each(tried: impl Fn(&Bench, Running<'_>)) {
    for name in ENGINES {
        let sandbox = tempfile::tempdir().unwrap();
        let around = Surroundings { sandbox: Some(sandbox.path().into()), ..Surroundings::default() };
        let more = json!({ "persist_across_processes": true, "extra_args": [] });
        let Some(bench) = containers::bench_with(name, &more, around) else { continue };
        let (_, client) = engine(name).unwrap();
        let label = format!("label=hermes-owner=test{}", std::process::id());
        tried(&bench, &|_| told(&client, &["ps", "-q", "--filter", &label]).lines().count());
    }
    let sandbox = tempfile::tempdir().unwrap();
    let around = Surroundings { sandbox: Some(sandbox.path().into()), ..Surroundings::default() };
    if let Some(bench) = apptainer::bench_with(&json!({ "persistent": true }), around) {
        tried(&bench, &|bench| apptainer::instances(bench).len());
    }
    for vendor in VENDORS {
        let Some(double) = Double::start(vendor.backend) else { continue };
        let bench = vendor.bench(&double, &json!({ "persistent": true }));
        let runs = |one: &serde_json::Value| one["state"] == "started";
        tried(&bench, &|_| double.sandboxes().iter().filter(|one| runs(one)).count());
    }
}

fn run(bench: &Bench, place: &Arc<dyn Workplace>, text: &str) -> Result<Ran, EnvError> {
    bench.runtime.block_on(place.run(bench.permit(text), usual()))
}

/// Runs a command in a place until it has begun, does something, and lets it end.
fn meanwhile(bench: &Bench, place: &Arc<dyn Workplace>, then: impl FnOnce()) -> Result<Ran, EnvError> {
    let (ran, go) = (bench.work().join("ran"), bench.work().join("go"));
    let text = "echo before; echo once >> ran; until [ -e go ]; do sleep 0.05; done; echo after";
    let ended = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(bench, place, text));
        until("it runs", || ran.exists());
        then();
        fs::write(&go, "").unwrap();
        running.join().unwrap()
    });
    assert_eq!(fs::read_to_string(&ran).unwrap(), "once\n");
    fs::remove_file(ran).unwrap();
    fs::remove_file(go).unwrap();
    ended
}

fn ended_well(backend: &str, ended: Result<Ran, EnvError>) {
    assert!(ended.is_ok(), "{backend}: {ended:?}");
    let ended = ended.unwrap();
    let why = Why::Ended(End::Code(0));
    assert_eq!((ended.why, ended.output.head.as_slice()), (why, b"before\nafter\n".as_slice()), "{backend}");
}

#[test]
fn a_place_that_two_programs_begin_with_at_once_is_made_once_and_stopped_by_the_last() {
    each(|bench, running| {
        let (backend, other) = (bench.backend(), bench.beside(&json!({})));

        std::thread::scope(|scope| {
            let both =
                [&bench.place, &other].map(|place| scope.spawn(move || run(bench, place, "true").unwrap()));
            for one in both {
                assert_eq!(one.join().unwrap().why, Why::Ended(End::Code(0)), "{backend}");
            }
        });
        assert_eq!(running(bench), 1, "{backend}");

        // The first has not used it for a while.
        ended_well(
            backend,
            meanwhile(bench, &other, || bench.runtime.block_on(bench.place.close(false)).unwrap()),
        );
        assert_eq!(running(bench), 1, "{backend}");
        // It comes back, and the other ends.
        run(bench, &bench.place, "true").unwrap();
        ended_well(backend, meanwhile(bench, &bench.place, || drop(other)));

        bench.runtime.block_on(bench.place.close(false)).unwrap();
        until("the last has stopped it", || running(bench) == 0);
        bench.runtime.block_on(bench.place.close(true)).unwrap();
    });
}

#[test]
fn a_place_that_is_in_use_is_not_taken_away_by_a_program_with_other_settings() {
    each(|bench, _| {
        let backend = bench.backend();
        run(bench, &bench.place, "true").unwrap();
        let other = bench.beside(&json!({ "env": { "COLOUR": "blue" } }));

        ended_well(
            backend,
            meanwhile(bench, &bench.place, || match run(bench, &other, "echo $COLOUR") {
                Ok(ran) => assert_eq!(ran.output.head, b"blue\n", "{backend}"),
                // There is one sandbox of a name, and one folder for what an instance keeps.
                Err(wrong) => {
                    let said = wrong.to_string();
                    assert!(
                        ["daytona", "singularity", "vercel_sandbox"].contains(&backend),
                        "{backend}: {said}"
                    );
                    assert!(said.contains("another run of this home") && said.contains("settings"), "{said}");
                }
            }),
        );

        bench.runtime.block_on(bench.place.close(true)).unwrap();
        bench.runtime.block_on(other.close(true)).unwrap();
    });
}
