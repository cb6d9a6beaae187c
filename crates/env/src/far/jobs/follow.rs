//! Hears of what happens to jobs over there, for the sessions that want to be told.
//!
//! One program there looks at the jobs and says when there is something new; one thread here listens to it.
//! It holds nothing of the place but the way to it, and needs no timer, so that it is in nobody's way when
//! everything ends. What is heard counts as told only when somebody takes it: the job's folder says how far
//! that has come, and what an owner did not live to take is told by the next one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures::StreamExt as _;
use futures::channel::mpsc;
use futures::future::{Either, select};
use hermes_core::environment::{Input, Output, Process, Stream, Streams};
use hermes_core::host::Host;
use hermes_core::jobs::{JobState, Notice};
use hermes_core::wait::{wait, wait_at_most};

use crate::far::files::LIMIT;
use crate::far::jobs::known::{FarJobs, Waiting};
use crate::far::jobs::record::{Found, Told, read};
use crate::far::jobs::scripts;
use crate::far::place::Opened;
use crate::far::talk::Talk;
use crate::far::{Call, Far, Reach};
use crate::jobs::LAST_OUTPUT;

/// Most bytes of a log that are fetched at once.
const CHUNK: u64 = 256 * 1024;

/// How often a connection that broke is made again for the sake of jobs, and how long to wait before.
const TRIES: u32 = 8;
const PAUSE: Duration = Duration::from_secs(1);

impl Far {
    /// Listens to a job from now on, if somebody wants to be told about it.
    pub(super) async fn follow(&self, found: &Found) {
        if !self.jobs.know(found) || !found.record.is_to_be_told() {
            return;
        }
        // If it cannot be asked for, its end is seen by whoever looks.
        let _ = self.job_script(&found.record.id, scripts::LISTEN, &[listened(found)]).await;
        if self.jobs.lock().has_more_to_hear() {
            self.keep_following(false);
        }
    }

    /// Takes up what earlier runs left, and what we left when the place was closed.
    pub(in crate::far) fn find_jobs_again(&self, opened: &Opened) {
        if opened.facts.jobs || self.jobs.lock().has_more_to_hear() {
            self.keep_following(true);
        }
    }

    /// Sees to it that somebody follows.
    fn keep_following(&self, orphans: bool) {
        if std::mem::replace(&mut self.jobs.lock().following, true) {
            return;
        }
        let follower = self.follower();
        self.host.run_blocking(Box::new(move || follower.run(orphans)));
    }

    fn follower(&self) -> Follower {
        Follower {
            jobs: Arc::clone(&self.jobs),
            reach: Arc::clone(&self.reach),
            host: Arc::clone(&self.host),
            place: Weak::clone(&self.me),
        }
    }

    pub(super) fn take_notices(&self) -> Vec<Notice> {
        let taken: Vec<Waiting> = self.jobs.lock().waiting.drain(..).collect();
        let told: BTreeMap<String, Told> =
            taken.iter().map(|waiting| (waiting.notice.job.clone(), waiting.told)).collect();
        if !told.is_empty() {
            let follower = self.follower();
            self.host.run_blocking(Box::new(move || follower.note(&told)));
        }
        taken.into_iter().map(|waiting| waiting.notice).collect()
    }
}

/// Whether what a job writes is looked at too, as the script wants to be told.
fn listened(found: &Found) -> String {
    if found.record.watch.is_empty() { "" } else { "w" }.to_owned()
}

/// Listens to the jobs of a place, on a thread of its own.
struct Follower {
    jobs: Arc<FarJobs>,
    reach: Arc<dyn Reach>,
    host: Arc<dyn Host>,
    place: Weak<Far>,
}

impl Follower {
    /// The folder of all jobs; the place is opened if it is not.
    fn folder(&self) -> Option<(String, Arc<Opened>)> {
        let place = self.place.upgrade()?;
        let opened = wait_at_most(place.opened(), LIMIT, &self.host)?.ok()?;
        Some((format!("{}/jobs", opened.facts.folder), opened))
    }

    /// What was known about the place does not hold any more.
    fn forget(&self, opened: &Arc<Opened>) {
        if let Some(place) = self.place.upgrade() {
            wait_at_most(place.forget(opened), LIMIT, &self.host);
        }
    }

    fn ask(&self, script: &str, arguments: &[String]) -> Option<Talk> {
        let mut words: Vec<String> = ["sh", "-c", script, "hermes"].map(str::to_owned).to_vec();
        words.extend(arguments.iter().cloned());
        let talk = Talk::listen(self.reach.as_ref(), words, Vec::new());
        wait_at_most(talk, LIMIT, &self.host)?.ok().filter(Talk::is_well)
    }

    /// Writes down how much somebody has taken note of. If that cannot be, it is told again, which is
    /// better than not at all.
    fn note(&self, told: &BTreeMap<String, Told>) {
        let Some((folder, _)) = self.folder() else { return };
        for (id, told) in told {
            let flag = |so: bool| if so { "1" } else { "0" }.to_owned();
            let words = [format!("{folder}/{id}"), told.bytes.to_string(), flag(told.end), flag(told.hit)];
            self.ask(scripts::TOLD, &words);
        }
    }

    /// Follows jobs until there is nothing more to hear of, or nobody who would.
    fn run(&self, orphans: bool) {
        let mut tries = 0;
        while tries < TRIES && !self.jobs.over.is_cancelled() {
            if let Some((folder, opened)) = self.folder() {
                if self.look(&folder, orphans).is_none() {
                    self.forget(&opened);
                } else if self.jobs.is_done() {
                    return;
                } else if self.listen(&folder) {
                    tries = 0;
                }
                if self.jobs.is_done() {
                    return;
                }
            }
            tries += 1;
            let pause = PAUSE * 2_u32.pow(tries.min(6));
            wait_at_most(self.jobs.over.cancelled(), pause, &self.host);
        }
        // Whoever opens the place next takes it up again.
        self.jobs.lock().following = false;
    }

    /// Looks at what there is; nothing when it cannot be reached.
    fn look(&self, folder: &str, orphans: bool) -> Option<()> {
        if orphans {
            self.take_up_orphans(folder)?;
        }
        self.catch_up(folder)
    }

    fn take_up_orphans(&self, folder: &str) -> Option<()> {
        let all = self.ask(scripts::LIST, &[folder.to_owned(), "*".to_owned()])?;
        for found in read(&all.out) {
            let record = &found.record;
            if record.is_orphan() && record.is_to_be_told() && !found.told.end && self.jobs.know(&found) {
                self.ask(scripts::LISTEN, &[format!("{folder}/{}", record.id), listened(&found)]);
            }
        }
        Some(())
    }

    /// Looks at each job that there is more to hear of.
    fn catch_up(&self, folder: &str) -> Option<()> {
        for id in self.jobs.open() {
            let said = self.ask(scripts::LIST, &[folder.to_owned(), id.clone()])?;
            match read(&said.out).pop() {
                Some(found) if !found.state.is_over() => {}
                Some(_) => self.hear(folder, &format!("{id} {} 1", u64::MAX))?,
                // It went with its place.
                None => self.jobs.ended(&id, JobState::Lost, b"", self.host.now()),
            }
        }
        Some(())
    }

    /// Listens until there is nothing more to hear, or nothing can be heard; `true` when something was.
    fn listen(&self, folder: &str) -> bool {
        let (tell, mut lines) = mpsc::unbounded();
        let output = Arc::new(Lines { tell, read: Mutex::default() });
        let words = ["sh", "-c", scripts::FOLLOW, "hermes", folder].map(str::to_owned).to_vec();
        let (input, streams) = (Input::Open, Streams::Separate);
        let call = Call { words, input, streams, output };
        let Some(Ok(mut client)) = wait_at_most(self.reach.start(call), LIMIT, &self.host) else {
            return false;
        };
        let mut heard = false;
        while let Some(line) = self.next(&mut lines, client.as_mut()) {
            heard = true;
            if self.hear(folder, &line).is_none() || !self.jobs.lock().has_more_to_hear() {
                break;
            }
        }
        heard
    }

    fn next(&self, lines: &mut mpsc::UnboundedReceiver<String>, client: &mut dyn Process) -> Option<String> {
        wait(async {
            let ended = select(client.ended(), Box::pin(self.jobs.over.cancelled()));
            match select(lines.next(), ended).await {
                Either::Left((line, _)) => line,
                Either::Right(_) => None,
            }
        })
    }

    /// Something is new about a job.
    fn hear(&self, folder: &str, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let [id, size, over] = words.as_slice() else { return Some(()) };
        let (mut at, watched) = {
            let state = self.jobs.lock();
            let Some(known) = state.known.get(*id).filter(|known| known.open) else { return Some(()) };
            (known.heard.bytes, !known.record.watch.is_empty())
        };
        let there = format!("{folder}/{id}");
        let size: u64 = size.parse().unwrap_or_default();
        while watched && at < size {
            let talk = self.ask(scripts::SINCE, &[there.clone(), at.to_string(), CHUNK.to_string()])?;
            let end = memchr::memchr(b'\n', &talk.out).unwrap_or(talk.out.len());
            let (head, text) = talk.out.split_at(end);
            let next = std::str::from_utf8(head).ok().and_then(|head| head.trim().parse().ok()).unwrap_or(at);
            if next <= at {
                break;
            }
            at = next;
            self.jobs.seen(id, at, text.get(1..).unwrap_or_default(), self.host.now());
        }
        if *over == "1" {
            let said = self.ask(scripts::LIST, &[folder.to_owned(), (*id).to_owned()])?;
            let state = read(&said.out).pop().map_or(JobState::Lost, |found| found.state);
            let last = self.ask(scripts::TAIL, &[there, LAST_OUTPUT.to_string()]);
            let output = last.map(|talk| talk.out).unwrap_or_default();
            self.jobs.ended(id, state, &output, self.host.now());
        }
        Some(())
    }
}

/// Hands on what is said, line by line.
struct Lines {
    tell: mpsc::UnboundedSender<String>,
    read: Mutex<Vec<u8>>,
}

impl Output for Lines {
    fn take(&self, from: Stream, bytes: &[u8]) {
        if from == Stream::Err {
            return;
        }
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.extend_from_slice(bytes);
        while let Some(at) = memchr::memchr(b'\n', &read) {
            let rest = read.split_off(at + 1);
            let line = std::mem::replace(&mut *read, rest);
            let _ = self.tell.unbounded_send(String::from_utf8_lossy(&line).trim().to_owned());
        }
    }
}
