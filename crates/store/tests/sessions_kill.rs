//! Kills a writing process at random instants, again and again: the store always opens, and what
//! was finished is there, once.

#![expect(clippy::disallowed_methods, reason = "a test with real processes that are killed at random times")]

mod support;

use std::io::{BufRead as _, BufReader};
use std::time::Duration;

use hermes_store::sessions::{Durability, Mended};
use support::{Scene, check, write_until_killed};

/// How many times in all; a new store after so many.
const KILLS: u32 = 200;
const PER_STORE: u32 = 20;

#[test]
fn writer() {
    write_until_killed();
}

#[test]
fn a_kill_at_any_instant_loses_nothing_and_repeats_nothing() {
    let mut found = Mended::default();
    let mut chance = 0x2545_f491_4f6c_dd1d_u64;
    for store in 0..KILLS / PER_STORE {
        let dir = tempfile::tempdir().unwrap();
        let durability = if store % 2 == 0 { Durability::Kill } else { Durability::PowerCut };
        let scene = Scene::new(dir.path(), durability);
        for _ in 0..PER_STORE {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut child = scene.writer("writer", "s");
            let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
            // Every eighth is killed while it opens the store.
            if chance >> 61 != 0 {
                said.find(|line| line.as_ref().unwrap().ends_with("ready")).unwrap().unwrap();
            }
            std::thread::sleep(Duration::from_micros((chance >> 33) % 60_000));
            child.kill().unwrap();
            child.wait().unwrap();

            let mended = check(&scene, &["s".to_owned()]);
            found.finished += mended.finished;
            found.interrupted += mended.interrupted;
            found.not_started += mended.not_started;
        }
    }
    // The kills did hit turns in the middle.
    assert!(found.finished > 0 && found.interrupted > 0 && found.not_started > 0, "{found:?}");
}
