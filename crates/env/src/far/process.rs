//! A process over there, and how it is stopped with everything it started.

use std::sync::Arc;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{BoxFuture, Either, select};
use hermes_core::environment::{End, EnvError, Input, Output, Process, Size, Stream, Streams};
use hermes_core::host::Host;

use crate::far::filter::{Filter, Over, Told};
use crate::far::scripts::{AROUND, STOP};
use crate::far::{Call, Reach};
use crate::process::MARK;
use crate::wait::wait_at_most;

/// How long the stopping of something may take before it is given up.
const STOPPING: Duration = Duration::from_secs(20);

/// How long a client gets to end by itself after what it was for is over.
const CLIENT: Duration = Duration::from_secs(2);

/// How long a place may take to start a program.
const START: Duration = Duration::from_mins(1);

/// What is wanted of a process.
pub(super) struct Wanted {
    /// Program and words, as they are to be started there.
    pub(super) words: Vec<String>,
    /// Variables it gets beside its place's; the mark is added.
    pub(super) variables: Vec<(String, String)>,
    /// Whether it gets none of its place's own.
    pub(super) only: bool,
    /// File whose neighbour tells the last directory.
    pub(super) left: String,
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
    client: Option<Box<dyn Process>>,
    filter: Arc<Filter>,
    over: oneshot::Receiver<Over>,
    mark: String,
    pid: u32,
    ended: Option<Over>,
    stopped: std::sync::atomic::AtomicBool,
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
        wanted: &Wanted,
    ) -> Result<Self, NotStarted> {
        let (filter, told) = Filter::new(&wanted.mark, wanted.streams, Arc::clone(&wanted.output));
        let terminal = matches!(wanted.streams, Streams::Terminal(_));
        let call = Call {
            words: words(wanted),
            input: Input::Open,
            streams: if terminal { wanted.streams } else { Streams::Separate },
            output: Arc::clone(&filter) as Arc<_>,
        };
        let mut client = reach.start(call).await.map_err(NotStarted::Failed)?;
        let Told { begun, over } = told;
        let ended = select(client.ended(), host.sleep(START));
        let pid = match select(begun, ended).await {
            Either::Left((Ok(pid), _)) => pid,
            Either::Right((Either::Right(_), _)) => {
                let why = format!("no program could be started there within {} s", START.as_secs());
                return Err(NotStarted::Failed(EnvError::Unreachable { environment: name.to_string(), why }));
            }
            _ => return Err(NotStarted::Lost(filter.talk())),
        };
        if !terminal {
            // Whatever fails from here on is seen at its end.
            let _ = client.write(b"go\n".to_vec());
        }
        match &wanted.input {
            Input::Empty if terminal => {}
            Input::Empty => client.close_input(),
            Input::Bytes(bytes) => {
                let _ = client.write(bytes.clone());
                client.close_input();
            }
            Input::Open => {}
        }
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
            stopped: std::sync::atomic::AtomicBool::new(false),
        })
    }

    /// How it ended, and where its shell stood.
    pub(super) async fn finished(&mut self) -> Result<Over, EnvError> {
        if let Some(over) = &self.ended {
            return Ok(over.clone());
        }
        let Some(client) = &mut self.client else { return Err(EnvError::Input("it has ended".to_owned())) };
        let over = match select(&mut self.over, client.ended()).await {
            Either::Left((Ok(over), _)) => Some(over),
            // The client hands everything over before it ends.
            Either::Left((Err(_), _)) | Either::Right(_) => self.over.try_recv().ok().flatten(),
        };
        match over {
            Some(over) => {
                self.ended = Some(over.clone());
                Ok(over)
            }
            None if self.stopped.load(std::sync::atomic::Ordering::Relaxed) => {
                self.ended = Some(Over::Ended(137, None));
                Ok(Over::Ended(137, None))
            }
            None => {
                let talk = self.filter.talk();
                let why = if talk.is_empty() { "its client ended".to_owned() } else { talk };
                Err(EnvError::CutOff { environment: self.name.to_string(), why })
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
        self.stopped.store(true, std::sync::atomic::Ordering::Relaxed);
        Box::pin(stop_there(&self.reach, &self.host, self.mark.clone(), grace))
    }

    fn write(&self, bytes: Vec<u8>) -> Result<(), EnvError> {
        match &self.client {
            Some(client) if self.ended.is_none() => client.write(bytes),
            _ => Err(EnvError::Input("it has ended".to_owned())),
        }
    }

    fn close_input(&self) {
        if let Some(client) = &self.client {
            client.close_input();
        }
    }

    fn resize(&self, size: Size) {
        if let Some(client) = &self.client {
            client.resize(size);
        }
    }
}

impl Drop for FarProcess {
    fn drop(&mut self) {
        let Some(mut client) = self.client.take() else { return };
        let (reach, host, mark) = (Arc::clone(&self.reach), Arc::clone(&self.host), self.mark.clone());
        let over = self.ended.is_some() || matches!(self.over.try_recv(), Ok(Some(_)));
        self.host.run_blocking(Box::new(move || {
            if !over {
                wait_at_most(stop_asked(&reach, mark, Duration::from_millis(80)), STOPPING, &host);
            }
            // It ends by itself when nothing over there holds its pipes; if something does, it goes all
            // the same.
            wait_at_most(client.ended(), CLIENT, &host);
        }));
    }
}

/// Stops everything over there whose mark begins with this one.
pub(super) async fn stop_there(reach: &Arc<dyn Reach>, host: &Arc<dyn Host>, mark: String, grace: Duration) {
    select(Box::pin(stop_asked(reach, mark, grace)), host.sleep(grace + STOPPING)).await;
}

async fn stop_asked(reach: &Arc<dyn Reach>, mark: String, grace: Duration) {
    let steps = grace.as_millis().div_ceil(50).to_string();
    let words = ["sh", "-c", STOP, "hermes", &mark, &steps, ""].map(str::to_owned).to_vec();
    let call = Call { words, input: Input::Empty, streams: Streams::Separate, output: Arc::new(Ignored) };
    // A place that cannot be reached has nothing of ours running, or is out of our hands.
    if let Ok(mut process) = reach.start(call).await {
        let _ = process.ended().await;
    }
}

/// Program and words around what is wanted.
fn words(wanted: &Wanted) -> Vec<String> {
    let empty = matches!(wanted.input, Input::Empty);
    let (how, size) = match wanted.streams {
        Streams::Merged => (if empty { "me" } else { "m" }, String::new()),
        Streams::Separate => (if empty { "se" } else { "s" }, String::new()),
        Streams::Terminal(size) => ("t", format!("{} {}", size.rows, size.columns)),
    };
    let mut words = vec!["env".to_owned()];
    if wanted.only {
        words.push("-i".to_owned());
    }
    words.push(format!("{MARK}={}", wanted.mark));
    let sound = |name: &str| !name.is_empty() && !name.contains('=') && !name.starts_with('-');
    let variables = wanted.variables.iter().filter(|(name, _)| sound(name) && name != MARK);
    words.extend(variables.map(|(name, value)| format!("{name}={value}")));
    words.extend(["sh", "-c", AROUND, "hermes", &wanted.mark, how].map(str::to_owned));
    words.extend([wanted.left.clone(), wanted.directory.clone(), size]);
    words.extend(wanted.words.iter().cloned());
    words
}

/// Takes what nobody wants to see.
pub(super) struct Ignored;

impl Output for Ignored {
    fn take(&self, _: Stream, _: &[u8]) {}
}
