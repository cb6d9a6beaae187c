//! Which tools does a session get, and what keeps the others out?

use hermes::core::definitions::DefinitionSettings;

use crate::command::Failure;
use crate::doctor::Finding;
use crate::shell::Shell;

pub(crate) fn look(shell: &Shell) -> Vec<Finding> {
    match looked(shell) {
        Ok(found) => found,
        Err(wrong) => vec![Finding::wrong(wrong.why().unwrap_or_default())],
    }
}

fn looked(shell: &Shell) -> Result<Vec<Finding>, Failure> {
    let runtime = shell.runtime()?;
    let toolbox = runtime.toolbox_blocking(&runtime.platform("cli")?, &DefinitionSettings::default())?;
    let names = toolbox.offered().len();
    let mut found = vec![if names == 0 {
        Finding::note("a session has no tools").helps("`hermes tools explain` says why")
    } else {
        Finding::fine(format!("{names} tools for a session, about {} tokens", toolbox.tokens()))
    }];
    let closed = toolbox.unavailable().iter();
    found.extend(closed.map(|tool| Finding::note(format!("{} is not there: {}", tool.name, tool.why))));
    found.extend(runtime.foreign_problems().into_iter().map(Finding::note));
    Ok(found)
}
