//! A process over there, and how it is stopped with everything it started.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{BoxFuture, Either, select};
use hermes_core::environment::{End, EnvError, Input, Output, Process, Size, Stream, Streams};
use hermes_core::host::Host;
use hermes_core::wait::wait_at_most;
use rustix::process::{Signal, pidfd_send_signal};

use crate::far::filter::{Filter, Over, Told};
use crate::far::lane::{Lane, Lanes};
use crate::far::place::Opened;
use crate::far::scripts::{AROUND, STOP};
use crate::far::{Call, Reach};
use crate::process::{MARK, tree};

/// How long the stopping of something may take before it is given up.
const STOPPING: Duration = Duration::from_secs(20);

/// How long a client gets to end by itself after what it was for is over.
const CLIENT: Duration = Duration::from_secs(2);

/// How long a shell that has answered before may take to answer again; then another way is tried.
const ANSWER: Duration = Duration::from_secs(5);

/// How long after a terminal has changed its size its client is told once more: one that has only begun may
/// not have listened yet.
const AGAIN: Duration = Duration::from_secs(1);

/// How long a place may take to start a program.
const START: Duration = Duration::from_mins(1);

/// What is to be stopped over there.
#[derive(Debug, Clone, Default)]
pub(super) struct Aim {
    /// What its marks begin with.
    pub(super) mark: String,
    /// The shell it is a child of, if that runs others too.
    pub(super) parent: Option<u32>,
    /// The session it is in, if that is known.
    pub(super) session: Option<u32>,
}

/// What is wanted of a process.
pub(super) struct Wanted {
    /// Program and words, as they are to be started there.
    pub(super) words: Vec<String>,
    /// Variables it gets beside its place's; the mark is added.
    pub(super) variables: Vec<(String, String)>,
    /// Whether it gets none of its place's own.
    pub(super) only: bool,
    /// The same for a shell that runs one command after the other, where that will do.
    pub(super) request: Option<Vec<String>>,
    /// File for what its shell leaves for the next, or nothing.
    pub(super) left: String,
    /// File in which its shell tells where it stood at the end, or nothing.
    pub(super) tell: String,
    /// Files nobody needs any more, to be removed after it.
    pub(super) unwanted: String,
    /// Where it starts.
    pub(super) directory: String,
    pub(super) input: Input,
    pub(super) streams: Streams,
    pub(super) output: Arc<dyn Output>,
    pub(super) mark: String,
}

/// A process over there.
pub(super) struct FarProcess {
    name: Arc<str>,
    reach: Arc<dyn Reach>,
    host: Arc<dyn Host>,
    client: Option<Client>,
    filter: Arc<Filter>,
    over: oneshot::Receiver<Over>,
    mark: String,
    pid: u32,
    ended: Option<Over>,
    stopped: AtomicBool,
    /// Whether its client is to be told once more that its terminal has another size.
    told_again: Arc<AtomicBool>,
}

/// What a process over there is reached by.
enum Client {
    /// A client of its own.
    Own(Box<dyn Process>),
    /// A shell that will run others after it.
    Lane(Lane, Arc<Lanes>),
}

impl Client {
    fn process(&self) -> &dyn Process {
        match self {
            Self::Own(client) | Self::Lane(Lane { client, .. }, _) => client.as_ref(),
        }
    }

    fn process_mut(&mut self) -> &mut dyn Process {
        match self {
            Self::Own(client) | Self::Lane(Lane { client, .. }, _) => client.as_mut(),
        }
    }
}

/// Why a start did not come about.
pub(super) enum NotStarted {
    /// It did not arrive, and so nothing has happened; with what its client said.
    Lost(String),
    /// Trying again does not help.
    Failed(EnvError),
}

impl FarProcess {
    /// Starts it, and returns when it has begun.
    pub(super) async fn start(
        name: &Arc<str>,
        reach: &Arc<dyn Reach>,
        host: &Arc<dyn Host>,
        opened: &Opened,
        wanted: &Wanted,
    ) -> Result<Self, NotStarted> {
        let (filter, told) = Filter::new(&wanted.mark, wanted.streams, Arc::clone(&wanted.output));
        let mut client = match &wanted.request {
            Some(request) => {
                let lanes = &opened.lanes;
                let lane = lanes.take(reach, &opened.facts).await.map_err(NotStarted::Failed)?;
                // One that does not listen any more is seen below.
                let _ = lane.ask(request, &filter);
                Client::Lane(lane, Arc::clone(lanes))
            }
            None => Client::Own(own(reach, wanted, &filter).await.map_err(NotStarted::Failed)?),
        };
        let Told { begun, over } = told;
        let used = matches!(&client, Client::Lane(lane, _) if lane.used);
        let limit = if used { ANSWER } else { START };
        let ended = select(client.process_mut().ended(), host.sleep(limit));
        let pid = match select(begun, ended).await {
            Either::Left((Ok(pid), _)) => pid,
            Either::Right((Either::Right(_), _)) if !used => {
                let why = format!("no program could be started there within {} s", START.as_secs());
                return Err(NotStarted::Failed(EnvError::Unreachable { environment: name.to_string(), why }));
            }
            _ => return Err(NotStarted::Lost(filter.talk())),
        };
        wanted.feed(client.process());
        Ok(Self {
            name: Arc::clone(name),
            reach: Arc::clone(reach),
            host: Arc::clone(host),
            client: Some(client),
            filter,
            over,
            mark: wanted.mark.clone(),
            pid,
            ended: None,
            stopped: AtomicBool::new(false),
            told_again: Arc::default(),
        })
    }

    fn aim(&self) -> Aim {
        let parent = matches!(self.client, Some(Client::Lane(..))).then_some(self.pid);
        Aim { mark: self.mark.clone(), parent, session: None }
    }

    /// How it ended, and where its shell stood.
    pub(super) async fn finished(&mut self) -> Result<Over, EnvError> {
        if let Some(over) = &self.ended {
            return Ok(over.clone());
        }
        let Some(client) = &mut self.client else { return Err(EnvError::Input("it has ended".to_owned())) };
        let over = match select(&mut self.over, client.process_mut().ended()).await {
            Either::Left((Ok(over), _)) => Some(over),
            // The client hands everything over before it ends.
            Either::Left((Err(_), _)) | Either::Right(_) => self.over.try_recv().ok().flatten(),
        };
        match over {
            Some(over) => {
                self.ended = Some(over.clone());
                Ok(over)
            }
            None if self.stopped.load(Relaxed) => {
                self.ended = Some(Over::Ended(137, None));
                Ok(Over::Ended(137, None))
            }
            None => {
                let talk = self.filter.talk();
                let why = if talk.is_empty() { "its client ended".to_owned() } else { talk };
                Err(EnvError::CutOff { environment: self.name.to_string(), why, output: Box::default() })
            }
        }
    }
}

impl Process for FarProcess {
    fn pid(&self) -> Option<u32> {
        Some(self.pid)
    }

    fn ended(&mut self) -> BoxFuture<'_, Result<End, EnvError>> {
        Box::pin(async move { self.finished().await.map(|over| over.end()) })
    }

    fn stop(&self, grace: Duration) -> BoxFuture<'_, ()> {
        self.stopped.store(true, Relaxed);
        Box::pin(stop_there(&self.reach, &self.host, self.aim(), grace))
    }

    fn write(&self, bytes: Vec<u8>) -> Result<(), EnvError> {
        match &self.client {
            Some(Client::Own(client)) if self.ended.is_none() => client.write(bytes),
            _ => Err(EnvError::Input("it has ended".to_owned())),
        }
    }

    fn close_input(&self) {
        if let Some(Client::Own(client)) = &self.client {
            client.close_input();
        }
    }

    fn resize(&self, size: Size) {
        let Some(Client::Own(client)) = &self.client else { return };
        client.resize(size);
        let pid = client.pid().and_then(|pid| i32::try_from(pid).ok());
        let program = pid.and_then(|pid| tree::open(pid, tree::look(pid)?.started));
        let (Some(program), false) = (program, self.told_again.swap(true, Relaxed)) else { return };
        let (host, told) = (Arc::clone(&self.host), Arc::clone(&self.told_again));
        self.host.run_blocking(Box::new(move || {
            tree::wait_all(std::slice::from_ref(&program), AGAIN, &host);
            told.store(false, Relaxed);
            // Who has ended meanwhile, or is not interested, does nothing about it.
            let _ = pidfd_send_signal(&program, Signal::WINCH);
        }));
    }
}

impl Drop for FarProcess {
    fn drop(&mut self) {
        let aim = self.aim();
        let Some(client) = self.client.take() else { return };
        let (reach, host) = (Arc::clone(&self.reach), Arc::clone(&self.host));
        let over = self.ended.is_some() || matches!(self.over.try_recv(), Ok(Some(_)));
        let stopped = self.stopped.load(Relaxed);
        let mut client = match client {
            Client::Lane(lane, lanes) if over && !stopped => return lanes.give_back(lane),
            Client::Lane(lane, _) => {
                lane.client.close_input();
                lane.client
            }
            Client::Own(client) => client,
        };
        self.host.run_blocking(Box::new(move || {
            if !over {
                wait_at_most(stop_asked(&reach, aim, Duration::from_millis(80)), STOPPING, &host);
            }
            // It ends by itself when nothing over there holds its pipes; if something does, it goes all
            // the same.
            wait_at_most(client.ended(), CLIENT, &host);
        }));
    }
}

/// Starts a client for what is wanted.
async fn own(
    reach: &Arc<dyn Reach>,
    wanted: &Wanted,
    filter: &Arc<Filter>,
) -> Result<Box<dyn Process>, EnvError> {
    let terminal = matches!(wanted.streams, Streams::Terminal(_));
    let call = Call {
        words: words(wanted),
        input: Input::Open,
        streams: if terminal { wanted.streams } else { Streams::Separate },
        output: Arc::clone(filter) as Arc<_>,
    };
    reach.start(call).await
}

impl Wanted {
    /// Tells it to begin, and what there is to read. Whatever fails here is seen at its end.
    fn feed(&self, client: &dyn Process) {
        let terminal = matches!(self.streams, Streams::Terminal(_));
        if !terminal {
            let _ = client.write(b"go\n".to_vec());
        }
        match &self.input {
            Input::Empty if terminal || self.request.is_some() => {}
            Input::Empty => client.close_input(),
            Input::Bytes(bytes) => {
                let _ = client.write(bytes.clone());
                client.close_input();
            }
            Input::Open => {}
        }
    }
}

/// Stops everything over there that is meant.
pub(super) async fn stop_there(reach: &Arc<dyn Reach>, host: &Arc<dyn Host>, aim: Aim, grace: Duration) {
    select(Box::pin(stop_asked(reach, aim, grace)), host.sleep(grace + STOPPING)).await;
}

async fn stop_asked(reach: &Arc<dyn Reach>, aim: Aim, grace: Duration) {
    let steps = grace.as_millis().div_ceil(50).to_string();
    let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
    let (parent, session) = (number(aim.parent), number(aim.session));
    let words = ["sh", "-c", STOP, "hermes", &aim.mark, &steps, "", &parent, &session];
    let words = words.map(str::to_owned).to_vec();
    let call = Call { words, input: Input::Empty, streams: Streams::Separate, output: Arc::new(Ignored) };
    // A place that cannot be reached has nothing of ours running, or is out of our hands.
    if let Ok(mut process) = reach.start(call).await {
        let _ = process.ended().await;
    }
}

/// Program and words around what is wanted.
fn words(wanted: &Wanted) -> Vec<String> {
    let input = match wanted.input {
        Input::Empty => "e",
        Input::Bytes(_) => "b",
        Input::Open => "",
    };
    let (how, size) = match wanted.streams {
        Streams::Merged => (format!("m{input}"), String::new()),
        Streams::Separate => (format!("s{input}"), String::new()),
        Streams::Terminal(size) => ("t".to_owned(), format!("{} {}", size.rows, size.columns)),
    };
    let mut words = vec!["env".to_owned()];
    if wanted.only {
        words.push("-i".to_owned());
    }
    words.push(format!("{MARK}={}", wanted.mark));
    let sound = |name: &str| !name.is_empty() && !name.contains('=') && !name.starts_with('-');
    let variables = wanted.variables.iter().filter(|(name, _)| sound(name) && name != MARK);
    words.extend(variables.map(|(name, value)| format!("{name}={value}")));
    words.extend(["sh", "-c", AROUND, "hermes", &wanted.mark, &how].map(str::to_owned));
    words.extend([wanted.tell.clone(), wanted.directory.clone(), size, wanted.unwanted.clone()]);
    words.extend(wanted.words.iter().cloned());
    words
}

/// Takes what nobody wants to see.
pub(super) struct Ignored;

impl Output for Ignored {
    fn take(&self, _: Stream, _: &[u8]) {}
}
