//! The corpus, judged whole: recall, false alarms, and the never list.

use std::fs;
use std::path::Path;

use hermes_guard::{Context, Verdict, judge};
use serde_json::Value;

fn entries(side: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(side);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            fs::read_to_string(file)
                .unwrap()
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect::<Vec<Value>>()
        })
        .collect()
}

fn context(entry: &Value) -> Context {
    Context::new(entry["cwd"].as_str().unwrap_or("/home/user/project"), "/home/user")
}

#[test]
fn at_least_99_in_100_disguised_dangers_are_caught() {
    let all = entries("danger");

    let missed: Vec<&str> = all
        .iter()
        .filter_map(|entry| {
            entry["cmd"].as_str().filter(|command| judge(command, &context(entry)).verdict == Verdict::Allow)
        })
        .collect();

    assert!(missed.len() * 100 <= all.len(), "{missed:#?}");
}

#[test]
fn at_most_1_in_100_harmless_commands_is_asked_about_and_none_is_denied() {
    let all = entries("harmless");
    let mut asked = Vec::new();
    for entry in &all {
        let command = entry["cmd"].as_str().unwrap();
        let judgement = judge(command, &context(entry));
        assert!(!judgement.never, "{command}: {}", judgement.why);
        if judgement.verdict != Verdict::Allow {
            asked.push(command);
        }
    }

    assert!(asked.len() * 100 <= all.len(), "{asked:#?}");
}
