//! Looks after one job: starts it, writes its log, passes on what is typed, records its end.
//!
//! It runs as a process of its own, so that the job outlives whoever started it and its end is
//! seen by somebody; or, where no program for that is at hand, on a thread, and the job ends with
//! its owner.

#![expect(clippy::disallowed_methods, reason = "a keeper has files, sockets, threads and a clock of its own")]

use std::collections::VecDeque;
use std::ffi::CString;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::channel::oneshot;
use futures::future::BoxFuture;
use hermes_core::environment::{End, EnvError, Input, Output, Size, Stream, Streams};
use hermes_core::host::Host;
use hermes_core::jobs::{Happening, JobState};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

use crate::jobs::launch::{FINISH, Finish, Identity, Launch, Numbered, RECORD, Record, Started};
use crate::jobs::log::LogWriter;
use crate::jobs::watch::Watch;
use crate::jobs::wire::{self, Request};
use crate::process::pump::{Link, Pump};
use crate::process::spawn::{self, Program, variable, word};
use crate::process::{MARK, tree};
use crate::shell::script::{COMMAND, pieces};

/// What a job gets to stop by itself when it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// Most happenings kept for those who come later; the oldest go.
const MAX_SEEN: usize = 32;

/// Runs as a keeper: reads what to start from standard input, says how that went on standard
/// output, and returns when the job is over.
pub fn run_as_keeper() -> Result<(), EnvError> {
    let mut text = Vec::new();
    std::io::stdin().lock().read_to_end(&mut text).map_err(|error| failed("read the job", &error))?;
    let launch: Launch = serde_json::from_slice(&text)
        .map_err(|error| failed("read the job", &std::io::Error::other(error)))?;
    keep(&launch, |started| {
        let line = serde_json::to_string(started).unwrap_or_default();
        let mut out = std::io::stdout().lock();
        // Whoever started us may be gone; the job goes on.
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
        if let Ok(null) = fs::OpenOptions::new().write(true).open("/dev/null") {
            let _ = rustix::stdio::dup2_stdout(&null);
            let _ = rustix::stdio::dup2_stderr(&null);
        }
    });
    Ok(())
}

/// Starts a job and stays with it to its end.
pub(crate) fn keep(launch: &Launch, tell: impl FnOnce(&Started)) {
    match start(launch) {
        Ok((desk, record, pump, listener)) => {
            tell(&Started::Yes(record));
            desk.work(pump, &listener, &launch.folder);
        }
        Err(wrong) => tell(&Started::No(wrong.to_string())),
    }
}

/// What the threads of a keeper share.
struct Desk {
    link: Arc<Link>,
    host: Arc<dyn Host>,
    state: Mutex<State>,
    killed: AtomicBool,
    over: OwnedFd,
}

struct State {
    log: LogWriter,
    watch: Watch,
    listeners: Vec<UnixStream>,
    happened: u64,
    seen: VecDeque<Numbered>,
}

fn start(launch: &Launch) -> Result<(Arc<Desk>, Record, Pump, UnixListener), EnvError> {
    let folder = &launch.folder;
    let doing = |what: &'static str| move |error: std::io::Error| failed(what, &error);
    let log = LogWriter::create(folder).map_err(doing("write the log"))?;
    let listener = wire::bind(folder).map_err(doing("listen for requests"))?;
    let over = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
        .map_err(|error| failed("listen for requests", &error.into()))?;
    let rest = if launch.rest.is_empty() {
        String::new()
    } else {
        let path = folder.join("rest");
        fs::write(&path, &launch.rest).map_err(doing("write the shell's functions"))?;
        path.to_string_lossy().into_owned()
    };
    let host: Arc<dyn Host> = Arc::new(OwnHost(Instant::now()));
    let streams = match launch.terminal {
        Some((rows, columns)) => Streams::Terminal(Size { rows, columns }),
        None => Streams::Merged,
    };
    let mut arguments =
        vec![word(&launch.shell.to_string_lossy())?, word("-c")?, word(COMMAND)?, word("bash")?];
    let cwd = launch.cwd.to_string_lossy();
    for text in [rest.as_str(), "", &launch.mark, &cwd].into_iter().chain(pieces(&launch.command)) {
        arguments.push(word(text)?);
    }
    let mut variables: Vec<_> =
        launch.variables.iter().filter_map(|(name, value)| variable(name, value)).collect();
    variables.extend(variable(MARK.as_bytes(), launch.mark.as_bytes()));
    let input = Input::Open;
    let path = match &launch.fence {
        None => &launch.shell,
        Some((launcher, words)) => {
            let words: Result<Vec<_>, _> = words.iter().cloned().map(CString::new).collect();
            let words = words.map_err(|error| failed("put up the fence", &error.into()))?;
            arguments.splice(0..0, words);
            launcher
        }
    };
    let child = spawn::spawn(&Program { path, arguments, variables, input: &input, streams, line: false })?;
    let record = record(launch, child.pid.as_raw_nonzero().get());
    let link = Link::new(&child, &input, launch.mark.clone())?;
    let (watch, listeners, seen) = (Watch::new(&launch.watch), Vec::new(), VecDeque::new());
    let state = State { log, watch, listeners, happened: 0, seen };
    let desk = Arc::new(Desk {
        link: Arc::clone(&link),
        host: Arc::clone(&host),
        state: Mutex::new(state),
        killed: AtomicBool::new(false),
        over,
    });
    let pump = Pump { child, link, output: Arc::clone(&desk) as Arc<_>, host };
    write(folder, RECORD, &record).map_err(doing("record the job"))?;
    Ok((desk, record, pump, listener))
}

fn record(launch: &Launch, pid: i32) -> Record {
    Record {
        id: launch.id.clone(),
        session: launch.session.clone(),
        command: launch.command.clone(),
        cwd: launch.cwd.clone(),
        pid: u32::try_from(pid).unwrap_or_default(),
        mark: launch.mark.clone(),
        terminal: launch.terminal.is_some(),
        watch: launch.watch.clone(),
        notify: launch.notify,
        started_at: launch.started_at,
        keeper: own_identity(),
        owner: launch.owner,
    }
}

impl Desk {
    fn work(self: Arc<Self>, pump: Pump, listener: &UnixListener, folder: &Path) {
        let (done, mut ended) = oneshot::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| self.serve(listener));
            pump.run(done);
            let end = ended.try_recv().ok().flatten().and_then(Result::ok);
            self.finish(end, folder);
            let _ = rustix::io::write(&self.over, &1_u64.to_ne_bytes());
        });
    }

    /// Records the end, then lets go of everybody who listened for it.
    fn finish(&self, end: Option<End>, folder: &Path) {
        let mut state = self.lock();
        if let Some(last) = state.watch.finish() {
            state.tell(last);
        }
        let state_now = match end {
            Some(end) if self.killed.load(Ordering::Relaxed) => JobState::Killed(end.code()),
            Some(end) => JobState::Exited(end.code()),
            None => JobState::Lost,
        };
        let seen = state.seen.drain(..).collect();
        let finish = Finish { state: state_now, at: now(), watch_hit: state.watch.hit, seen };
        // Without the file the job counts as lost, which is true of its code.
        let _ = write(folder, FINISH, &finish);
        let _ = fs::remove_file(folder.join("rest"));
        state.listeners.clear();
    }

    /// Answers requests until the job is over.
    fn serve(&self, listener: &UnixListener) {
        loop {
            let mut fds = [
                PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.over.as_fd(), PollFlags::IN),
            ];
            let _ = poll(&mut fds, None);
            let [request, over] = fds.map(|fd| !fd.revents().is_empty());
            if over {
                return;
            }
            if request && let Ok((mut stream, _)) = listener.accept() {
                self.serve_one(&mut stream);
            }
        }
    }

    fn serve_one(&self, stream: &mut UnixStream) {
        match wire::read(stream) {
            Some(Request::Write(bytes)) => wire::answer(stream, self.link.write(&bytes)),
            Some(Request::Close) => {
                self.link.close_input();
                wire::answer(stream, Ok(()));
            }
            Some(Request::Kill) => {
                self.killed.store(true, Ordering::Relaxed);
                wire::answer(stream, Ok(()));
                tree::stop(&self.link.root(), GRACE, &self.host);
            }
            Some(Request::Listen) => {
                if let Ok(stream) = stream.try_clone() {
                    self.lock().listen(stream);
                }
            }
            None => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Output for Desk {
    fn take(&self, _: Stream, bytes: &[u8]) {
        let mut state = self.lock();
        state.log.write(bytes);
        if let Some(happening) = state.watch.take(bytes, self.host.now()) {
            state.tell(happening);
        }
    }
}

impl State {
    /// Tells everybody who listens. It is kept as well: whoever listens may be gone before taking
    /// note of it, and only the one who comes next knows.
    fn tell(&mut self, what: Happening) {
        self.happened += 1;
        let happening = Numbered { number: self.happened, what };
        let line = line_of(&happening);
        self.listeners.retain_mut(|stream| stream.write_all(line.as_bytes()).is_ok());
        if self.seen.len() >= MAX_SEEN {
            self.seen.pop_front();
        }
        self.seen.push_back(happening);
    }

    fn listen(&mut self, mut stream: UnixStream) {
        let lines: String = self.seen.iter().map(line_of).collect();
        if stream.write_all(lines.as_bytes()).is_ok() {
            self.listeners.push(stream);
        }
    }
}

fn line_of(happening: &Numbered) -> String {
    format!("{}\n", serde_json::to_string(happening).unwrap_or_default())
}

/// This process, named for ever.
pub(crate) fn own_identity() -> Identity {
    let pid = std::process::id().cast_signed();
    Identity { pid, started: tree::look(pid).map_or(0, |seen| seen.started) }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Writes a small file whole or not at all.
pub(crate) fn write<T: serde::Serialize>(folder: &Path, name: &str, what: &T) -> std::io::Result<()> {
    let text = serde_json::to_vec(what)?;
    let new = folder.join(format!(".{name}.new"));
    fs::write(&new, text)?;
    fs::rename(new, folder.join(name))
}

fn failed(doing: &str, error: &std::io::Error) -> EnvError {
    EnvError::Files { doing: format!("cannot {doing}"), why: error.to_string() }
}

/// The clock of a keeper; it has no other use for a host.
struct OwnHost(Instant);

impl Host for OwnHost {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let (done, wait) = oneshot::channel();
        std::thread::spawn(move || {
            std::thread::sleep(time);
            let _: Result<(), ()> = done.send(());
        });
        Box::pin(async move {
            let _ = wait.await;
        })
    }

    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        std::thread::spawn(job);
    }
}
