//! A piece of one file replaced by another.

use std::path::Path;

use hermes_core::cx::ToolCx;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::files::{Change, FileError};
use serde_json::{Map, Value, json};

use super::{encoded, encoding_note, failed, known, succeeded};
use crate::diff::unified;
use crate::edited::{Extent, MAX_EDIT, as_read, note, outside, remember, shown, stale};
use crate::lint::lint;
use crate::matching::{self, Edit, Miss, Places};
use crate::tell;
use crate::text_file::TextFile;

/// What is to be replaced.
pub(crate) struct Replacement<'a> {
    pub(crate) path: &'a str,
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) places: Places,
}

/// Replaces it, or says why not.
pub(crate) async fn replace(cx: &ToolCx, wanted: Replacement<'_>) -> ToolResult {
    let path = cx.files().real_path(wanted.path);
    let file = match cx.files().whole(&path, MAX_EDIT).await {
        Err(ToolError::File(FileError::Missing { similar, .. })) => {
            return Ok(missing(wanted.path, &similar));
        }
        other => other?,
    };
    let (expect, stamp) = (as_read(Some(&file)), file.stamp);
    let Some(old) = TextFile::decode(file.bytes) else {
        return Err(ToolError::Failed(format!("{} is not a text file", path.display())));
    };
    let edit = match matching::replace(&old.text, wanted.old, wanted.new, wanted.places) {
        Ok(edit) => edit,
        Err(miss) => return Ok(missed(cx, &path, &wanted, &miss)),
    };
    let bytes = encoded(&path, old.encoding, &edit.text).map_err(ToolError::Failed)?;
    let mut warnings: Vec<String> = outside(cx, wanted.path).into_iter().collect();
    warnings.extend(stale(cx, &path, stamp, Extent::Part));
    warnings.extend(encoding_note(&path, old.encoding, wanted.new));
    let change = Change::Put { permit: cx.may_write(&path)?, content: bytes.into(), expect };
    let applied = cx.files().change(vec![change]).await?;
    // A file the session never looked at is known only in the part that was changed.
    if known(cx, &path) {
        remember(cx, &applied.changed);
    }
    succeeded(cx, &path);
    warnings.extend(applied.not_kept);
    Ok(answer(&path, wanted.path, &old.text, &edit, &warnings))
}

fn answer(path: &Path, written: &str, old: &str, edit: &Edit, warnings: &[String]) -> Value {
    let mut answer = Map::new();
    answer.insert("success".to_owned(), json!(true));
    let diff = unified(&format!("a/{written}"), &format!("b/{written}"), old, &edit.text);
    answer.insert("diff".to_owned(), json!(diff));
    answer.insert("files_modified".to_owned(), json!([shown(path)]));
    answer.insert("lint".to_owned(), lint(path, Some(old), &edit.text).value());
    answer.insert("resolved_path".to_owned(), json!(shown(path)));
    let mut hints = Vec::new();
    if edit.places > 1 {
        hints.push(format!("{} places were changed.", edit.places));
    }
    hints.extend(edit.ignoring.map(|what| format!("old_string was found by ignoring {what}.")));
    note(&mut answer, "_hint", &hints);
    note(&mut answer, "_warning", warnings);
    Value::Object(answer)
}

fn missing(written: &str, similar: &[String]) -> Value {
    let mut answer = json!({
        "success": false,
        "error": format!("no such file: {written}"),
        "_hint": "patch changes files that exist; to make a new one, write it whole or use `*** Add File:`",
    });
    if let (Some(fields), false) = (answer.as_object_mut(), similar.is_empty()) {
        fields.insert("similar_files".to_owned(), json!(similar));
    }
    answer
}

fn missed(cx: &ToolCx, path: &Path, wanted: &Replacement<'_>, miss: &Miss) -> Value {
    let (why, hint) = match miss {
        Miss::Empty => ("old_string is empty".to_owned(), "give the text that is to be replaced"),
        Miss::Same => (
            "old_string and new_string are the same; nothing was changed".to_owned(),
            "say what should differ",
        ),
        Miss::Unchanged => (
            "the file says already what new_string says; nothing was changed".to_owned(),
            "read the file to see how it is now",
        ),
        Miss::Several { lines } => (
            format!("old_string is in the file {} times: {}", lines.len(), tell::line_numbers(lines)),
            "add lines around it until it is unique, or set replace_all to change every place",
        ),
        Miss::Nowhere { near } => (
            tell::nowhere("old_string is not in the file", near),
            if escaped(wanted.old) {
                "old_string has \\\" or \\' in it; write quotes as the file has them, without the backslash"
            } else {
                "read the file and copy the text exactly, without the line numbers"
            },
        ),
    };
    let why = failed(cx, path, &why);
    json!({ "success": false, "error": why, "resolved_path": shown(path), "_hint": hint })
}

fn escaped(text: &str) -> bool {
    text.contains("\\\"") || text.contains("\\'")
}
