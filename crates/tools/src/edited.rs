//! What `write_file` and `patch` share: reading what is there, the remarks an edit gets, and the
//! answer's common fields.

use std::path::Path;

use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use hermes_core::files::{Changed, Expect, FileError, Stamp, WholeFile};
use serde_json::{Map, Value, json};

use crate::read_log::{Seen, with_log};

/// The largest file that is edited, in bytes.
pub(crate) const MAX_EDIT: u64 = 64 * 1024 * 1024;

/// What is at a path now; nothing when there is no file.
pub(crate) async fn existing(cx: &ToolCx, path: &Path) -> Result<Option<WholeFile>, ToolError> {
    match cx.files().whole(path, MAX_EDIT).await {
        Ok(file) => Ok(Some(file)),
        Err(ToolError::File(FileError::Missing { .. })) => Ok(None),
        Err(other) => Err(other),
    }
}

/// The change must meet the file as it was read.
pub(crate) fn as_read(file: Option<&WholeFile>) -> Expect {
    file.map_or(Expect::Absent, |file| Expect::Is(file.stamp))
}

/// Whether the whole file is about to be overwritten, or only a part that was looked for in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    Part,
}

/// What should make the model look twice about the file it changes.
pub(crate) fn stale(cx: &ToolCx, path: &Path, now: Stamp, extent: Extent) -> Option<String> {
    let seen = with_log(cx, |log| log.seen(path)).flatten()?;
    if seen.stamp != now {
        let what = match extent {
            Extent::Whole => "what was there has been overwritten",
            Extent::Part => "the edit was made on its present content",
        };
        return Some(format!(
            "{} changed on disk since this session last read it; {what}. Read it again before further edits.",
            path.display()
        ));
    }
    (extent == Extent::Whole && !seen.whole).then(|| {
        format!(
            "only a part of {} had been read before all of it was overwritten; check that nothing is lost.",
            path.display()
        )
    })
}

/// A relative path that leads out of where the session stands.
pub(crate) fn outside(cx: &ToolCx, written: &str) -> Option<String> {
    let relative = !written.starts_with(['/', '~']);
    let place = cx.place();
    let resolved = place.resolve(written);
    (relative && !resolved.starts_with(&place.cwd)).then(|| {
        format!(
            "{written} leads out of the working directory {} to {}.",
            place.cwd.display(),
            resolved.display()
        )
    })
}

/// Remembers what the session knows of the files it changed.
pub(crate) fn remember(cx: &ToolCx, changed: &[Changed]) {
    with_log(cx, |log| {
        for change in changed {
            match change.stamp {
                Some(stamp) => log.saw(&change.path, Seen { stamp, whole: true }),
                None => log.forget(&change.path),
            }
        }
    });
}

/// Adds a field unless there is nothing to say.
pub(crate) fn note(answer: &mut Map<String, Value>, key: &str, notes: &[String]) {
    if !notes.is_empty() {
        answer.insert(key.to_owned(), json!(notes.join(" ")));
    }
}

/// A path as it is written in answers.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
