//! The corpus, judged whole: recall, false alarms, and the never list.

#![expect(clippy::disallowed_methods, reason = "it reads the corpus")]

use std::error::Error;
use std::fs;
use std::path::Path;

use hermes_guard::{Context, Verdict, judge};
use serde_json::Value;

fn entries(side: &str) -> Result<Vec<Value>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(side))? {
        files.push(entry?.path());
    }
    files.sort();
    let mut entries = Vec::new();
    for file in files {
        for line in fs::read_to_string(file)?.lines() {
            entries.push(serde_json::from_str(line)?);
        }
    }
    Ok(entries)
}

fn context(entry: &Value) -> Context {
    Context::new(entry["cwd"].as_str().unwrap_or("/home/user/project"), "/home/user")
}

#[test]
fn at_least_99_in_100_disguised_dangers_are_caught() {
    let all = entries("danger").unwrap();

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
    let all = entries("harmless").unwrap();
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

/// Commands kept apart: nothing was changed for one of them, so they tell how the guard does on
/// commands it has never met.
fn unseen(file: &str) -> Result<Vec<(String, bool)>, Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/unseen").join(file);
    let mut judged = Vec::new();
    for line in fs::read_to_string(path)?.lines() {
        let entry: Value = serde_json::from_str(line)?;
        let command = entry.get("cmd").and_then(Value::as_str).unwrap_or_default();
        judged.push((command.to_owned(), judge(command, &context(&entry)).verdict != Verdict::Allow));
    }
    Ok(judged)
}

#[test]
fn of_dangers_that_were_kept_apart_nineteen_in_twenty_are_asked_about() {
    let all = unseen("danger.jsonl").unwrap();
    let missed: Vec<_> = all.iter().filter(|(_, asked)| !asked).collect();

    assert!(all.len() > 1_000 && missed.len() * 20 <= all.len(), "{missed:#?}");
}

#[test]
fn of_harmless_commands_that_were_kept_apart_at_most_one_in_a_hundred_is_asked_about() {
    let all = unseen("harmless.jsonl").unwrap();
    let asked: Vec<_> = all.iter().filter(|(_, asked)| *asked).collect();

    assert!(all.len() > 700 && asked.len() * 100 <= all.len(), "{asked:#?}");
}
