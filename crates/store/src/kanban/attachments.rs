//! Files kept with a task: below `kanban/attachments/`, a folder for each task.

use std::path::{Path, PathBuf};

use hermes_core::kanban::{
    Actor, Attached, KanbanError, MAX_ATTACHMENT, MAX_ATTACHMENTS, NewAttachment, TaskRef,
};

use super::db::{Boards, Tx, Wrong};
use super::rows;
use crate::beneath::Beneath;
use crate::disk;

/// Longest name of a file, in bytes.
const MAX_NAME: usize = 180;

impl Boards {
    /// Keeps a file with a task.
    pub fn attach(&self, to: &TaskRef, file: &NewAttachment, by: &Actor) -> Result<Attached, KanbanError> {
        let name = plain_name(&file.name)?;
        if file.bytes.len() > MAX_ATTACHMENT {
            let most = MAX_ATTACHMENT / (1024 * 1024);
            let why = format!("`{name}` has {} bytes; {most} MB are the most", file.bytes.len());
            return Err(KanbanError::Invalid(why));
        }
        // No folder is made for a task that is not there.
        let task = self.read(|tx| {
            let board = tx.board(to.board.as_deref())?;
            tx.task(&board, &to.id)
        })?;
        let folder = self.attachments_folder();
        let stored = PathBuf::from(&task.id).join(format!("{}-{name}", self.random_name()?));
        let below = open(&folder)?;
        below.write(&stored, &file.bytes, false).map_err(Wrong::from)?;
        let kept = self.write(|tx| insert(tx, &task.id, &stored, name, file, by));
        if kept.is_err() {
            // Nobody knows of the file; that it could not be removed changes nothing for them.
            let _ = below.remove(&stored);
        }
        kept
    }
}

fn open(folder: &Path) -> Result<Beneath, KanbanError> {
    disk::make_private_folder(folder).map_err(Wrong::from)?;
    let opened = Beneath::open(folder).map_err(Wrong::from)?;
    opened.ok_or_else(|| KanbanError::Store(format!("{} is no folder", folder.display())))
}

fn insert(
    tx: &Tx<'_>,
    task: &str,
    stored: &Path,
    name: &str,
    file: &NewAttachment,
    by: &Actor,
) -> Result<Attached, Wrong> {
    let there: i64 =
        tx.db.query_row("SELECT count(*) FROM attachments WHERE task = ?1", [task], |row| row.get(0))?;
    if usize::try_from(there).unwrap_or(usize::MAX) >= MAX_ATTACHMENTS {
        let why = format!("`{task}` has {there} attachments already; that is the most");
        return Err(KanbanError::Invalid(why).into());
    }
    let media_type = file.media_type.as_deref().map(str::trim).filter(|given| is_media_type(given));
    let media_type = media_type.map_or_else(|| guessed(name), str::to_owned);
    let new = "INSERT INTO attachments (task, name, media_type, size, stored, source, actor, created_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let size = i64::try_from(file.bytes.len()).unwrap_or(i64::MAX);
    let stored = stored.to_string_lossy();
    tx.db.prepare_cached(new)?.execute((
        task,
        name,
        &media_type,
        size,
        &stored,
        &file.source,
        &by.name,
        tx.now,
    ))?;
    let id = tx.db.last_insert_rowid();
    tx.happened(task, None, "attached", &by.name, Some(name))?;
    let mut found = tx.db.prepare_cached("SELECT * FROM attachments WHERE id = ?1")?;
    Ok(found.query_row([id], |row| rows::attached(row, &tx.attachments))?)
}

/// The files of a task, oldest first.
pub(super) fn of(tx: &Tx<'_>, task: &str) -> Result<Vec<Attached>, Wrong> {
    let mut found = tx.db.prepare_cached("SELECT * FROM attachments WHERE task = ?1 ORDER BY id")?;
    Ok(found.query_map([task], |row| rows::attached(row, &tx.attachments))?.collect::<Result<_, _>>()?)
}

/// The name, if it names a file and leads nowhere else.
fn plain_name(name: &str) -> Result<&str, KanbanError> {
    let name = name.trim();
    let leads_away = name.contains(['/', '\\']) || name.chars().any(char::is_control);
    if name.is_empty() || name.starts_with('.') || leads_away || name.len() > MAX_NAME {
        let why = format!(
            "{name:?} cannot be the name of an attachment: a plain file name of at most {MAX_NAME} bytes is \
             needed, without a folder and without a dot in front"
        );
        return Err(KanbanError::Invalid(why));
    }
    Ok(name)
}

/// Whether a text looks like `text/plain` and nothing more.
fn is_media_type(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c))
    };
    text.len() <= 100 && text.split_once('/').is_some_and(|(kind, rest)| plain(kind) && plain(rest))
}

/// What a file is, by the end of its name.
fn guessed(name: &str) -> String {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    let known = match end.as_str() {
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "json" => "application/json",
        "yaml" | "yml" => "application/yaml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "mp3" => "audio/mpeg",
        "mp4" => "video/mp4",
        _ => "application/octet-stream",
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_that_leads_away_is_refused() {
        for bad in ["", " ", ".", "..", "../x", "a/b", "/etc/passwd", "a\\b", ".env", "a\0b", "a\nb"] {
            assert!(plain_name(bad).is_err(), "{bad:?}");
        }
        assert!(plain_name(&"x".repeat(181)).is_err());
        assert_eq!(plain_name(" report v2.pdf "), Ok("report v2.pdf"));
    }

    #[test]
    fn what_a_file_is_comes_from_its_name_unless_it_is_said() {
        assert_eq!(guessed("a.PNG"), "image/png");
        assert_eq!(guessed("a"), "application/octet-stream");
        assert!(is_media_type("image/svg+xml"));
        assert!(!is_media_type("text/plain; charset=utf-8") && !is_media_type("x"));
    }

    proptest! {
        #[test]
        fn a_name_that_is_taken_is_one_step_below_its_folder(name in ".{0,40}") {
            if let Ok(name) = plain_name(&name) {
                let path = Path::new("t").join(format!("0-{name}"));
                prop_assert_eq!(path.components().count(), 2);
                prop_assert_eq!(path.parent(), Some(Path::new("t")));
            }
        }
    }
}
