//! The processes that Python tool files run in: one for each set of variables, so that a file sees the
//! secrets it asked for and those of no other.
//!
//! Files of one folder that need the same variables share a process. When a file of the folder changes,
//! fresh processes take over and the old ones end with their last call: no module is ever reloaded.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;

use crate::launch::{Consent, Program};
use crate::plugins::desk::Desk;
use crate::plugins::subject::Subject;
use crate::worker::{Doors, Worker};

/// The program that all Python runs in.
const HOST: &str = concat!(
    include_str!("host/wire.py"),
    include_str!("host/child.py"),
    include_str!("host/streams.py"),
    include_str!("host/register.py"),
    include_str!("host/load.py"),
    include_str!("host/call.py"),
    include_str!("host/threads.py"),
);

/// Where files come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The folder.
    pub folder: PathBuf,
    /// Why what is in it may run.
    pub consent: Consent,
    /// What its files may import of each other.
    pub imports: Imports,
}

/// What files of a folder may import of it, as `tools.<name>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imports {
    /// Whatever lies there when it is asked for.
    Folder,
    /// These, with the text they were accepted with.
    Only(Arc<Vec<(PathBuf, String)>>),
}

/// What makes two files share a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostKey {
    /// Where they come from.
    pub root: Root,
    /// Variables they need, with values, sorted.
    pub variables: Vec<(String, String)>,
    /// Changes with any file of the folder.
    pub generation: String,
}

/// All processes for Python tool files.
pub struct Hosts {
    doors: Doors,
    desk: Arc<Desk>,
    home: PathBuf,
    workers: Mutex<Vec<Kept>>,
}

/// A process, and the files in it: each is loaded once, however often it is asked for.
struct Kept {
    key: HostKey,
    worker: Arc<Worker>,
    files: Vec<Arc<Subject>>,
}

impl Hosts {
    /// Nothing is started yet.
    pub fn new(doors: Doors, desk: Arc<Desk>, home: PathBuf) -> Self {
        Self { doors, desk, home, workers: Mutex::default() }
    }

    /// Where files in processes may ask for more.
    pub fn desk(&self) -> &Arc<Desk> {
        &self.desk
    }

    /// A file in its process.
    pub fn file(&self, key: &HostKey, path: &std::path::Path, source: &str) -> Arc<Subject> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let shown = path.display().to_string();
        let load = json!({ "key": shown, "kind": "file", "path": shown, "source": source });
        let mut workers = self.lock();
        if !workers.iter().any(|kept| kept.key == *key) {
            workers.push(Kept { key: key.clone(), worker: self.worker(key), files: Vec::new() });
        }
        let made = |worker: Arc<Worker>| Subject::loaded_by(worker, &shown, &name, load.clone());
        let Some(kept) = workers.iter_mut().find(|kept| kept.key == *key) else {
            return made(self.worker(key));
        };
        if let Some(known) = kept.files.iter().find(|file| file.is_loaded_by(&load)) {
            return Arc::clone(known);
        }
        let file = made(Arc::clone(&kept.worker));
        kept.files.push(Arc::clone(&file));
        file
    }

    /// Lets go of the processes of a folder that belong to another generation of it.
    pub fn forget_others(&self, root: &Root, generation: &str) {
        let stays = |key: &HostKey| {
            key.root.folder != root.folder || (key.root == *root && key.generation == generation)
        };
        self.lock().retain(|kept| stays(&kept.key));
    }

    /// Whether any process runs.
    pub fn any_running(&self) -> bool {
        self.lock().iter().any(|kept| kept.worker.is_running())
    }

    fn worker(&self, key: &HostKey) -> Arc<Worker> {
        let Root { folder, imports, .. } = &key.root;
        // A name that is not UTF-8 is nowhere to be imported from, and in the way of nothing else.
        let folder = folder.to_string_lossy();
        let hello = match imports {
            Imports::Folder => json!({ "protocol": 1, "folders": [folder], "paths": [] }),
            Imports::Only(files) => {
                let module = |(path, source): &(PathBuf, String)| json!({ "path": path, "source": source });
                let files: Vec<_> = files.iter().map(module).collect();
                json!({ "protocol": 1, "folders": [], "paths": [], "from": folder, "only": files })
            }
        };
        let program = python(key.root.consent.clone(), &self.home, &key.variables);
        Worker::new(program, hello, self.doors.clone(), self.desk.seat("tools"))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What every foreign process is told: where the home is, and that compiled Python goes where it can be thrown
/// away, and comes from there, instead of lying beside what was accepted.
pub(crate) fn surroundings(home: &std::path::Path) -> [(String, String); 2] {
    let compiled = home.join("cache/pycache");
    [("HERMES_HOME", home), ("PYTHONPYCACHEPREFIX", &compiled)]
        .map(|(name, path)| (name.to_owned(), path.display().to_string()))
}

/// The Python process, with these variables beyond the usual ones.
pub(crate) fn python(consent: Consent, home: &std::path::Path, variables: &[(String, String)]) -> Program {
    // It starts where we are, and modules that lie there are not its own; older versions see to that in `wire.py`.
    let safe = ("PYTHONSAFEPATH".to_owned(), "1".to_owned());
    Program {
        program: "python3".to_owned(),
        arguments: ["-u", "-c", HOST].map(Into::into).to_vec(),
        variables: surroundings(home).into_iter().chain([safe]).chain(variables.iter().cloned()).collect(),
        directory: None,
        consent,
    }
}

/// Where this machine's Python looks for packages; nothing when there is no Python.
pub async fn paths(doors: &Doors, desk: &Arc<Desk>, home: &std::path::Path) -> Vec<PathBuf> {
    let program = python(Consent::Configured("plugins.enabled".to_owned()), home, &[]);
    let worker = Worker::new(program, json!({ "protocol": 1 }), doors.clone(), desk.seat("python"));
    let Ok(live) = worker.live().await else { return Vec::new() };
    let paths = live.hello.get("paths").and_then(serde_json::Value::as_array);
    let paths = paths.map(Vec::as_slice).unwrap_or_default();
    paths.iter().filter_map(serde_json::Value::as_str).map(PathBuf::from).collect()
}
