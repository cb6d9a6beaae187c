//! The two ways `patch` changes files: a piece of one, or operations over several.

mod operations;
mod replacement;

pub(crate) use operations::apply;
pub(crate) use replacement::{Replacement, replace};

use std::path::Path;

use hermes_core::cx::ToolCx;
use hermes_core::session::Slot;

use crate::read_log::with_log;
use crate::text_file::{Encoding, TextFile};

/// From this many failures on one file in a row, the advice gets plainer.
const STUBBORN: u32 = 3;

/// How often patches of a file failed in a row.
#[derive(Debug, Default)]
struct Failures(Vec<(std::path::PathBuf, u32)>);

impl Slot for Failures {
    const NAME: &'static str = "failed patches";
}

/// Counts a failure, and says what may help.
fn failed(cx: &ToolCx, path: &Path, why: &str) -> String {
    let times = cx.with_slot(|failures: &mut Failures| {
        let known = failures.0.iter().position(|(known, _)| known == path);
        let mut entry = known.map_or((path.to_path_buf(), 0), |at| failures.0.remove(at));
        entry.1 += 1;
        let times = entry.1;
        failures.0.truncate(100);
        failures.0.insert(0, entry);
        times
    });
    match times {
        Ok(STUBBORN..) => format!(
            "{why}\nThis is failure {} in a row on this file: read it again now, and copy the text from what \
             is shown, without the line numbers.",
            times.unwrap_or(STUBBORN)
        ),
        _ => why.to_owned(),
    }
}

/// A patch of the file succeeded.
fn succeeded(cx: &ToolCx, path: &Path) {
    // Without a session nothing was counted.
    let _ = cx.with_slot(|failures: &mut Failures| failures.0.retain(|(known, _)| known != path));
}

/// Text back into the bytes of its file.
fn encoded(path: &Path, encoding: Encoding, text: &str) -> Result<Vec<u8>, String> {
    TextFile::encode(encoding, text).map_err(|c| {
        format!(
            "{} is not UTF-8 but has one byte per character, and `{c}` cannot be written that way",
            path.display()
        )
    })
}

/// What to say about a file whose encoding had to be guessed.
fn encoding_note(path: &Path, encoding: Encoding, added: &str) -> Option<String> {
    (encoding.is_guess() && !added.is_ascii()).then(|| {
        format!("{} is not UTF-8; the new text was written in the encoding it seems to have.", path.display())
    })
}

/// Whether the session has looked at the file before.
fn known(cx: &ToolCx, path: &Path) -> bool {
    with_log(cx, |log| log.seen(path)).flatten().is_some()
}
