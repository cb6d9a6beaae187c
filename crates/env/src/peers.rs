//! Programs that stand beside the agent for longer than a call: servers of foreign tools, hosts of
//! plugins, hooks.
//!
//! They were configured or accepted by a person, not asked for by a model, and therefore start
//! without a permit; whoever starts one answers for that consent. Each leads a session of its own,
//! gets exactly the variables named, and ends with us however we end.

use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt as _, Shared};
use hermes_core::environment::{End, EnvError, Input, Streams};
use hermes_core::host::{Host, blocking};
use rustix::process::{WaitId, WaitIdOptions, waitid};

use crate::process::guardian::{Guardian, Manner};
use crate::process::pump::how;
use crate::process::spawn::{Child, Program, spawn, variable, word};
use crate::process::tether::Tether;
use crate::process::tree::{self, Root};
use crate::process::{MARK, secret_word};
use crate::shell::folder::{Folder, TempFolder};
use crate::shell::owner;

/// Goes to the directory in `$1`, then becomes the rest.
const IN_DIRECTORY: &str = r#"cd -- "$1" && shift && exec "$@""#;

/// What is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerProgram {
    /// The program: an absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// All its variables.
    pub variables: Vec<(String, String)>,
    /// Where it starts; else where we are.
    pub directory: Option<PathBuf>,
}

/// Starts peers and sees to it that none outlives us.
pub struct Peers {
    host: Arc<dyn Host>,
    owner: String,
    started: AtomicU64,
    guardian: OnceLock<Option<Guardian>>,
    manner: Manner,
    places: Vec<PathBuf>,
    folder: OnceLock<Option<Arc<Folder>>>,
}

/// A folder of one peer, which only we can look into. It is removed with everything in it when this
/// is dropped, or when we end in any other way.
pub struct PeerFolder(TempFolder);

impl PeerFolder {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A running peer and our ends of its descriptors, none of which block. Dropping the [`PeerKeeper`]
/// stops it.
pub struct Peer {
    /// What it reads.
    pub input: OwnedFd,
    /// What it says.
    pub output: OwnedFd,
    /// What it complains about.
    pub errors: OwnedFd,
    /// Its life.
    pub keeper: PeerKeeper,
}

/// Holds a peer alive.
pub struct PeerKeeper {
    pid: u32,
    host: Arc<dyn Host>,
    root: Arc<Mutex<Root>>,
    ended: Shared<BoxFuture<'static, Option<End>>>,
}

impl Peers {
    /// None so far.
    pub fn new(host: Arc<dyn Host>) -> Self {
        Self {
            host,
            owner: secret_word(),
            started: AtomicU64::new(0),
            guardian: OnceLock::new(),
            manner: Manner::AtOnce,
            places: Vec::new(),
            folder: OnceLock::new(),
        }
    }

    /// The same, where peers that we leave behind may end by themselves: they read the end of their input.
    /// Those that do not are asked to, and killed at last.
    pub fn patient(mut self) -> Self {
        self.manner = Manner::Patient;
        self
    }

    /// The same, where peers can have folders: in the first of these places that can hold them.
    pub fn with_folders_in(mut self, places: Vec<PathBuf>) -> Self {
        self.places = places;
        self
    }

    /// A new folder for a peer.
    pub fn folder(&self) -> Result<PeerFolder, EnvError> {
        let failed = |why: String| EnvError::Files { doing: "make a private folder".to_owned(), why };
        let around = self.around().ok_or_else(|| failed("there is no place for it".to_owned()))?;
        TempFolder::make(around).map(PeerFolder).map_err(|error| failed(error.to_string()))
    }

    fn around(&self) -> Option<&Arc<Folder>> {
        let make = || {
            // What is in such folders is large, and an owner that was killed may have left some.
            self.places.iter().for_each(|place| owner::sweep(place));
            Folder::make(&self.places).ok()
        };
        self.folder.get_or_init(make).as_ref()
    }

    /// Starts one.
    pub fn start(&self, peer: &PeerProgram) -> Result<Peer, EnvError> {
        self.guardian.get_or_init(|| {
            let folder = self.around().map(|folder| folder.path());
            Guardian::start(&self.owner, folder, self.manner).ok()
        });
        let mark = format!("{}.{}", self.owner, self.started.fetch_add(1, Ordering::Relaxed));
        let (path, arguments) = words(peer)?;
        let named = peer.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let variables = named.chain([(MARK, mark.as_str())]);
        let child = spawn(&Program {
            path: &path,
            arguments,
            variables: variables
                .filter_map(|(name, value)| variable(name.as_bytes(), value.as_bytes()))
                .collect(),
            input: &Input::Open,
            streams: Streams::Separate,
            line: false,
        })?;
        let tether = Tether::of(&child);
        if let Some(Some(guardian)) = self.guardian.get() {
            guardian.tell(&tether);
        }
        let Child { pid, pidfd, out, err, input, .. } = child;
        let (Some(errors), Some(input)) = (err, input) else {
            return Err(EnvError::Start {
                what: path.display().to_string(),
                why: "it has no pipes".to_owned(),
            });
        };
        let root = Arc::new(Mutex::new(Root { pid: Some(pid), mark, tether }));
        let keeper = PeerKeeper {
            pid: pid.as_raw_nonzero().get().unsigned_abs(),
            host: Arc::clone(&self.host),
            ended: self.bury(pidfd, Arc::clone(&root)),
            root,
        };
        Ok(Peer { input, output: out, errors, keeper })
    }

    /// Waits on a thread of its own until the process has ended.
    fn bury(&self, pidfd: OwnedFd, root: Arc<Mutex<Root>>) -> Shared<BoxFuture<'static, Option<End>>> {
        let (tell, told) = oneshot::channel();
        self.host.run_blocking(Box::new(move || {
            // Looked at first, buried after: while it lies there its number is not given away.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let _ = waitid(WaitId::PidFd(pidfd.as_fd()), options);
            lock(&root).pid = None;
            let buried = waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED);
            // Nobody listens any more when the owner is gone.
            let _ = tell.send(how(buried.ok().flatten().as_ref()).ok());
        }));
        async move { told.await.ok().flatten() }.boxed().shared()
    }
}

impl PeerKeeper {
    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until it has ended; how, where that is known.
    pub fn ended(&self) -> impl Future<Output = Option<End>> + Send + 'static {
        self.ended.clone()
    }

    /// Stops it and everything it started: by asking, after `grace` by force.
    pub async fn stop(&self, grace: Duration) {
        let (root, host) = (lock(&self.root).clone(), Arc::clone(&self.host));
        // A lost worker means that the host is going, and the guardian will do it.
        let _ = blocking(&self.host, move || tree::stop(&root, grace, &host)).await;
    }
}

impl Drop for PeerKeeper {
    fn drop(&mut self) {
        let (root, host) = (lock(&self.root).clone(), Arc::clone(&self.host));
        self.host.run_blocking(Box::new(move || tree::stop(&root, Duration::ZERO, &host)));
    }
}

fn lock(root: &Mutex<Root>) -> std::sync::MutexGuard<'_, Root> {
    root.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program to start and its words from `$0` on.
fn words(peer: &PeerProgram) -> Result<(PathBuf, Vec<CString>), EnvError> {
    let program = peer.program.to_string_lossy();
    let own = std::iter::once(program.as_ref()).chain(peer.arguments.iter().map(String::as_str));
    match &peer.directory {
        None => Ok((peer.program.clone(), own.map(word).collect::<Result<_, _>>()?)),
        Some(directory) => {
            let directory = directory.to_string_lossy();
            let before = ["sh", "-c", IN_DIRECTORY, "sh", directory.as_ref()];
            let all = before.into_iter().chain(own);
            Ok((Path::new("/bin/sh").to_path_buf(), all.map(word).collect::<Result<_, _>>()?))
        }
    }
}
