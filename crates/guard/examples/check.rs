//! Judges one JSON object per line (`{"cmd": "…", "cwd": "…"}`) and prints one per line.

use std::io::{self, BufRead as _, Write as _};

use hermes_guard::{Context, judge};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let entry: Value = serde_json::from_str(&line?)?;
        let command = entry.get("cmd").and_then(Value::as_str).unwrap_or_default();
        let cwd = entry.get("cwd").and_then(Value::as_str).unwrap_or("/home/user/project");
        let judgement = judge(command, &Context::new(cwd, "/home/user"));
        let effects: Vec<Value> = judgement
            .against()
            .map(|finding| {
                let targets: Vec<&str> = finding.effect.targets.iter().map(|target| target.text.as_str()).collect();
                json!({ "kind": finding.effect.kind, "targets": targets, "span": finding.effect.span, "rule": finding.rule })
            })
            .collect();
        let answer = json!({ "verdict": judgement.verdict, "never": judgement.never, "effects": effects, "why": judgement.why });
        writeln!(out, "{answer}")?;
    }
    Ok(())
}
