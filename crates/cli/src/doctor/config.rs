//! Does `config.yaml` say something that can be used?

use crate::config::{odd_hooks, read};
use crate::doctor::Finding;
use crate::shell::Shell;

pub(crate) fn look(shell: &Shell) -> Vec<Finding> {
    match read(shell) {
        Err(wrong) => {
            let why = wrong.why().unwrap_or_default().to_owned();
            vec![Finding::wrong(why).helps("`hermes config edit` opens the file")]
        }
        Ok(config) => {
            let hooks = odd_hooks(&config).into_iter().map(|(key, _, what)| format!("{key}: {what}"));
            let odd: Vec<Finding> =
                config.warnings.iter().map(Finding::note).chain(hooks.map(Finding::note)).collect();
            if odd.is_empty() {
                return vec![Finding::fine(format!("{} is fine", config.path().display()))];
            }
            odd
        }
    }
}
