//! A job's log: bounded on disk, readable by lines while it grows.
//!
//! It is a row of files, each named after its place in the row and the number of lines before it.
//! The first is kept for ever, so are the last few; what lies between is removed as the log grows.

#![expect(clippy::disallowed_methods, reason = "logs of background jobs are files of this environment")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use hermes_core::jobs::{LogLines, LogPage};

/// Size of one file.
const FILE: u64 = 4 * 1024 * 1024;

/// How many files are kept beside the first.
const LAST: usize = 3;

/// Writes a log.
pub(crate) struct LogWriter {
    folder: PathBuf,
    row: u64,
    lines: u64,
    bytes: u64,
    file: File,
    file_size: u64,
}

/// One file of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    row: u64,
    /// Lines before it.
    before: u64,
    path: PathBuf,
}

impl LogWriter {
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        Self::with_size(folder, FILE)
    }

    fn with_size(folder: &Path, file_size: u64) -> io::Result<Self> {
        let file = open_part(folder, 0, 0)?;
        Ok(Self { folder: folder.to_path_buf(), row: 0, lines: 0, bytes: 0, file, file_size })
    }

    /// Adds to the log. A full disk loses output, not the job.
    pub(crate) fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.bytes >= self.file_size {
                self.turn();
            }
            let room = usize::try_from(self.file_size.saturating_sub(self.bytes)).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(room.clamp(1, bytes.len()));
            let _ = self.file.write_all(now);
            self.bytes += u64::try_from(now.len()).unwrap_or(u64::MAX);
            self.lines += count(now);
            bytes = later;
        }
    }

    fn turn(&mut self) {
        let Ok(file) = open_part(&self.folder, self.row + 1, self.lines) else { return };
        (self.file, self.bytes, self.row) = (file, 0, self.row + 1);
        let parts = parts(&self.folder);
        let old = parts.len().saturating_sub(LAST + 1);
        for part in parts.iter().skip(1).take(old) {
            let _ = fs::remove_file(&part.path);
        }
    }
}

/// The last bytes of a log.
pub(crate) fn tail(folder: &Path, bytes: usize) -> Vec<u8> {
    let mut end: Vec<u8> = Vec::new();
    for part in parts(folder).iter().rev() {
        let mut piece = read_end(&part.path, bytes.saturating_sub(end.len())).unwrap_or_default();
        piece.append(&mut end);
        end = piece;
        if end.len() >= bytes {
            break;
        }
    }
    end
}

/// Some lines of a log.
pub(crate) fn lines(folder: &Path, page: LogPage) -> LogLines {
    let parts = parts(folder);
    let Some(last) = parts.last() else { return LogLines::default() };
    let last_text = fs::read(&last.path).unwrap_or_default();
    let open_line = u64::from(last_text.last().is_some_and(|byte| *byte != b'\n'));
    let total = last.before + count(&last_text) + open_line;
    let wanted = u64::try_from(page.lines).unwrap_or(u64::MAX);
    let first = page.from.unwrap_or_else(|| total.saturating_sub(wanted));
    let mut found = LogLines { first, total, path: last.path.clone(), ..LogLines::default() };
    found.dropped = gap(&parts);
    let mut at = None;
    for (n, part) in parts.iter().enumerate() {
        let next = parts.get(n + 1).map_or(u64::MAX, |next| next.before);
        // A part whose last line goes on in the next one is needed for that line.
        if next < first || found.count >= wanted || found.text.len() >= page.bytes {
            continue;
        }
        let text =
            if n + 1 == parts.len() { last_text.clone() } else { fs::read(&part.path).unwrap_or_default() };
        let mut number = part.before;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let fits = found.count < wanted && found.text.len() + line.len() <= page.bytes.max(line.len());
            if number >= first && fits {
                at.get_or_insert(number);
                found.text.extend_from_slice(line);
                found.count += u64::from(line.ends_with(b"\n"));
            }
            number += u64::from(line.ends_with(b"\n"));
        }
    }
    found.first = at.unwrap_or(first);
    found.count += u64::from(found.text.last().is_some_and(|byte| *byte != b'\n'));
    found
}

fn count(bytes: &[u8]) -> u64 {
    u64::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u64::MAX)
}

/// Lines that were removed between the first part and the rest.
fn gap(parts: &[Part]) -> u64 {
    match parts {
        [first, next, ..] if next.row > first.row + 1 => {
            let there = fs::read(&first.path).map(|text| count(&text)).unwrap_or_default();
            next.before.saturating_sub(there)
        }
        _ => 0,
    }
}

fn open_part(folder: &Path, row: u64, before: u64) -> io::Result<File> {
    let path = folder.join(format!("log.{row:06}.{before}"));
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

fn parts(folder: &Path) -> Vec<Part> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut parts: Vec<Part> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let (row, before) = name.to_str()?.strip_prefix("log.")?.split_once('.')?;
            Some(Part { row: row.parse().ok()?, before: before.parse().ok()?, path: entry.path() })
        })
        .collect();
    parts.sort_by_key(|part| part.row);
    parts
}

fn read_end(path: &Path, bytes: usize) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let wanted = u64::try_from(bytes).unwrap_or(u64::MAX).min(size);
    file.seek(SeekFrom::Start(size - wanted))?;
    let mut end = Vec::new();
    file.take(wanted).read_to_end(&mut end)?;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(from: Option<u64>, lines: usize) -> LogPage {
        LogPage { from, lines, bytes: 10_000 }
    }

    fn text(folder: &Path, page: LogPage) -> (u64, u64, u64, String) {
        let found = lines(folder, page);
        (found.first, found.count, found.total, String::from_utf8(found.text).unwrap())
    }

    #[test]
    fn pages_begin_at_any_line_also_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = LogWriter::create(dir.path()).unwrap();
        log.write(b"a\nb\nc\nd");

        assert_eq!(text(dir.path(), page(Some(0), 2)), (0, 2, 4, "a\nb\n".to_owned()));
        assert_eq!(text(dir.path(), page(Some(2), 9)), (2, 2, 4, "c\nd".to_owned()));
        assert_eq!(text(dir.path(), page(None, 2)), (2, 2, 4, "c\nd".to_owned()));
        assert_eq!(text(dir.path(), page(Some(7), 2)), (7, 0, 4, String::new()));
        assert_eq!(tail(dir.path(), 3), b"c\nd");
    }

    #[test]
    fn a_log_that_grows_keeps_its_beginning_and_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = LogWriter::with_size(dir.path(), 20).unwrap();
        for n in 0..100 {
            log.write(format!("{n:04}\n").as_bytes());
        }

        let parts = parts(dir.path());
        assert_eq!(parts.iter().map(|part| part.row).collect::<Vec<_>>(), [0, 22, 23, 24]);
        assert_eq!(text(dir.path(), page(Some(2), 3)), (2, 3, 100, "0002\n0003\n0088\n".to_owned()));
        assert_eq!(text(dir.path(), page(None, 6)).3, "0094\n0095\n0096\n0097\n0098\n0099\n");
        assert_eq!(lines(dir.path(), page(None, 1)).dropped, 84);
        assert_eq!(tail(dir.path(), 25), b"0095\n0096\n0097\n0098\n0099\n");
    }
}
