//! Does the fence hold that the configuration asks for?

use std::path::Path;

use hermes::env::fence::Level;

use crate::doctor::Finding;
use crate::fence::launcher;
use crate::shell::Shell;

pub(crate) fn look(shell: &Shell) -> Vec<Finding> {
    let Ok(runtime) = shell.runtime() else { return Vec::new() };
    let level = runtime.fence_level();
    if level == Level::Off {
        return vec![
            Finding::note("commands run without a fence")
                .helps("`hermes config set terminal.fence workspace`"),
        ];
    }
    let fence = match runtime.fence(level, launcher(), shell.cwd()) {
        Ok(fence) => fence,
        Err(wrong) => return vec![Finding::wrong(wrong)],
    };
    let report = fence.self_test(Path::new(shell.variable("TMPDIR").unwrap_or("/tmp")));
    vec![if report.holds() {
        Finding::fine(format!("the fence `{}` holds", level.name()))
    } else {
        Finding::wrong(format!("the fence `{}` does not hold", level.name()))
            .helps("`hermes fence test` shows where")
    }]
}
