//! Which tools does a session get, and what keeps the others out?

use hermes::Runtime;
use hermes::core::definitions::DefinitionSettings;

use crate::command::Failure;
use crate::doctor::Finding;
use crate::setup::keys::{self, Keyed};
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
    let snapshot = runtime.tools();
    for closed in toolbox.unavailable() {
        let note = Finding::note(format!("{} is not there: {}", closed.name, closed.why));
        let named = snapshot.tool(&closed.name).map(|tool| tool.variables()).unwrap_or_default();
        // What would open it, as far as its own words tell.
        let wanted = named.into_iter().find(|name| closed.why.contains(name) && !runtime.has_variable(name));
        found.push(match wanted {
            Some(name) => note.helps(format!("`hermes setup {name}=…`")),
            None => note,
        });
    }
    found.extend(keys::by_toolset(&snapshot).iter().map(|keyed| of_keys(&runtime, keyed)));
    found.extend(runtime.foreign_problems().into_iter().map(Finding::note));
    Ok(found)
}

/// Which variables of a toolset are set, and which could be.
fn of_keys(runtime: &Runtime, keyed: &Keyed) -> Finding {
    let names = |set: bool| {
        let keys = keyed.keys.iter().filter(|key| runtime.has_variable(&key.name) == set);
        keys.map(|key| key.name.as_str()).collect::<Vec<&str>>().join(", ")
    };
    let parts = [("set", names(true)), ("not set", names(false))];
    let told =
        parts.iter().filter(|(_, names)| !names.is_empty()).map(|(word, names)| format!("{word}: {names}"));
    Finding::fine(format!("keys of {}: {}", keyed.toolset, told.collect::<Vec<_>>().join("; ")))
}
