//! Recall and false alarms on the corpus, by technique: `cargo run --example corpus [list]`.

#![expect(clippy::disallowed_methods, reason = "it reads the corpus")]

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use hermes_guard::{Context, Verdict, judge};
use serde_json::Value;

#[expect(clippy::print_stdout, reason = "this program reports to a person")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let list = env::args().nth(1).is_some_and(|arg| arg == "list");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut totals: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for side in ["danger", "harmless"] {
        let (mut good, mut all, mut never_wrong, mut never_missed) = (0, 0, 0, 0);
        let mut files: Vec<_> = fs::read_dir(root.join(side))?.collect::<Result<_, _>>()?;
        files.sort_by_key(fs::DirEntry::file_name);
        for file in files {
            let technique =
                format!("{side}/{}", file.path().file_stem().unwrap_or_default().to_string_lossy());
            for line in fs::read_to_string(file.path())?.lines() {
                let entry: Value = serde_json::from_str(line)?;
                let command = entry.get("cmd").and_then(Value::as_str).unwrap_or_default();
                let cwd = entry.get("cwd").and_then(Value::as_str).unwrap_or("/home/user/project");
                let judgement = judge(command, &Context::new(cwd, "/home/user"));
                let right = (judgement.verdict == Verdict::Allow) == (side == "harmless");
                let wanted = entry.get("never").and_then(Value::as_bool).unwrap_or(false);
                never_wrong += u32::from(judgement.never && !wanted);
                never_missed += u32::from(!judgement.never && wanted);
                let count = totals.entry(technique.clone()).or_default();
                count.0 += u32::from(right);
                count.1 += 1;
                good += u32::from(right);
                all += 1;
                if list && !right {
                    println!("WRONG {technique} {command:?} {}", judgement.why);
                } else if list && judgement.never != wanted {
                    println!("never={} {technique} {command:?} {}", judgement.never, judgement.why);
                }
            }
        }
        println!(
            "{side}: {good} of {all} right ({} wrong); never list: {never_wrong} too many, {never_missed} missing",
            all - good
        );
    }
    for (technique, (good, all)) in &totals {
        println!(
            "{technique:32} {good:5}/{all:<5} {:.1} %",
            100.0 * f64::from(*good) / f64::from((*all).max(1))
        );
    }
    Ok(())
}
