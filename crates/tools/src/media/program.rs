//! Programs that speak and listen: a declared command is run, and what it writes is read.

use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Command;
use hermes_core::environment::{EnvError, Environments, Ran, Run, ShellState, Why};
use hermes_core::error::ToolError;

/// Most bytes that a program may write.
pub(crate) const MOST: usize = 128 * 1024 * 1024;

/// What a shell answers when there is no such program.
const NOT_FOUND: i32 = 127;

/// A program that is run: what it is called, how it is had, and how long it may take.
#[derive(Clone, Copy)]
pub(crate) struct Runs {
    pub(crate) name: &'static str,
    pub(crate) had_by: &'static str,
    pub(crate) limit: Duration,
}

/// An environment with the files of this machine, if there is one.
pub(crate) fn near(environments: &Environments) -> String {
    let near = environments.all().find(|(_, site)| site.there.is_none()).map(|(name, _)| name);
    near.unwrap_or(environments.default_name()).to_owned()
}

/// What a command writes when it is given this to read.
pub(crate) async fn output(
    cx: &ToolCx,
    command: &Command,
    input: Vec<u8>,
    program: Runs,
) -> Result<Vec<u8>, ToolError> {
    let permit = cx.may_run(command)?;
    let run = Run {
        session: cx.session_id().to_owned(),
        shell: ShellState::default(),
        input,
        terminal: None,
        timeout: program.limit,
        keep: MOST,
        cancel: cx.cancelled().clone(),
    };
    let ran = cx
        .workplace(&permit)?
        .run(permit, run)
        .await
        .map_err(|wrong: EnvError| failed(&wrong.to_string()))?;
    wrote(ran, program)
}

fn wrote(ran: Ran, Runs { name: program, had_by, .. }: Runs) -> Result<Vec<u8>, ToolError> {
    match ran.why {
        Why::Cancelled => Err(ToolError::Cancelled),
        Why::TimedOut(limit) => Err(failed(&format!("{program} was not done after {} s", limit.as_secs()))),
        Why::Ended(end) if end.code() == NOT_FOUND => {
            Err(failed(&format!("{program} is not installed ({had_by})")))
        }
        Why::Ended(end) if end.code() != 0 => {
            let said: String = String::from_utf8_lossy(&ran.output.head).trim().chars().take(300).collect();
            Err(failed(&format!("{program} ended with {}: {said}", end.code())))
        }
        Why::Ended(_) if ran.output.left_out() > 0 => Err(failed(&format!("{program} wrote too much"))),
        Why::Ended(_) => Ok([ran.output.head, ran.output.tail].concat()),
    }
}

fn failed(why: &str) -> ToolError {
    ToolError::Failed(why.to_owned())
}
