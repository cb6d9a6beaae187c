//! Is the store of sessions whole?

use crate::doctor::Finding;
use crate::sessions::existing;
use crate::shell::Shell;

pub(crate) fn look(shell: &Shell) -> Vec<Finding> {
    let store = match existing(shell) {
        Ok(Some(store)) => store,
        Ok(None) => return vec![Finding::fine("no sessions yet")],
        Err(wrong) => return vec![Finding::wrong(wrong.why().unwrap_or_default())],
    };
    let path = store.path().display().to_string();
    match store.check() {
        Err(wrong) => vec![Finding::wrong(format!("{path}: {wrong}"))],
        Ok(faults) if !faults.is_empty() => faults
            .iter()
            .map(|fault| {
                Finding::wrong(format!("{path}: {fault}"))
                    .helps("`hermes sessions export` saves what can be read")
            })
            .collect(),
        Ok(_) => match store.stats() {
            Ok(stats) => {
                vec![Finding::fine(format!(
                    "{} sessions, {} messages in {path}",
                    stats.sessions, stats.messages
                ))]
            }
            Err(wrong) => vec![Finding::wrong(format!("{path}: {wrong}"))],
        },
    }
}
