//! The person's own editor, on a file of theirs: started by the person, not by an agent, and
//! therefore without a permit.

#![expect(
    clippy::disallowed_methods,
    reason = "started by a person at the command line, with their own environment"
)]

use std::path::Path;
use std::process::Command;

/// Opens the file and waits until the editor is closed. `editor` may carry options (`code --wait`).
pub fn edit(editor: &str, file: &Path) -> Result<(), String> {
    let mut words = editor.split_whitespace();
    let program = words.next().ok_or_else(|| "no editor is set: EDITOR is empty".to_owned())?;
    let ended = Command::new(program)
        .args(words)
        .arg(file)
        .status()
        .map_err(|wrong| format!("cannot start the editor `{program}`: {wrong}; set EDITOR"))?;
    if ended.success() { Ok(()) } else { Err(format!("the editor `{program}` ended with {ended}")) }
}
