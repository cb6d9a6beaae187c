//! What files held before a call changed them: one checkpoint per turn of a session.
//!
//! ```text
//! checkpoints/files/objects/<digest>      old content, once however often it is kept
//! checkpoints/files/places/<place>.jsonl  one line per kept file, by working directory
//! ```
//!
//! A line is written after its content, so that whatever is listed can be put back. Bounded by
//! size of a file, size of all, number per working directory, and age.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hermes_core::checkpoint::{Before, Moment, State};
use hermes_core::hex::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::disk::{self, Kind};
use crate::error::StoreError;
use crate::home::Home;
use crate::spill::Swept;

/// Most bytes of one list of checkpoints.
const MAX_LIST: u64 = 64 * 1024 * 1024;

/// Content that nothing lists is left alone this long: its line may be about to be written.
const SETTLED: Duration = Duration::from_hours(1);

/// Sessions whose present turn is remembered.
const MOST_SESSIONS: usize = 256;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest file kept, in bytes.
    pub file_bytes: u64,
    /// Most bytes of all kept content.
    pub total_bytes: u64,
    /// Most checkpoints per working directory.
    pub per_place: usize,
    /// How long they are kept.
    pub age: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 10 * 1024 * 1024,
            total_bytes: 500 * 1024 * 1024,
            per_place: 200,
            age: Duration::from_hours(7 * 24),
        }
    }
}

/// Keeps checkpoints in a home.
#[derive(Debug)]
pub struct Checkpoints {
    root: PathBuf,
    objects: PathBuf,
    places: PathBuf,
    limits: Limits,
    /// What is kept already for the present turn of each session.
    kept: Mutex<BTreeMap<String, (u64, BTreeSet<PathBuf>)>>,
}

/// What files held at the beginning of one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checkpoint {
    /// Short id.
    pub id: String,
    /// The session.
    pub session: String,
    /// The turn of it.
    pub turn: u64,
    /// When the first file was kept, in seconds since 1970.
    pub at: u64,
    /// The tools that changed the files.
    pub tools: Vec<String>,
    /// The files, in the order they were kept.
    pub files: Vec<Kept>,
}

/// A file of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Where it is.
    pub path: PathBuf,
    /// What it held; nothing when it was not there.
    pub before: Option<Object>,
}

/// Content that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Its digest.
    pub digest: String,
    /// Its size in bytes.
    pub size: u64,
    /// Permission bits of the file that held it.
    pub mode: Option<u32>,
}

/// One line of a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    id: String,
    session: String,
    turn: u64,
    at: u64,
    tool: String,
    #[serde(flatten)]
    file: Kept,
}

impl Checkpoints {
    /// The checkpoints of a home. Nothing is created before something is kept.
    pub fn open(home: &Home, limits: Limits) -> Self {
        let root = home.checkpoints();
        let files = root.join("files");
        let (objects, places) = (files.join("objects"), files.join("places"));
        Self { root, objects, places, limits, kept: Mutex::default() }
    }

    /// How much is kept.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Whether nothing is kept of this path yet in this turn.
    pub fn wants(&self, moment: &Moment<'_>, path: &Path) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(moment.session).is_none_or(|(turn, paths)| *turn != moment.turn || !paths.contains(path))
    }

    /// Keeps files as they are now; answers the id of the checkpoint they are in.
    pub fn keep(&self, moment: &Moment<'_>, files: &[Before], now: SystemTime) -> Result<String, StoreError> {
        let id = id(moment);
        self.make_folders()?;
        let at = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut lines = String::new();
        for Before { path, state } in files {
            let before = match state {
                State::Absent => None,
                State::File { bytes, mode } => Some(self.store(bytes, *mode)?),
            };
            let record = Record {
                id: id.clone(),
                session: moment.session.to_owned(),
                turn: moment.turn,
                at,
                tool: moment.tool.to_owned(),
                file: Kept { path: path.clone(), before },
            };
            // A path that is not text cannot be listed; such a file is not kept.
            if let Ok(line) = serde_json::to_string(&record) {
                lines.push_str(&line);
                lines.push('\n');
            }
        }
        let list = self.list_of(moment.cwd);
        let lock = disk::lock(&list)?;
        disk::append(&list, &lines)?;
        drop(lock);
        self.remember(moment, files);
        Ok(id)
    }

    /// The checkpoints of a working directory, newest first.
    pub fn list(&self, cwd: &Path) -> Result<Vec<Checkpoint>, StoreError> {
        let mut list = grouped(records(&self.list_of(cwd))?);
        list.reverse();
        Ok(list)
    }

    /// The content of an object, checked against its digest.
    pub fn content(&self, object: &Object) -> Result<Vec<u8>, StoreError> {
        let path = self.objects.join(&object.digest);
        let lost = |why: &str| StoreError::Io {
            doing: "read kept content from",
            path: path.clone(),
            source: std::io::Error::other(why.to_owned()),
        };
        if !object.digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(lost("its name is not a digest"));
        }
        let bytes = disk::read_bytes(&path, object.size)?.ok_or_else(|| lost("it is gone"))?;
        if digest(&bytes) == object.digest { Ok(bytes) } else { Err(lost("it is damaged")) }
    }

    /// Removes what is too old, too much or listed nowhere.
    pub fn sweep(&self, now: SystemTime) -> Result<Swept, StoreError> {
        let oldest = now.checked_sub(self.limits.age).unwrap_or(UNIX_EPOCH);
        let oldest = oldest.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let lists: Vec<PathBuf> = disk::list(&self.places)?
            .into_iter()
            .filter(|entry| {
                entry.kind == Kind::File && entry.path.extension().is_some_and(|it| it == "jsonl")
            })
            .map(|entry| entry.path)
            .collect();
        let mut live: Vec<Checkpoint> = Vec::new();
        for list in &lists {
            let mut known = grouped(records(list)?);
            let surplus = known.len().saturating_sub(self.limits.per_place);
            live.extend(known.drain(..).skip(surplus).filter(|checkpoint| checkpoint.at >= oldest));
        }
        live.sort_by_key(|checkpoint| std::cmp::Reverse(checkpoint.at));
        let (mut needed, mut keep, mut total) = (BTreeSet::new(), BTreeSet::new(), 0);
        for checkpoint in &live {
            let objects = checkpoint.files.iter().filter_map(|file| file.before.as_ref());
            let more: BTreeMap<&str, u64> = objects
                .filter(|object| !needed.contains(object.digest.as_str()))
                .map(|object| (object.digest.as_str(), object.size))
                .collect();
            total += more.values().sum::<u64>();
            if total > self.limits.total_bytes {
                break;
            }
            needed.extend(more.into_keys());
            keep.insert(checkpoint.id.clone());
        }
        for list in &lists {
            rewrite(list, &keep)?;
        }
        self.remove_objects(&needed, now)
    }

    fn remove_objects(&self, needed: &BTreeSet<&str>, now: SystemTime) -> Result<Swept, StoreError> {
        let mut swept = Swept::default();
        for entry in disk::list(&self.objects)? {
            let name = entry.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let settled = now.duration_since(entry.modified).is_ok_and(|age| age > SETTLED);
            if entry.kind == Kind::File && settled && !needed.contains(name) {
                disk::remove(&entry.path)?;
                swept.files += 1;
                swept.bytes += entry.bytes;
            }
        }
        Ok(swept)
    }

    fn make_folders(&self) -> Result<(), StoreError> {
        disk::make_private_folder(&self.root)?;
        disk::own_folder(&self.root.join("files"))?;
        disk::own_folder(&self.objects)?;
        disk::own_folder(&self.places)
    }

    fn store(&self, bytes: &[u8], mode: Option<u32>) -> Result<Object, StoreError> {
        let object = Object { digest: digest(bytes), size: bytes.len() as u64, mode };
        let path = self.objects.join(&object.digest);
        // Half-written content of a process that was killed has another size.
        if disk::size(&path).is_some_and(|size| size != object.size) {
            disk::remove(&path)?;
        }
        disk::create_new(&path, bytes)?;
        Ok(object)
    }

    fn list_of(&self, cwd: &Path) -> PathBuf {
        let place = digest(cwd.as_os_str().as_encoded_bytes());
        self.places.join(format!("{}.jsonl", place.get(..16).unwrap_or(&place)))
    }

    fn remember(&self, moment: &Moment<'_>, files: &[Before]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_SESSIONS && !kept.contains_key(moment.session) {
            kept.pop_first();
        }
        let (turn, paths) = kept.entry(moment.session.to_owned()).or_default();
        if *turn != moment.turn {
            (*turn, *paths) = (moment.turn, BTreeSet::new());
        }
        paths.extend(files.iter().map(|file| file.path.clone()));
    }
}

fn id(moment: &Moment<'_>) -> String {
    let text = format!("{}\0{}\0{}", moment.session, moment.turn, moment.cwd.display());
    digest(text.as_bytes()).get(..8).unwrap_or_default().to_owned()
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The lines of a list; one that is cut off or damaged is passed over.
fn records(list: &Path) -> Result<Vec<Record>, StoreError> {
    let text = disk::read(list, MAX_LIST)?.unwrap_or_default();
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// Records as checkpoints, oldest first; of a path that is there twice the older content counts.
fn grouped(records: Vec<Record>) -> Vec<Checkpoint> {
    let mut list: Vec<Checkpoint> = Vec::new();
    for Record { id, session, turn, at, tool, file } in records {
        let place = list.iter().position(|checkpoint| checkpoint.id == id).unwrap_or_else(|| {
            list.push(Checkpoint { id, session, turn, at, tools: Vec::new(), files: Vec::new() });
            list.len() - 1
        });
        let Some(checkpoint) = list.get_mut(place) else { continue };
        if !checkpoint.tools.contains(&tool) {
            checkpoint.tools.push(tool);
        }
        if checkpoint.files.iter().all(|known| known.path != file.path) {
            checkpoint.files.push(file);
        }
    }
    list
}

/// Leaves only these checkpoints in a list.
fn rewrite(list: &Path, keep: &BTreeSet<String>) -> Result<(), StoreError> {
    let _lock = disk::lock(list)?;
    let text = disk::read(list, MAX_LIST)?.unwrap_or_default();
    let listed =
        |line: &&str| serde_json::from_str::<Record>(line).is_ok_and(|record| keep.contains(&record.id));
    let left: Vec<_> = text.lines().filter(listed).collect();
    if left.is_empty() {
        return disk::remove(list);
    }
    let left = left.join("\n") + "\n";
    if left == text { Ok(()) } else { disk::write(list, &left, disk::Mode::Private) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(limits: Limits) -> (tempfile::TempDir, Checkpoints) {
        let dir = tempfile::tempdir().unwrap();
        let store = Checkpoints::open(&Home::at(&dir.path().join("home")), limits);
        (dir, store)
    }

    fn moment(turn: u64) -> Moment<'static> {
        Moment { session: "s", turn, cwd: Path::new("/work"), tool: "patch" }
    }

    fn file(path: &str, text: &str) -> Before {
        let state = State::File { bytes: text.as_bytes().to_vec(), mode: Some(0o644) };
        Before { path: path.into(), state }
    }

    fn at(days: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_hours(24 * (20_000 + days))
    }

    #[test]
    fn what_is_kept_comes_back_newest_first() {
        let (_dir, store) = setup(Limits::default());
        assert!(store.wants(&moment(0), Path::new("/work/a")));

        store.keep(&moment(0), &[file("/work/a", "old")], at(0)).unwrap();
        assert!(!store.wants(&moment(0), Path::new("/work/a")));
        assert!(store.wants(&moment(1), Path::new("/work/a")));
        store.keep(&moment(0), &[Before { path: "/work/new".into(), state: State::Absent }], at(0)).unwrap();
        store.keep(&moment(1), &[file("/work/a", "newer")], at(1)).unwrap();

        let list = store.list(Path::new("/work")).unwrap();
        assert_eq!(list.iter().map(|it| (it.turn, it.files.len())).collect::<Vec<_>>(), [(1, 1), (0, 2)]);
        assert_eq!(list[1].files[1].before, None);
        let old = list[1].files[0].before.as_ref().unwrap();
        assert_eq!((store.content(old).unwrap(), old.mode), (b"old".to_vec(), Some(0o644)));
        assert_eq!(store.list(Path::new("/elsewhere")).unwrap(), []);
    }

    #[test]
    fn damaged_content_is_not_put_back_and_a_cut_line_is_passed_over() {
        let (_dir, store) = setup(Limits::default());
        store.keep(&moment(0), &[file("/work/a", "old")], at(0)).unwrap();
        disk::append(&store.list_of(Path::new("/work")), "{\"id\":\"x").unwrap();

        let list = store.list(Path::new("/work")).unwrap();
        assert_eq!(list.len(), 1);
        let object = list[0].files[0].before.clone().unwrap();
        let path = store.objects.join(&object.digest);
        disk::remove(&path).unwrap();
        disk::create_new(&path, "odd").unwrap();
        assert!(store.content(&object).unwrap_err().to_string().contains("damaged"));
        assert!(store.content(&Object { digest: "../../x".to_owned(), ..object }).is_err());
    }

    #[test]
    fn a_sweep_removes_what_is_old_or_too_much() {
        let limits = Limits { total_bytes: 8, per_place: 3, ..Limits::default() };
        let (_dir, store) = setup(limits);
        for (turn, text) in [(0, "ancient"), (1, "surplus"), (2, "fits not"), (3, "abc"), (4, "def")] {
            let day = if turn == 0 { 0 } else { 20 + turn };
            store.keep(&moment(turn), &[file("/work/a", text)], at(day)).unwrap();
        }

        assert_eq!(store.sweep(at(20_000)).unwrap().files, 5);

        for turn in 0..5 {
            store.keep(&moment(turn), &[file("/work/a", &format!("{turn}234"))], at(20 + turn)).unwrap();
        }
        store.sweep(at(25)).unwrap();
        let turns: Vec<_> = store.list(Path::new("/work")).unwrap().iter().map(|it| it.turn).collect();
        assert_eq!(turns, [4, 3]);
    }
}
