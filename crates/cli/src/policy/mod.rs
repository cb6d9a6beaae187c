//! The actions of `hermes policy`, one file each, and what they share: where a command is judged
//! from, and how an answer is written.

pub(crate) mod check;
pub(crate) mod explain;
pub(crate) mod rules;

use hermes::core::effect::lexical;
use hermes::guard::{Context, Judgement, UserRules, Verdict};
use serde_json::{Value, json};

use crate::shell::Shell;

/// Where a command is judged from: `cwd` if given, else where this process stands.
fn context(shell: &Shell, cwd: Option<&str>, rules: &UserRules) -> Context {
    let user_home = shell.user_home();
    let here = match cwd {
        Some(cwd) => lexical(cwd, shell.cwd(), user_home.as_deref()),
        None => shell.cwd().to_path_buf(),
    };
    let home = user_home.unwrap_or_else(|| "/".into());
    Context::new(here.to_string_lossy(), home.to_string_lossy()).rules(rules.clone())
}

/// The answer for one command, for machines.
fn described(judgement: &Judgement) -> Value {
    let effects: Vec<Value> = judgement
        .findings
        .iter()
        .map(|finding| {
            let targets: Vec<&str> =
                finding.effect.targets.iter().map(|target| target.text.as_str()).collect();
            json!({
                "kind": finding.effect.kind.name(),
                "what": finding.effect.what,
                "targets": targets,
                "span": [finding.effect.span.start, finding.effect.span.end],
                "rule": finding.rule,
                "verdict": word(finding.verdict),
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
