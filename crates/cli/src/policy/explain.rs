//! `hermes policy explain 'COMMAND'`: what a command would do, and whether it may run.

use hermes::guard::{Decision, Finding, Grants, Judgement, Mode, Verdict, decide, judge};

use crate::command::{Failure, Run};
use crate::policy::{context, described, word};
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
        let settings = shell.runtime()?.policy_settings().map_err(Failure::failed)?;
        let judgement = judge(&self.command, &context(shell, self.cwd.as_deref(), &settings.rules));
        if shell.out.wants_json() {
            return shell.out.json(&described(&judgement));
        }
        let grants = Grants::from_allowlist(settings.allowed.iter().cloned());
        let decision = decide(settings.mode, &self.command, &judgement, &grants);
        shell.out.line(&sentence(&judgement, settings.mode, &decision))?;
        if judgement.findings.is_empty() {
            return Ok(());
        }
        shell.out.line("")?;
        let rows: Vec<Vec<Cell>> =
            judgement.findings.iter().map(|finding| row(&self.command, finding)).collect();
        shell.out.table(&["EFFECT", "ON", "BECAUSE OF", "RULE", "VERDICT"], &rows)
    }
}

fn sentence(judgement: &Judgement, mode: Mode, decision: &Decision) -> String {
    let why = &judgement.why;
    match decision {
        Decision::Run if judgement.verdict == Verdict::Allow => format!("It may run: {why}."),
        Decision::Run => format!("It may run, because approvals are off: {why}."),
        Decision::Granted => format!("It may run, because you have allowed it: {why}."),
        Decision::AskModel => format!("A model, or else you, would be asked first: {why}."),
        Decision::Ask => format!("You would be asked first: {why}."),
        Decision::Refuse(_) if judgement.never => format!("It never runs, in any mode: {why}."),
        Decision::Refuse(_) if mode == Mode::Deny => {
            format!("It does not run, because nobody can be asked: {why}.")
        }
        Decision::Refuse(_) => format!("It does not run: {why}."),
    }
}

fn row(command: &str, finding: &Finding) -> Vec<Cell> {
    let span = finding.effect.span;
    let guilty = command.get(span.start..span.end).unwrap_or_default();
    let targets: Vec<&str> = finding.effect.targets.iter().map(|target| target.text.as_str()).collect();
    let tone = if finding.verdict == Verdict::Allow { Tone::Good } else { Tone::Bad };
    vec![
        Cell::new(finding.effect.what.as_ref()),
        Cell::new(targets.join(", ")),
        Cell::new(guilty.escape_debug().to_string()).tone(Tone::Strong),
        Cell::new(finding.rule.unwrap_or("-")),
        Cell::new(word(finding.verdict)).tone(tone),
    ]
}
