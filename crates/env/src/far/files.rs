//! Files over there: looked at by small scripts, one program per question.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::EnvError;
use hermes_core::files::{
    Change, Changed, FileError, FilePage, Files, PageRequest, SearchQuery, SearchReport, Stamp, TextPage,
    WholeFile,
};
use hermes_core::permit::{Permit, Read};

use crate::far::Far;
use crate::far::talk::Talk;
use crate::files::{best_names, page_of};

/// How long one question about files may take.
pub(super) const LIMIT: Duration = Duration::from_mins(2);

/// Largest file a page is read from.
const MAX_PAGE_FILE: u64 = 256 * 1024 * 1024;

/// Reads a file. Arguments: its path, the most bytes. Prints a line about it, then what it holds.
const READ: &str = r#"__h_p=$1
if [ ! -e "$__h_p" ]; then
  printf 'missing\n'
  ls -a -- "$(dirname -- "$__h_p")" 2>/dev/null | head -n 2000
elif [ -d "$__h_p" ]; then printf 'directory\n'
elif [ ! -f "$__h_p" ]; then printf 'special\n'
elif [ ! -r "$__h_p" ]; then printf 'refused\n'
else
  __h_s=$(stat -L -c '%s %i %a %Y %y' -- "$__h_p" 2>/dev/null || stat -L -f '%z %i %Lp %m' -- "$__h_p") || exit 1
  printf 'file %s\n' "$__h_s"
  [ "${__h_s%% *}" -gt "$2" ] || exec cat -- "$__h_p"
fi
"#;

/// Puts what is read into a new file. Argument: its path.
const PUT: &str = r#"umask 077; cat >"$1""#;

impl Far {
    /// Asks a program there something of ours; a place that does not answer is made ready again, once.
    pub(super) async fn ask(
        &self,
        script: &str,
        arguments: &[String],
        input: Vec<u8>,
        limit: Duration,
    ) -> Result<Talk, EnvError> {
        let mut words: Vec<String> = ["sh", "-c", script, "hermes"].map(str::to_owned).to_vec();
        words.extend(arguments.iter().cloned());
        self.ask_by(words, input, limit).await
    }

    /// The same of a program with these words. It may be asked twice, so it must not matter if it is.
    pub(super) async fn ask_by(
        &self,
        words: Vec<String>,
        input: Vec<u8>,
        limit: Duration,
    ) -> Result<Talk, EnvError> {
        let _using = self.idle.using();
        let mut opened = self.opened().await?;
        for again in [true, false] {
            let talk =
                Talk::ask(self.reach.as_ref(), &self.host, words.clone(), input.clone(), limit).await?;
            // Our scripts end well or say something; a client that fails says nothing that is ours.
            if !again || talk.is_well() || !self.is_lost().await {
                return Ok(talk);
            }
            self.forget(&opened).await;
            opened = self.opened().await?;
        }
        Err(EnvError::Unreachable {
            environment: self.name.to_string(),
            why: "it does not answer".to_owned(),
        })
    }

    /// Whether the simplest of programs cannot be started there.
    async fn is_lost(&self) -> bool {
        let words = ["sh", "-c", "echo here"].map(str::to_owned).to_vec();
        let said = Talk::ask(self.reach.as_ref(), &self.host, words, Vec::new(), LIMIT).await;
        !said.is_ok_and(|said| said.out.starts_with(b"here"))
    }

    /// Puts a file of ours there.
    pub(super) async fn put(&self, path: &str, bytes: &[u8]) -> Result<(), EnvError> {
        let talk = self.ask(PUT, &[path.to_owned()], bytes.to_vec(), LIMIT).await?;
        if talk.is_well() {
            return Ok(());
        }
        let doing = format!("cannot write a file in {}", self.name);
        Err(EnvError::Files { doing, why: talk.complaint("it failed without a word") })
    }

    /// A path there, as scripts need it.
    pub(super) async fn there(&self, path: &Path) -> Result<String, FileError> {
        let opened = self.opened().await.map_err(|wrong| unreachable(path, &wrong))?;
        Ok(opened.facts.expanded(path))
    }

    async fn read(&self, path: &Path, max_bytes: u64) -> Result<WholeFile, FileError> {
        let there = self.there(path).await?;
        let asked = [there, max_bytes.to_string()];
        let talk =
            self.ask(READ, &asked, Vec::new(), LIMIT).await.map_err(|wrong| unreachable(path, &wrong))?;
        let (line, rest) = split_line(&talk.out);
        let owned = || path.to_path_buf();
        let mut words = line.split(' ');
        match words.next() {
            Some("file") => {}
            Some("missing") => {
                return Err(FileError::Missing { path: owned(), similar: similar(path, rest) });
            }
            Some("directory") => return Err(FileError::IsDirectory(owned())),
            Some("special") => return Err(FileError::NotRegular(owned())),
            Some("refused") => {
                return Err(FileError::Unreadable { path: owned(), reason: "permission denied".to_owned() });
            }
            _ => {
                let reason = talk.complaint("it cannot be looked at");
                return Err(FileError::Unreadable { path: owned(), reason });
            }
        }
        let (stamp, mode) = stamp(&words.collect::<Vec<_>>());
        if stamp.size > max_bytes {
            return Err(FileError::TooLarge { path: owned(), size: stamp.size, limit: max_bytes });
        }
        if !talk.is_well() {
            let reason = talk.complaint("it could not be read to its end");
            return Err(FileError::Unreadable { path: owned(), reason });
        }
        Ok(WholeFile { bytes: rest.to_vec(), stamp, mode })
    }
}

impl Files for Far {
    /// Links over there are followed over there.
    fn real_path(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    fn page(&self, permit: Permit<Read>, request: PageRequest) -> BoxFuture<'_, Result<FilePage, FileError>> {
        Box::pin(async move {
            let WholeFile { bytes, stamp, .. } = self.read(permit.path(), MAX_PAGE_FILE).await?;
            let host = Arc::clone(&self.host);
            let page =
                hermes_core::host::blocking(&self.host, move || page_of(&bytes, request, host)).await?;
            let failed = |why: std::io::Error| FileError::Unreadable {
                path: permit.path().to_path_buf(),
                reason: why.to_string(),
            };
            Ok(match page.map_err(failed)? {
                FilePage::Text(page) => FilePage::Text(TextPage { stamp, ..page }),
                other => other,
            })
        })
    }

    fn search(
        &self,
        permit: Permit<Read>,
        query: SearchQuery,
    ) -> BoxFuture<'_, Result<SearchReport, FileError>> {
        Box::pin(async move { self.search_there(permit.path(), &query).await })
    }

    fn whole(&self, permit: Permit<Read>, max_bytes: u64) -> BoxFuture<'_, Result<WholeFile, FileError>> {
        Box::pin(async move { self.read(permit.path(), max_bytes).await })
    }

    fn change(&self, changes: Vec<Change>) -> BoxFuture<'_, Result<Vec<Changed>, FileError>> {
        Box::pin(self.change_there(changes))
    }
}

/// A place that cannot be reached, as an error about the file.
pub(super) fn unreachable(path: &Path, wrong: &EnvError) -> FileError {
    FileError::Unreadable { path: path.to_path_buf(), reason: wrong.to_string() }
}

/// The first line, and what follows it.
pub(super) fn split_line(bytes: &[u8]) -> (String, &[u8]) {
    let at = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
    let (line, rest) = bytes.split_at(at);
    (String::from_utf8_lossy(line).into_owned(), rest.get(1..).unwrap_or_default())
}

/// `size inode mode seconds date time zone`, of which the last three may be missing.
pub(super) fn stamp(words: &[&str]) -> (Stamp, Option<u32>) {
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<i128>().ok()).unwrap_or_default();
    let fraction = words.get(5).and_then(|time| time.split_once('.')).map_or("0", |(_, fraction)| fraction);
    let fraction = format!("{fraction:0<9}").chars().take(9).collect::<String>().parse::<i128>();
    let stamp = Stamp {
        size: u64::try_from(number(0)).unwrap_or_default(),
        modified: number(3) * 1_000_000_000 + fraction.unwrap_or_default(),
        file: u64::try_from(number(1)).unwrap_or_default(),
    };
    (stamp, words.get(2).and_then(|mode| u32::from_str_radix(mode, 8).ok()))
}

fn similar(path: &Path, names: &[u8]) -> Vec<String> {
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let names = String::from_utf8_lossy(names).into_owned();
    best_names(&wanted, names.lines().filter(|name| !matches!(*name, "." | "..")).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_with_and_without_fractions() {
        let words: Vec<&str> = "12 345 644 100 2026-01-01 00:00:00.000000007 +0000".split(' ').collect();

        let (full, mode) = stamp(&words);

        assert_eq!(full, Stamp { size: 12, modified: 100_000_000_007, file: 345 });
        assert_eq!(mode, Some(0o644));
        assert_eq!(stamp(&["12", "345", "644", "100"]).0.modified, 100_000_000_000);
    }
}
