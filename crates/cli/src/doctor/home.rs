//! Is there a state folder, and can it be written?

use crate::doctor::Finding;
use crate::shell::Shell;

pub(crate) fn look(shell: &Shell) -> Vec<Finding> {
    let home = match shell.home() {
        Ok(home) => home,
        Err(wrong) => return vec![Finding::wrong(wrong.why().unwrap_or_default())],
    };
    let place = home.path().display();
    vec![match home.try_writing() {
        Ok(true) => Finding::fine(format!("{place} can be written")),
        Ok(false) => Finding::note(format!("{place} is not there yet; it is made when something is kept")),
        Err(wrong) => Finding::wrong(wrong).helps("set HERMES_HOME to a folder of yours"),
    }]
}
