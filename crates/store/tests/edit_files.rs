//! Saving `config.yaml`: whole or not at all, links and modes kept, no writer lost.

#![expect(clippy::disallowed_methods, reason = "a test sets up files and processes of its own")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use hermes_store::config::KeyPath;
use hermes_store::{Change, Config, ConfigFile, Home, StoreError};
use serde_json::json;

fn key(text: &str) -> KeyPath {
    text.parse().unwrap()
}

/// A home whose config holds `text`.
fn home(text: &str) -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(&dir.path().join("home"));
    fs::create_dir(home.path()).unwrap();
    fs::write(home.config(), text).unwrap();
    (dir, home)
}

#[test]
fn a_first_save_makes_a_private_home_and_file() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(&dir.path().join("home"));

    let change = ConfigFile::update(&home, |f| f.set(&key("a"), &json!(1)).map(drop)).unwrap();

    assert_eq!(change, Change { path: home.config(), before: String::new(), after: "a: 1\n".into() });
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(home.path()), mode(&home.config())), (0o700, 0o600));
}

#[test]
fn a_dry_run_writes_nothing_and_an_empty_change_neither() {
    let (_dir, home) = home("a: 1\n");
    let stamp = || fs::metadata(home.config()).unwrap().modified().unwrap();
    let before = stamp();

    let mut file = ConfigFile::open(&home).unwrap();
    file.set(&key("a"), &json!(2)).unwrap();
    assert_eq!(file.change().after, "a: 2\n");
    ConfigFile::open(&home).unwrap().save().unwrap();

    assert_eq!(fs::read_to_string(home.config()).unwrap(), "a: 1\n");
    assert_eq!(stamp(), before);
}

#[test]
fn a_save_keeps_a_link_and_the_mode_of_the_file_behind_it() {
    let (dir, home) = home("");
    let dots = dir.path().join("dots.yaml");
    fs::write(&dots, "a: 1 # c\n").unwrap();
    fs::set_permissions(&dots, fs::Permissions::from_mode(0o640)).unwrap();
    fs::remove_file(home.config()).unwrap();
    symlink("../dots.yaml", home.config()).unwrap();

    let mut file = ConfigFile::open(&home).unwrap();
    file.set(&key("a"), &json!(2)).unwrap();
    file.save().unwrap();

    assert!(fs::symlink_metadata(home.config()).unwrap().file_type().is_symlink());
    assert_eq!(fs::read_to_string(&dots).unwrap(), "a: 2 # c\n");
    assert_eq!(fs::metadata(&dots).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_save_over_somebody_elses_change_is_refused() {
    let (_dir, home) = home("a: 1\n");
    let mut file = ConfigFile::open(&home).unwrap();
    file.set(&key("a"), &json!(2)).unwrap();
    fs::write(home.config(), "a: 3\n").unwrap();

    assert!(matches!(file.save(), Err(StoreError::Changed { .. })));
    assert_eq!(fs::read_to_string(home.config()).unwrap(), "a: 3\n");
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let (_dir, home) = home("# shared\n");

    std::thread::scope(|scope| {
        for i in 0..8 {
            let home = &home;
            scope.spawn(move || {
                ConfigFile::update(home, |f| {
                    f.add_to_list(&key("command_allowlist"), &format!("c{i}")).map(drop)
                })
                .unwrap();
            });
        }
    });

    let mut found = Config::read(&home, &|_| None).unwrap().settings.command_allowlist;
    found.sort();
    assert_eq!(found, (0..8).map(|i| format!("c{i}")).collect::<Vec<_>>());
}
