//! Does `config.yaml` say something that can be used?

use crate::config::read;
use crate::doctor::Finding;
use crate::shell::Shell;

pub(crate) fn look(shell: &Shell) -> Vec<Finding> {
    match read(shell) {
        Err(wrong) => {
            let why = wrong.why().unwrap_or_default().to_owned();
            vec![Finding::wrong(why).helps("`hermes config edit` opens the file")]
        }
        Ok(config) if config.warnings.is_empty() => {
            vec![Finding::fine(format!("{} is fine", config.path().display()))]
        }
        Ok(config) => config.warnings.iter().map(Finding::note).collect(),
    }
}
