//! Programs of this machine that reach a far place, and end with us however we end.

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::environment::{End, EnvError, Input, Output, Process, Stream, Streams};
use hermes_core::host::Host;

use crate::far::Call;
use crate::process::guardian::{Guardian, Manner};
use crate::process::running::Running;
use crate::process::spawn::{Program, variable, word};
use crate::process::{MARK, secret_word};

/// Most that is kept of what a client says.
const MAX_SAID: usize = 1024 * 1024;

/// A client and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    /// The program: an absolute path.
    pub(crate) program: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
}

/// Starts clients.
pub(crate) struct Clients {
    host: Arc<dyn Host>,
    variables: Vec<(OsString, OsString)>,
    owner: String,
    started: AtomicU64,
    guardian: OnceLock<Option<Guardian>>,
}

/// What a client said until it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) end: End,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
}

impl Said {
    pub(crate) fn is_well(&self) -> bool {
        self.end == End::Code(0)
    }

    /// Standard output as text, without the ends of its lines around it.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).trim().to_owned()
    }

    /// What it complained about, or else what it said.
    pub(crate) fn complaint(&self) -> String {
        let err = String::from_utf8_lossy(&self.err).trim().to_owned();
        if err.is_empty() { self.text() } else { err }
    }
}

impl Clients {
    /// Clients get these variables, which are those of the person, not of the place.
    pub(crate) fn new(host: Arc<dyn Host>, variables: Vec<(OsString, OsString)>) -> Self {
        let (started, guardian) = (AtomicU64::new(0), OnceLock::new());
        Self { host, variables, owner: secret_word(), started, guardian }
    }

    /// Starts one for a call.
    pub(crate) fn start(&self, client: &Client, call: Call) -> Result<Box<dyn Process>, EnvError> {
        Ok(Box::new(self.started(client, Vec::new(), &call.input, call.streams, call.output)?))
    }

    /// Runs one to its end; what it writes is also told to `heard` as it comes.
    pub(crate) async fn ask(
        &self,
        client: &Client,
        limit: Duration,
        heard: Option<Arc<dyn Output>>,
    ) -> Result<Said, EnvError> {
        self.asked(client, Vec::new(), limit, heard).await
    }

    /// The same for a client that finds more among its variables.
    pub(crate) async fn ask_with<'a>(
        &self,
        client: &Client,
        more: impl Iterator<Item = (&'a String, &'a String)>,
        limit: Duration,
    ) -> Result<Said, EnvError> {
        let more = more.filter_map(|(name, value)| variable(name.as_bytes(), value.as_bytes()));
        self.asked(client, more.collect(), limit, None).await
    }

    async fn asked(
        &self,
        client: &Client,
        more: Vec<CString>,
        limit: Duration,
        heard: Option<Arc<dyn Output>>,
    ) -> Result<Said, EnvError> {
        let kept = Arc::new(Kept { said: Mutex::default(), heard });
        let output = Arc::clone(&kept) as Arc<_>;
        let mut running = self.started(client, more, &Input::Empty, Streams::Separate, output)?;
        let end = match select(running.ended(), self.host.sleep(limit)).await {
            Either::Left((end, _)) => Some(end?),
            Either::Right(_) => None,
        };
        let Some(end) = end else {
            running.stop(Duration::from_secs(1)).await;
            let name = client.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let why = format!("it did not answer within {} s", limit.as_secs());
            return Err(EnvError::Start { what: name, why });
        };
        let (out, err) = std::mem::take(&mut *kept.said.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Said { end, out, err })
    }

    fn started(
        &self,
        client: &Client,
        more: Vec<CString>,
        input: &Input,
        streams: Streams,
        output: Arc<dyn Output>,
    ) -> Result<Running, EnvError> {
        self.guardian.get_or_init(|| Guardian::start(&self.owner, None, Manner::AtOnce).ok());
        let mark = format!("{}.{}", self.owner, self.started.fetch_add(1, Ordering::Relaxed));
        let program = client.program.to_string_lossy();
        let words = std::iter::once(program.as_ref()).chain(client.arguments.iter().map(String::as_str));
        let arguments: Vec<CString> = words.map(word).collect::<Result<_, _>>()?;
        let mut variables: Vec<CString> = self
            .variables
            .iter()
            .filter(|(name, _)| !more.iter().any(|given| names(given, name.as_bytes())))
            .filter_map(|(name, value)| variable(name.as_bytes(), value.as_bytes()))
            .collect();
        variables.extend(more);
        variables.extend(variable(MARK.as_bytes(), mark.as_bytes()));
        let program = Program { path: &client.program, arguments, variables, input, streams, line: false };
        Running::start(&program, mark, output, &self.host)
    }
}

/// Whether a variable with its value is the one of that name.
fn names(variable: &CString, name: &[u8]) -> bool {
    variable.as_bytes().strip_prefix(name).is_some_and(|rest| rest.starts_with(b"="))
}

/// Keeps what a client says, and passes it on.
struct Kept {
    said: Mutex<(Vec<u8>, Vec<u8>)>,
    heard: Option<Arc<dyn Output>>,
}

impl Output for Kept {
    fn take(&self, from: Stream, bytes: &[u8]) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = match from {
            Stream::Out => &mut said.0,
            Stream::Err => &mut said.1,
        };
        let room = MAX_SAID.saturating_sub(kept.len());
        kept.extend(bytes.iter().take(room));
        drop(said);
        if let Some(heard) = &self.heard {
            heard.take(from, bytes);
        }
    }
}
