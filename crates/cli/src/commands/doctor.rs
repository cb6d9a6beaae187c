//! `hermes doctor`: tries what a session needs, and says what is wrong and what helps.

use serde_json::{Value, json};

use crate::command::{CommandDef, Failure, Run};
use crate::doctor::{CHECKS, Finding, State};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Doctor>("doctor", "Try what a session needs; say what is wrong and what helps");

/// Try what a session needs: state folder, configuration, secrets, store, model, tools, terminal, fence.
///
/// Exit code 1 when something is wrong.
#[derive(clap::Args)]
struct Doctor {
    /// Do not talk to the model
    #[arg(long)]
    offline: bool,
}

impl Run for Doctor {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let checks = CHECKS.iter().filter(|check| !(self.offline && check.needs_network));
        let found: Vec<(&str, Finding)> = checks
            .flat_map(|check| (check.look)(shell).into_iter().map(|found| (check.name, found)))
            .collect();
        let wrong = found.iter().any(|(_, finding)| finding.state == State::Wrong);
        if shell.out.wants_json() {
            let list: Vec<Value> = found
                .iter()
                .map(|(name, finding)| {
                    json!({
                        "check": name, "state": finding.state.word(), "what": finding.what, "fix": finding.fix,
                    })
                })
                .collect();
            shell.out.json(&json!({ "ok": !wrong, "checks": list }))?;
        } else {
            let rows: Vec<Vec<Cell>> = found.iter().map(|(name, finding)| row(name, finding)).collect();
            shell.out.whole_table(&["CHECK", "", "WHAT"], &rows)?;
        }
        if wrong { Err(Failure::Told(Failure::FAILED)) } else { Ok(()) }
    }
}

fn row(name: &str, finding: &Finding) -> Vec<Cell> {
    let tone = match finding.state {
        State::Fine => Tone::Faint,
        State::Note => Tone::Plain,
        State::Wrong => Tone::Strong,
    };
    let fix = finding.fix.as_deref().map(|fix| format!("; {fix}")).unwrap_or_default();
    vec![
        Cell::new(name),
        Cell::new(finding.state.word()).tone(tone),
        Cell::new(format!("{}{fix}", finding.what)),
    ]
}
