//! Can every line of `.env` be read, and by its owner alone?

use hermes::store::Secrets;

use crate::doctor::Finding;
use crate::shell::Shell;

pub(crate) fn look(shell: &Shell) -> Vec<Finding> {
    let Ok(home) = shell.home() else { return Vec::new() };
    let file = home.env();
    match Secrets::read(&home) {
        Err(wrong) => vec![Finding::wrong(wrong)],
        Ok(secrets) => {
            let mut found: Vec<Finding> = secrets
                .bad_lines()
                .iter()
                .map(|bad| {
                    Finding::wrong(format!("{}, line {}: {}", file.display(), bad.line, bad.why))
                        .helps("write NAME=value")
                })
                .collect();
            if home.others_can_read(&file) {
                let what = format!("others can read {}", file.display());
                found.push(Finding::wrong(what).helps(format!("chmod 600 {}", file.display())));
            }
            if found.is_empty() {
                let count = secrets.names().count();
                found.push(Finding::fine(format!("{count} variables in {}", file.display())));
            }
            found
        }
    }
}
