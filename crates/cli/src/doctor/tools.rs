//! Which tools does a session get, and what keeps the others out?

use hermes::Runtime;
use hermes::core::definitions::DefinitionSettings;

use crate::command::Failure;
use crate::doctor::Finding;
use crate::setup::keys::{self, Keyed};
use crate::shell::Shell;
use crate::tools::misconfigured;

pub(crate) fn look(shell: &Shell) -> Vec<Finding> {
    match looked(shell) {
        Ok(found) => found,
        Err(wrong) => vec![Finding::wrong(wrong.why().unwrap_or_default())],
    }
}

fn looked(shell: &Shell) -> Result<Vec<Finding>, Failure> {
    let runtime = shell.runtime()?;
    let toolbox = runtime
        .platform("cli")
        .and_then(|selection| runtime.toolbox_blocking(&selection, &DefinitionSettings::default()));
    let toolbox = toolbox.map_err(|wrong| misconfigured(&runtime, "cli", wrong))?;
    let names = toolbox.offered().len();
    let mut found = vec![if names == 0 {
        Finding::note("a session has no tools").helps("`hermes tools explain` says why")
    } else {
        Finding::fine(format!("{names} tools for a session, about {} tokens", toolbox.tokens()))
    }];
    let snapshot = runtime.tools();
    for (why, names) in by_reason(toolbox.unavailable().iter().map(|closed| (&*closed.name, &*closed.why))) {
        let note = Finding::note(format!("{} not there: {why}", are(&names)));
        let named = names.iter().filter_map(|name| snapshot.tool(name)).flat_map(|tool| tool.variables());
        // What would open them, as far as their own words tell.
        let wanted = named.into_iter().find(|name| why.contains(name) && !runtime.has_variable(name));
        found.push(match wanted {
            Some(name) => note.helps(format!("`hermes setup {name}=…`")),
            None => note,
        });
    }
    found.extend(keys::by_toolset(&snapshot).iter().map(|keyed| of_keys(&runtime, keyed)));
    found.extend(runtime.foreign_problems().into_iter().map(Finding::note));
    Ok(found)
}

/// Tools that lack the same thing stand together, in the order in which the reasons come.
fn by_reason<'a>(closed: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, why) in closed {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    reasons
}

fn are(names: &[&str]) -> String {
    format!("{} {}", names.join(", "), if names.len() == 1 { "is" } else { "are" })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_lack_the_same_are_told_of_in_one_line() {
        let closed = [("clarify", "needs a person"), ("draw", "needs a key"), ("film", "needs a key")];

        let told = by_reason(closed.into_iter());

        assert_eq!(told, [("needs a person", vec!["clarify"]), ("needs a key", vec!["draw", "film"])]);
        assert_eq!(are(&["draw", "film"]), "draw, film are");
    }
}
