//! `hermes policy check`: judges one command per line, in order, for programs that ask a lot: by the
//! policy and behind the fence that a session in that directory would meet.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::PathBuf;

use hermes::Runtime;
use hermes::core::effect::lexical;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::policy::described;
use crate::shell::Shell;

/// Most directories that are remembered at a time.
const MOST_PLACES: usize = 64;

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
        let mut places = Places { shell, known: BTreeMap::new() };
        let mut wrong = 0_usize;
        for (number, line) in std::io::stdin().lock().split(b'\n').enumerate() {
            let line = line.map_err(|bad| Failure::failed(format!("cannot read standard input: {bad}")))?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let answer = match serde_json::from_slice::<Asked>(&line) {
                Ok(asked) => places.answer(&asked)?,
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

/// The directories commands were asked about, each with what a session there would meet.
struct Places<'a> {
    shell: &'a Shell,
    known: BTreeMap<PathBuf, Runtime>,
}

impl Places<'_> {
    fn answer(&mut self, asked: &Asked) -> Result<Value, Failure> {
        let shell = self.shell;
        let cwd = asked.cwd.as_deref().unwrap_or(".");
        let cwd = lexical(cwd, shell.cwd(), shell.user_home().as_deref());
        if !self.known.contains_key(&cwd) {
            if self.known.len() >= MOST_PLACES {
                self.known.clear();
            }
            self.known.insert(cwd.clone(), shell.runtime_in(&cwd)?);
        }
        let explained = self.known.get(&cwd).and_then(|runtime| runtime.explain_command(&asked.cmd));
        let explained = explained.ok_or_else(|| Failure::failed("there is no policy to ask"))?;
        Ok(described(&explained))
    }
}

/// What cannot be read cannot be allowed; the line keeps its place in the output.
fn refused(number: usize, bad: &serde_json::Error) -> Value {
    json!({ "verdict": "deny", "never": false, "effects": [], "why": format!("line {number}: {bad}") })
}
