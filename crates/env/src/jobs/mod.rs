//! Background jobs: commands that go on after the call that started them.
//!
//! Nothing about a job is kept in memory here. Its folder says what it is, its log is in files,
//! its keeper answers on a socket; so a job started by this process and one found again after a
//! restart are the same thing.
//!
//! | file | what |
//! |---|---|
//! | `launch.rs` | what is written down about a job |
//! | `keeper.rs` | looks after one job |
//! | `wire.rs` | how a keeper is spoken to |
//! | `log.rs` | the log |
//! | `watch.rs` | looks for texts in the output |
//! | `notices.rs` | collects what sessions want to be told |

#![expect(clippy::disallowed_methods, reason = "folders of background jobs are files of this environment")]

mod keeper;
mod launch;
mod log;
mod notices;
mod place;
mod watch;
mod wire;

use std::fs;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, Either, select};
use hermes_core::environment::EnvError;
use hermes_core::host::{Host, blocking};
use hermes_core::jobs::{Job, JobFolders, JobInput, JobState, LogLines, LogPage};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::{WaitId, WaitIdOptions, waitid};

pub use keeper::run_as_keeper;
pub(crate) use keeper::{now, own_identity};
pub(crate) use launch::Launch;
pub(crate) use launch::to_bytes;
use launch::{FINISH, Finish, Numbered, RECORD, Record, Started, TOLD, Told};
pub(crate) use notices::{Burst, LAST_OUTPUT, MAX_WAITING, Notices};
pub(crate) use place::new_id;
pub(crate) use watch::Watch;

use crate::process::spawn::{Child, Program, spawn, word};
use crate::process::tether::Tether;
use crate::process::tree::{self, Root};
use hermes_core::environment::{Input, Streams};
use wire::Request;

/// Most jobs that may run at once.
const MAX_RUNNING: usize = 256;

/// Finished jobs that are kept, and for how long after their end.
const MAX_FINISHED: usize = 64;
const KEEP_FINISHED: u64 = 30 * 60;

/// How long a keeper has to say that it has started.
const START: Duration = Duration::from_secs(20);

/// How long a killed job may take to be gone.
const KILL: Duration = Duration::from_secs(10);

/// How jobs are kept.
#[derive(Clone, Default)]
pub struct JobSettings {
    /// Where; without it jobs do not outlive this process.
    pub folders: Option<Arc<dyn JobFolders>>,
    /// Program and arguments that end in [`run_as_keeper`]; without it jobs do not outlive this process.
    pub keeper: Option<Vec<String>>,
}

/// The jobs on one rack.
pub(crate) struct Rack {
    pub(crate) folders: Arc<dyn JobFolders>,
    pub(crate) keeper: Option<Vec<String>>,
    pub(crate) host: Arc<dyn Host>,
    /// Keepers we started, to be buried when they end before we do.
    pub(crate) started: Mutex<Vec<OwnedFd>>,
}

/// A job with its folder.
pub(crate) struct Found {
    pub(crate) folder: PathBuf,
    pub(crate) record: Record,
    finish: Option<Finish>,
}

impl Rack {
    /// Whether jobs live on when this process ends.
    pub(crate) fn outlives_us(&self) -> bool {
        self.keeper.is_some()
    }

    /// Makes room and a folder for a new job.
    pub(crate) fn make(&self, id: &str) -> Result<PathBuf, EnvError> {
        let running = self.tidy();
        if running >= MAX_RUNNING {
            return Err(EnvError::TooManyJobs(running));
        }
        let failed = |why| EnvError::Files { doing: "cannot make a folder for the job".to_owned(), why };
        self.folders.make(id).map_err(failed)
    }

    /// Hands a job to its keeper; blocking.
    pub(crate) fn launch(&self, launch: Launch) -> Result<Job, EnvError> {
        let (folder, id) = (launch.folder.clone(), launch.id.clone());
        let started = match &self.keeper {
            Some(words) => in_a_process(words, &launch, &self.started),
            None => Ok(on_a_thread(launch)),
        };
        match started {
            Ok(Started::Yes(record)) => Ok(Found { folder, record, finish: None }.job()),
            Ok(Started::No(why)) => {
                self.folders.remove(&id);
                Err(EnvError::Start { what: "the background process".to_owned(), why })
            }
            Err(wrong) => {
                self.folders.remove(&id);
                Err(wrong)
            }
        }
    }

    /// Every job there is, oldest first.
    pub(crate) fn all(&self) -> Vec<Found> {
        self.bury_keepers();
        let mut all: Vec<Found> =
            self.folders.all().into_iter().filter_map(|(_, folder)| read(&folder)).collect();
        all.sort_by(|a, b| (a.record.started_at, &a.record.id).cmp(&(b.record.started_at, &b.record.id)));
        all
    }

    /// The jobs a session may look at: its own, and those whose owner is gone.
    pub(crate) fn visible(&self, session: &str) -> Vec<Found> {
        self.all().into_iter().filter(|found| found.is_visible_to(session)).collect()
    }

    pub(crate) fn find(&self, session: &str, id: &str) -> Result<Found, EnvError> {
        let missing = || EnvError::NoJob(id.to_owned());
        let known = self.folders.all().into_iter().find(|(known, _)| known == id);
        let found = known.and_then(|(_, folder)| read(&folder)).ok_or_else(missing)?;
        if found.is_visible_to(session) { Ok(found) } else { Err(missing()) }
    }

    /// Ends what is left of jobs that lost their keeper, forgets old ones, and counts who runs.
    pub(crate) fn tidy(&self) -> usize {
        for (id, folder) in self.folders.all() {
            if is_left_over(&folder) {
                self.folders.remove(&id);
            }
        }
        let (mut running, mut finished) = (0, Vec::new());
        for mut found in self.all() {
            if found.state().is_over() {
                found.bury(&self.host);
                finished.push((found.finish.as_ref().map_or(0, |finish| finish.at), found.record.id));
            } else {
                running += 1;
            }
        }
        finished.sort();
        let too_many = finished.len().saturating_sub(MAX_FINISHED);
        let old = now().saturating_sub(KEEP_FINISHED);
        for (n, (at, id)) in finished.iter().enumerate() {
            if n < too_many || *at < old {
                self.folders.remove(id);
            }
        }
        running
    }

    fn bury_keepers(&self) {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        started.retain(|keeper| matches!(waitid(WaitId::PidFd(keeper.as_fd()), options), Ok(None)));
    }

    /// Stops a job; blocking.
    pub(crate) fn kill(&self, found: &Found) {
        let listening = wire::listen(&found.folder).ok();
        if wire::ask(&found.folder, &Request::Kill).is_err() {
            tree::stop(&found.root(), Duration::from_secs(1), &self.host);
        }
        if let (Some(stream), Ok(limit)) = (&listening, Timespec::try_from(KILL)) {
            wait_for_end(stream, None, Some(limit));
        }
    }
}

impl Found {
    pub(crate) fn state(&self) -> JobState {
        match &self.finish {
            Some(finish) => finish.state,
            None if tree::is_alive(self.record.keeper.pid, self.record.keeper.started) => JobState::Running,
            None => JobState::Lost,
        }
    }

    pub(crate) fn job(&self) -> Job {
        let Record { id, session, command, cwd, pid, started_at, notify, watch, .. } = self.record.clone();
        let until = self.finish.as_ref().map_or_else(now, |finish| finish.at);
        Job {
            id,
            session,
            command,
            cwd,
            pid,
            started_at,
            ran_for: Duration::from_secs(until.saturating_sub(started_at)),
            state: self.state(),
            found_again: self.record.owner != own_identity(),
            notify,
            watch,
            watch_hit: self.finish.as_ref().is_some_and(|finish| finish.watch_hit),
        }
    }

    /// The last things that were seen, once it is over.
    pub(crate) fn seen(&self) -> Option<&[Numbered]> {
        self.finish.as_ref().map(|finish| finish.seen.as_slice())
    }

    /// Whether somebody else, who is still there, hears what happens to it.
    pub(crate) fn has_other_listener(&self) -> bool {
        let owner = self.record.owner;
        owner != own_identity() && tree::is_alive(owner.pid, owner.started)
    }

    pub(crate) fn tail(&self, bytes: usize) -> Vec<u8> {
        log::tail(&self.folder, bytes)
    }

    pub(crate) fn lines(&self, page: LogPage) -> LogLines {
        log::lines(&self.folder, page)
    }

    pub(crate) fn write(&self, input: JobInput) -> Result<(), EnvError> {
        if self.state().is_over() {
            return Err(EnvError::Input("it has ended".to_owned()));
        }
        let request = match input {
            JobInput::Bytes(bytes) => Request::Write(bytes),
            JobInput::End => Request::Close,
        };
        wire::ask(&self.folder, &request)
    }

    fn is_visible_to(&self, session: &str) -> bool {
        let owner = self.record.owner;
        self.record.session == session || !tree::is_alive(owner.pid, owner.started)
    }

    fn root(&self) -> Root {
        Root { pid: None, mark: self.record.mark.clone(), tether: Tether::default() }
    }

    /// Ends what a lost job left running and records that it is over.
    fn bury(&mut self, host: &Arc<dyn Host>) {
        if self.finish.is_some() {
            return;
        }
        tree::stop(&self.root(), Duration::from_secs(1), host);
        let finish = Finish { state: JobState::Lost, at: now(), watch_hit: false, seen: Vec::new() };
        // A folder that cannot be written is looked at again next time.
        let _ = keeper::write(&self.folder, FINISH, &finish);
        self.finish = Some(finish);
    }
}

/// This process in a word, by which a later run can tell whether it is gone.
pub(crate) fn own_process() -> String {
    let own = own_identity();
    format!("{}.{}", own.pid, own.started)
}

/// Whether the process of that word still runs.
pub(crate) fn still_runs(word: &str) -> bool {
    let numbers =
        word.split_once('.').and_then(|(pid, started)| Some((pid.parse().ok()?, started.parse().ok()?)));
    numbers.is_some_and(|(pid, started)| tree::is_alive(pid, started))
}

/// Waits until a job is over, for at most that long. Dropping the future ends the waiting.
pub(crate) fn wait<'a>(
    host: &'a Arc<dyn Host>,
    found: &Found,
    limit: Duration,
) -> BoxFuture<'a, Result<(), EnvError>> {
    let stream = wire::listen(&found.folder);
    let nudge = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
    Box::pin(async move {
        // Nobody answers: it is over, or its keeper is gone. Either way there is nothing to wait for.
        let (Ok(stream), Ok(nudge)) = (stream, nudge) else { return Ok(()) };
        let guard = WakeOnDrop(Arc::new(nudge));
        let wake = Arc::clone(&guard.0);
        let waiting = Box::pin(blocking(host, move || wait_for_end(&stream, Some(&wake), None)));
        match select(waiting, host.sleep(limit)).await {
            Either::Left((done, _)) => Ok(done?),
            Either::Right(_) => Ok(()),
        }
    })
}

struct WakeOnDrop(Arc<OwnedFd>);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }
}

/// Blocks until the keeper hangs up, or somebody nudges, or the time is over.
fn wait_for_end(
    mut stream: &std::os::unix::net::UnixStream,
    nudge: Option<&OwnedFd>,
    limit: Option<Timespec>,
) {
    use std::io::Read as _;
    let mut bytes = [0; 4096];
    loop {
        let mut fds = vec![PollFd::new(stream, PollFlags::IN)];
        fds.extend(nudge.map(|nudge| PollFd::new(nudge, PollFlags::IN)));
        let ready = poll(&mut fds, limit.as_ref());
        let nudged = fds.get(1).is_some_and(|fd| !fd.revents().is_empty());
        if nudged || matches!(ready, Ok(0)) {
            return;
        }
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// How much of what happened to a job somebody has taken note of.
fn told(folder: &Path) -> Told {
    fs::read(folder.join(TOLD)).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// Somebody has taken note of so much.
fn tell(folder: &Path, told: Told) {
    // If it cannot be written it is told again, which is better than not at all.
    let _ = keeper::write(folder, TOLD, &told);
}

/// Whether a folder was made for a job that never came to be: its owner was killed just then.
fn is_left_over(folder: &Path) -> bool {
    let age = || fs::metadata(folder).ok()?.modified().ok()?.elapsed().ok();
    !folder.join(RECORD).exists() && age().is_some_and(|age| age > 3 * START)
}

fn read(folder: &Path) -> Option<Found> {
    let record = serde_json::from_slice(&fs::read(folder.join(RECORD)).ok()?).ok()?;
    let finish = fs::read(folder.join(FINISH)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    Some(Found { folder: folder.to_path_buf(), record, finish })
}

fn in_a_process(
    words: &[String],
    launch: &Launch,
    started: &Mutex<Vec<OwnedFd>>,
) -> Result<Started, EnvError> {
    let failed = |why: String| EnvError::Start { what: "the keeper of the process".to_owned(), why };
    let program = words.first().ok_or_else(|| failed("no program is named".to_owned()))?;
    let input = serde_json::to_vec(launch).map_err(|error| failed(error.to_string()))?;
    let variables = ["PATH=/usr/local/bin:/usr/bin:/bin"].into_iter().map(word).collect::<Result<_, _>>()?;
    let Child { pidfd, out, input: to, .. } = spawn(&Program {
        path: Path::new(program),
        arguments: words.iter().map(|text| word(text)).collect::<Result<_, _>>()?,
        variables,
        input: &Input::Open,
        streams: Streams::Merged,
        line: false,
    })?;
    started.lock().unwrap_or_else(PoisonError::into_inner).push(pidfd);
    feed(to, &input).map_err(|error| failed(error.to_string()))?;
    first_answer(&out).map_err(|error| failed(error.to_string()))
}

/// Writes everything to a pipe that does not block, then closes it.
fn feed(to: Option<OwnedFd>, mut bytes: &[u8]) -> std::io::Result<()> {
    let to = to.ok_or(std::io::ErrorKind::BrokenPipe)?;
    let limit = Timespec::try_from(START).map_err(std::io::Error::other)?;
    while !bytes.is_empty() {
        if poll(&mut [PollFd::new(&to, PollFlags::OUT)], Some(&limit))? == 0 {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        let taken = rustix::io::write(&to, bytes)?;
        bytes = bytes.get(taken..).unwrap_or_default();
    }
    Ok(())
}

/// What the keeper says; lines that are something else are passed over.
fn first_answer(from: &OwnedFd) -> std::io::Result<Started> {
    let limit = Timespec::try_from(START).map_err(std::io::Error::other)?;
    let (mut text, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        if poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&limit))? == 0 {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        let count = rustix::io::read(from, &mut chunk)?;
        text.extend_from_slice(chunk.get(..count).unwrap_or_default());
        let mut lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
        if let Some(answer) = lines.find_map(|line| serde_json::from_slice(line).ok()) {
            return Ok(answer);
        }
        if count == 0 {
            return Err(std::io::Error::other(String::from_utf8_lossy(&text).trim().to_owned()));
        }
    }
}

fn on_a_thread(launch: Launch) -> Started {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        keeper::keep(&launch, |started| {
            let said = match started {
                Started::Yes(record) => Started::Yes(record.clone()),
                Started::No(why) => Started::No(why.clone()),
            };
            let _ = tell.send(said);
        });
    });
    told.recv_timeout(START).unwrap_or_else(|_| Started::No("its keeper does not answer".to_owned()))
}
