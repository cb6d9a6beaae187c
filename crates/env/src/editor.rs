//! Programs a person starts for themselves, at the command line and not through an agent, and therefore
//! without a permit: their editor on a file of theirs, a shell in one of their environments.

#![expect(
    clippy::disallowed_methods,
    reason = "started by a person at the command line, with their own environment"
)]

use std::ffi::OsString;
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

/// Runs a program with the person's own terminal and waits until it ends; its code.
pub fn enter(words: &[OsString]) -> Result<i32, String> {
    let (program, arguments) = words.split_first().ok_or_else(|| "no program is named".to_owned())?;
    let ended = Command::new(program).args(arguments).status();
    let ended = ended.map_err(|wrong| format!("cannot start `{}`: {wrong}", program.to_string_lossy()))?;
    Ok(ended.code().unwrap_or(1))
}
