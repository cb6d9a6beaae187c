//! Tool results too long for the model: one private folder per session, bounded in size and age.
//!
//! `cache/results/<session>/<call>.txt`. Folders are 0700, files 0600 and always new: a name that
//! is taken, by a file or by a planted link, is left alone and another one used. `cache` itself may
//! be a link, since people move it to another disk; what is ours below it may not.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::disk::{self, Kind};
use crate::error::StoreError;
use crate::home::Home;

/// Most bytes a session keeps, unless said otherwise.
pub const DEFAULT_LIMIT: u64 = 64 * 1024 * 1024;

const MAX_NAME: usize = 120;
/// How many names are tried for one result.
const MAX_TRIES: u32 = 1000;

/// Where a session's long results go.
#[derive(Debug, Clone)]
pub struct Spill {
    cache: PathBuf,
    results: PathBuf,
    folder: PathBuf,
    limit: u64,
}

/// A result that is written as it comes.
#[derive(Debug)]
pub struct Stream {
    /// Where it is.
    pub path: PathBuf,
    /// Takes the bytes.
    pub file: std::fs::File,
    /// Most bytes it may hold.
    pub limit: u64,
}

/// What a sweep removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many files.
    pub files: u64,
    /// How many bytes they held.
    pub bytes: u64,
}

impl Spill {
    /// The spill folder of a session. Nothing is created before something is kept.
    pub fn open(home: &Home, session: &str) -> Spill {
        let cache = home.cache();
        let results = cache.join("results");
        let folder = results.join(safe_name(session));
        Spill { cache, results, folder, limit: DEFAULT_LIMIT }
    }

    /// Keeps at most so many bytes; the oldest results make room.
    pub fn with_limit(self, bytes: u64) -> Spill {
        Spill { limit: bytes, ..self }
    }

    /// The folder, whether or not it exists yet.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps a text and says where. `id` is the call's; it may be anything.
    pub fn keep(&self, id: &str, text: &str) -> Result<PathBuf, StoreError> {
        let bytes = text.len() as u64;
        let name = safe_name(id);
        if bytes > self.limit {
            return Err(StoreError::TooLarge { path: self.folder.join(name), limit: self.limit });
        }
        self.make_folders()?;
        self.make_room(bytes)?;
        let put = |path: &Path| Ok(disk::create_new(path, text)?.then_some(()));
        self.free_name(&name, "txt", put).map(|(path, ())| path)
    }

    /// Keeps something that is no text, in a file with this ending, and says where.
    pub fn keep_bytes(&self, id: &str, ending: &str, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        use std::io::Write as _;
        let name = safe_name(id);
        if bytes.len() as u64 > self.limit {
            return Err(StoreError::TooLarge { path: self.folder.join(name), limit: self.limit });
        }
        self.make_folders()?;
        self.make_room(bytes.len() as u64)?;
        let (path, mut file) = self.free_name(&name, ending, disk::open_new)?;
        match file.write_all(bytes) {
            Ok(()) => Ok(path),
            Err(source) => Err(StoreError::Io { doing: "write", path, source }),
        }
    }

    /// Opens a file for a text whose length is not known yet, and says how long it may become. The
    /// oldest results make room for it. The caller keeps to the limit.
    pub fn stream(&self, id: &str) -> Result<Stream, StoreError> {
        self.make_folders()?;
        self.make_room(self.limit / 2)?;
        let (path, file) = self.free_name(&safe_name(id), "txt", disk::open_new)?;
        Ok(Stream { path, file, limit: self.limit / 2 })
    }

    fn make_folders(&self) -> Result<(), StoreError> {
        disk::make_private_folder(&self.cache)?;
        disk::own_folder(&self.results)?;
        disk::own_folder(&self.folder)
    }

    /// Takes the first name that nobody else has.
    fn free_name<T>(
        &self,
        name: &str,
        ending: &str,
        take: impl Fn(&Path) -> Result<Option<T>, StoreError>,
    ) -> Result<(PathBuf, T), StoreError> {
        for n in 1..=MAX_TRIES {
            let file = if n == 1 { format!("{name}.{ending}") } else { format!("{name}-{n}.{ending}") };
            let path = self.folder.join(file);
            if let Some(taken) = take(&path)? {
                return Ok((path, taken));
            }
        }
        let source = std::io::ErrorKind::AlreadyExists.into();
        Err(StoreError::Io { doing: "find a free name for", path: self.folder.join(name), source })
    }

    /// Removes results of all sessions that are older than that, and folders left empty.
    pub fn sweep(home: &Home, older_than: Duration, now: SystemTime) -> Result<Swept, StoreError> {
        let mut swept = Swept::default();
        let old = |modified| now.duration_since(modified).is_ok_and(|age| age > older_than);
        for session in disk::list(&home.cache().join("results"))? {
            if session.kind != Kind::Folder {
                continue;
            }
            for file in disk::list(&session.path)? {
                if file.kind != Kind::Folder && old(file.modified) {
                    disk::remove(&file.path)?;
                    swept.files += 1;
                    swept.bytes += file.bytes;
                }
            }
            disk::remove_if_empty(&session.path);
        }
        Ok(swept)
    }

    fn make_room(&self, bytes: u64) -> Result<(), StoreError> {
        let files = disk::list(&self.folder)?;
        let mut total: u64 = files.iter().filter(|f| f.kind == Kind::File).map(|f| f.bytes).sum();
        for file in files.iter().filter(|f| f.kind == Kind::File) {
            if total.saturating_add(bytes) <= self.limit {
                break;
            }
            disk::remove(&file.path)?;
            total = total.saturating_sub(file.bytes);
        }
        Ok(())
    }
}

/// An id as a file name: unsafe characters become `_`; a name that was changed, or is too long, gets
/// a digest of the id so that two ids do not meet.
fn safe_name(id: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut name: String = id.chars().map(|c| if safe(c) { c } else { '_' }).take(MAX_NAME).collect();
    if name.is_empty() || name.starts_with('.') {
        name = format!("_{}", name.trim_start_matches('.'));
    }
    if name == id { name } else { format!("{name}-{:012x}", digest(id)) }
}

/// 48 bits of FNV-1a: the same on every machine and in every release. It keeps names apart; it
/// guards nothing, as a name that is taken is never written to.
fn digest(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 48)) & 0xffff_ffff_ffff
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests set up folders of their own")]

    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(&dir.path().join("home"));
        (dir, home)
    }

    fn age(path: &Path, now: SystemTime, seconds: u64) {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(now - Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn a_result_is_kept_in_a_private_file_in_a_private_folder() {
        let (_dir, home) = home();
        let spill = Spill::open(&home, "s1");
        assert!(!home.path().exists());

        let path = spill.keep("call_1", "long").unwrap();

        assert_eq!(path, home.cache().join("results/s1/call_1.txt"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "long");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        for folder in [home.path(), &home.cache(), &home.cache().join("results"), spill.folder()] {
            assert_eq!(mode(folder), 0o700);
        }
    }

    #[test]
    fn the_same_id_twice_gives_two_files() {
        let (_dir, home) = home();
        let spill = Spill::open(&home, "s");

        let first = spill.keep("c", "1").unwrap();
        let second = spill.keep("c", "2").unwrap();

        assert_eq!(second.file_name().unwrap(), "c-2.txt");
        assert_eq!(fs::read_to_string(first).unwrap(), "1");
        assert_eq!(fs::read_to_string(second).unwrap(), "2");
    }

    #[test]
    fn a_long_result_can_be_written_as_it_comes() {
        use std::io::Write;
        let (_dir, home) = home();
        let spill = Spill::open(&home, "s").with_limit(1000);
        spill.keep("c", "1").unwrap();

        let mut stream = spill.stream("c").unwrap();
        stream.file.write_all(b"\xff2").unwrap();

        assert_eq!(stream.path, spill.folder().join("c-2.txt"));
        assert_eq!(stream.limit, 500);
        assert_eq!(fs::read(&stream.path).unwrap(), b"\xff2");
        assert_eq!(fs::metadata(&stream.path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_link_in_place_of_a_file_is_not_followed() {
        let (dir, home) = home();
        let victim = dir.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let spill = Spill::open(&home, "s");
        fs::create_dir_all(spill.folder()).unwrap();
        symlink(&victim, spill.folder().join("c.txt")).unwrap();
        symlink(dir.path().join("not-there"), spill.folder().join("d.txt")).unwrap();

        let kept = [spill.keep("c", "x").unwrap(), spill.keep("d", "x").unwrap()];

        assert_eq!(kept.map(|p| p.file_name().unwrap().to_owned()), ["c-2.txt", "d-2.txt"]);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert!(!dir.path().join("not-there").exists());
    }

    #[test]
    fn a_link_in_place_of_a_folder_is_refused() {
        for planted in ["results", "results/s"] {
            let (dir, home) = home();
            let elsewhere = dir.path().join("elsewhere");
            fs::create_dir(&elsewhere).unwrap();
            let link = home.cache().join(planted);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&elsewhere, &link).unwrap();

            let error = Spill::open(&home, "s").keep("c", "x").unwrap_err();

            assert!(matches!(error, StoreError::Link { path } if path == link));
            assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_folder_others_could_read_is_closed_again() {
        let (_dir, home) = home();
        let spill = Spill::open(&home, "s");
        fs::create_dir_all(spill.folder()).unwrap();
        fs::set_permissions(spill.folder(), fs::Permissions::from_mode(0o755)).unwrap();

        spill.keep("c", "x").unwrap();

        assert_eq!(fs::metadata(spill.folder()).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_oldest_results_make_room() {
        let (_dir, home) = home();
        let spill = Spill::open(&home, "s").with_limit(10);
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let [a, b] = ["a", "b"].map(|id| spill.keep(id, "1234").unwrap());
        age(&a, now, 10);
        age(&b, now, 20);

        let c = spill.keep("c", "1234").unwrap();

        assert!(a.exists() && !b.exists() && c.exists());
        let error = spill.keep("d", "12345678901").unwrap_err();
        assert!(matches!(error, StoreError::TooLarge { limit: 10, .. }));
        assert!(a.exists() && c.exists());
    }

    #[test]
    fn a_sweep_removes_what_is_old_and_keeps_the_rest() {
        let (dir, home) = home();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let gone = Spill::open(&home, "gone").keep("c", "12345").unwrap();
        let mixed = Spill::open(&home, "mixed");
        let [old, young] = ["old", "young"].map(|id| mixed.keep(id, "123").unwrap());
        age(&gone, now, 101);
        age(&old, now, 101);
        age(&young, now, 99);
        // A link among the sessions leads nowhere.
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("f"), "x").unwrap();
        age(&outside.join("f"), now, 1000);
        symlink(&outside, home.cache().join("results/link")).unwrap();

        let swept = Spill::sweep(&home, Duration::from_secs(100), now).unwrap();

        assert_eq!(swept, Swept { files: 2, bytes: 8 });
        assert!(young.exists() && !old.exists() && !gone.parent().unwrap().exists());
        assert!(outside.join("f").exists());
    }

    #[test]
    fn a_sweep_without_a_home_does_nothing() {
        let (_dir, home) = home();

        let swept = Spill::sweep(&home, Duration::ZERO, SystemTime::UNIX_EPOCH).unwrap();

        assert_eq!(swept, Swept::default());
        assert!(!home.path().exists());
    }

    #[test]
    fn a_folder_swept_away_is_made_again() {
        let (_dir, home) = home();
        let spill = Spill::open(&home, "s");
        let first = spill.keep("c", "1").unwrap();
        let later = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(u32::MAX));
        Spill::sweep(&home, Duration::ZERO, later).unwrap();
        assert!(!first.exists());

        assert_eq!(spill.keep("c", "2").unwrap(), first);
    }

    #[test]
    fn names_are_stable() {
        assert_eq!(safe_name("call_1.a-B"), "call_1.a-B");
        assert_eq!(safe_name("a/b"), format!("a_b-{:012x}", digest("a/b")));
        assert_eq!(digest(""), 0x9ce4_8422_2325 ^ 0xcbf2);
        assert_ne!(safe_name("a/b"), safe_name("a_b"));
    }

    proptest! {
        #[test]
        fn any_id_becomes_one_harmless_file_name(id in ".*") {
            let name = safe_name(&id);
            prop_assert!(!name.is_empty() && name.len() <= MAX_NAME + 14);
            prop_assert!(!name.starts_with('.'));
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)));
        }
    }
}
