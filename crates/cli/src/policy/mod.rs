//! The actions of `hermes policy`, one file each, and what they share: how an answer is written.

pub(crate) mod check;
pub(crate) mod explain;
pub(crate) mod rules;

use hermes::Explained;
use hermes::guard::Verdict;
use serde_json::{Value, json};

/// The answer for one command, for machines.
fn described(explained: &Explained) -> Value {
    let judgement = &explained.judgement;
    let effects: Vec<Value> = judgement
        .findings
        .iter()
        .zip(&explained.impossible)
        .map(|(finding, impossible)| {
            let targets: Vec<&str> =
                finding.effect.targets.iter().map(|target| target.text.as_str()).collect();
            json!({
                "kind": finding.effect.kind.name(),
                "what": finding.effect.what,
                "targets": targets,
                "span": [finding.effect.span.start, finding.effect.span.end],
                "rule": finding.rule,
                "verdict": word(finding.verdict),
                "impossible": impossible,
            })
        })
        .collect();
    json!({
        "verdict": word(judgement.verdict),
        "never": judgement.never,
        "effects": effects,
        "why": judgement.why,
    })
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}
