//! This process and the system: its memory, fresh copies of it, what lies on the disk.
//!
//! Every item is measured in processes of its own, so that no item finds warm what another one
//! warmed, and memory counts what the item needs.

#![expect(clippy::disallowed_methods, reason = "the one place that looks at the process and the disk")]

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Map, Value};

/// The most memory this process has held so far, in units of 1024 KiB.
pub(crate) fn peak_mb() -> Result<f64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|wrong| wrong.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib =
        line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse::<f64>().ok());
    kib.map(|kib| kib / 1024.0).ok_or_else(|| "the system does not tell the peak of memory".to_owned())
}

/// The text of a file of the shared data.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|wrong| format!("{}: {wrong}", path.display()))
}

/// Keeps a text for the processes that come after this one.
pub(crate) fn keep(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|wrong| format!("{}: {wrong}", path.display()))
}

/// Removes a folder that an earlier process may have left half filled.
pub(crate) fn remove(folder: &Path) -> Result<(), String> {
    match std::fs::remove_dir_all(folder) {
        Err(wrong) if wrong.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {wrong}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// The variables this process was started with.
pub(crate) fn variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Whether a file or folder is there.
pub(crate) fn is_there(path: &Path) -> bool {
    path.exists()
}

/// Measures an item once in a fresh process.
pub(crate) fn fresh(item: &str, work: &Path) -> Result<Map<String, Value>, String> {
    let own = std::env::current_exe().map_err(|wrong| format!("cannot find this binary: {wrong}"))?;
    let ended = Command::new(own)
        .args([crate::arguments::ONCE, item, "--work"])
        .arg(work)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|wrong| format!("cannot start this binary again: {wrong}"))?;
    if !ended.status.success() {
        return Err(format!("measuring {item} failed"));
    }
    serde_json::from_slice(&ended.stdout)
        .map_err(|wrong| format!("measuring {item} printed no numbers: {wrong}"))
}

/// The words this process was started with, without its own name.
pub(crate) fn words() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned())
}
