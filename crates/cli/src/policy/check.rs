//! `hermes policy check`: judges one command per line, in order, for programs that ask a lot.

use std::io::BufRead;

use hermes::guard::{UserRules, judge};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::policy::{context, described};
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Check {}

/// One line of input.
#[derive(Deserialize)]
struct Asked {
    cmd: String,
    cwd: Option<String>,
}

impl Run for Check {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let rules = shell.runtime()?.policy_settings().map_err(Failure::failed)?.rules;
        let mut wrong = 0_usize;
        for (number, line) in std::io::stdin().lock().split(b'\n').enumerate() {
            let line = line.map_err(|bad| Failure::failed(format!("cannot read standard input: {bad}")))?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let answer = match serde_json::from_slice::<Asked>(&line) {
                Ok(asked) => answer(shell, &asked, &rules),
                Err(bad) => {
                    wrong += 1;
                    refused(number + 1, &bad)
                }
            };
            shell.out.line(&answer.to_string())?;
        }
        if wrong == 0 {
            Ok(())
        } else {
            Err(Failure::usage(format!("{wrong} lines are not {{\"cmd\": \"…\"}} objects")))
        }
    }
}

fn answer(shell: &Shell, asked: &Asked, rules: &UserRules) -> Value {
    described(&judge(&asked.cmd, &context(shell, asked.cwd.as_deref(), rules)))
}

/// What cannot be read cannot be allowed; the line keeps its place in the output.
fn refused(number: usize, bad: &serde_json::Error) -> Value {
    json!({ "verdict": "deny", "never": false, "effects": [], "why": format!("line {number}: {bad}") })
}
