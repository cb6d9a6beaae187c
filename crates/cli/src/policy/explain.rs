//! `hermes policy explain 'COMMAND'`: what a command would do, and whether it may run: by the policy and
//! behind the fence that a session would meet.

use hermes::Explained;
use hermes::core::effect::lexical;
use hermes::guard::{Decision, Finding, Mode, Verdict};
use serde_json::Value;

use crate::command::{Failure, Run};
use crate::policy::{described, word};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

#[derive(clap::Args)]
pub(crate) struct Explain {
    /// The command, as one argument
    command: String,
    /// The directory it would run in, instead of this one
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
}

impl Run for Explain {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = match &self.cwd {
            Some(cwd) => shell.runtime_in(&lexical(cwd, shell.cwd(), shell.user_home().as_deref())),
            None => shell.runtime(),
        }?;
        let explained = runtime.explain_command(&self.command);
        let explained = explained.ok_or_else(|| Failure::failed("there is no policy to ask"))?;
        if shell.out.wants_json() {
            return shell.out.json(&in_full(&explained));
        }
        shell.out.line(&sentence(&explained))?;
        if explained.judgement.findings.is_empty() {
            return Ok(());
        }
        shell.out.line("")?;
        let rows: Vec<Vec<Cell>> =
            findings(&explained).map(|(finding, never)| row(&self.command, finding, never)).collect();
        shell.out.table(&["EFFECT", "ON", "BECAUSE OF", "RULE", "VERDICT"], &rows)
    }
}

/// What was found, each with whether the fence makes it impossible.
fn findings(explained: &Explained) -> impl Iterator<Item = (&Finding, bool)> {
    explained.judgement.findings.iter().zip(explained.impossible.iter().copied())
}

/// The answer for machines, with what follows from it.
fn in_full(explained: &Explained) -> Value {
    let mut told = described(explained);
    let decision = match &explained.decision {
        Decision::Run => "run",
        Decision::Granted => "granted",
        Decision::Ask => "ask",
        Decision::AskModel => "ask_model",
        Decision::Refuse(_) => "refuse",
    };
    if let Some(told) = told.as_object_mut() {
        told.insert("decision".to_owned(), decision.into());
    }
    told
}

fn sentence(explained: &Explained) -> String {
    let Explained { judgement, decision, mode, .. } = explained;
    let why = &judgement.why;
    let decided = match decision {
        Decision::Run if judgement.verdict == Verdict::Allow => format!("It may run: {why}."),
        Decision::Run => format!("It may run, because approvals are off: {why}."),
        Decision::Granted => format!("It may run, because you have allowed it: {why}."),
        Decision::AskModel => format!("A model, or else you, would be asked first: {why}."),
        Decision::Ask => format!("You would be asked first: {why}."),
        Decision::Refuse(_) if judgement.never => format!("It never runs, in any mode: {why}."),
        Decision::Refuse(_) if *mode == Mode::Deny && judgement.verdict == Verdict::Ask => {
            format!("It does not run, because nobody can be asked: {why}.")
        }
        Decision::Refuse(why) => format!("It does not run: {why}."),
    };
    let mut stopped: Vec<&str> = Vec::new();
    for (finding, _) in findings(explained).filter(|(_, impossible)| *impossible) {
        if !stopped.contains(&finding.effect.what.as_ref()) {
            stopped.push(finding.effect.what.as_ref());
        }
    }
    match stopped.as_slice() {
        [] => decided,
        stopped => format!("{decided}\nThe fence makes this impossible: {}.", stopped.join("; ")),
    }
}

fn row(command: &str, finding: &Finding, impossible: bool) -> Vec<Cell> {
    let span = finding.effect.span;
    let guilty = command.get(span.start..span.end).unwrap_or_default();
    let targets: Vec<&str> = finding.effect.targets.iter().map(|target| target.text.as_str()).collect();
    let tone = if finding.verdict == Verdict::Allow { Tone::Good } else { Tone::Bad };
    vec![
        Cell::new(finding.effect.what.as_ref()),
        Cell::new(targets.join(", ")),
        Cell::new(guilty.escape_debug().to_string()).tone(Tone::Strong),
        Cell::new(finding.rule.unwrap_or("-")),
        Cell::new(if impossible { "impossible" } else { word(finding.verdict) }).tone(tone),
    ]
}
