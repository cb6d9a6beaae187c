//! The connection to a machine: made when it is needed, shared by everything that runs there, made
//! again when it broke.
//!
//! Programs run over it and nothing else: a program whose client finds it gone has not begun, and the
//! layer above makes the place ready again. What ran when it broke is never started a second time.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::{EnvError, Input, Process, Streams};

use crate::backends::Opening;
use crate::far::client::{Client, Clients, Said};
use crate::far::quote::quoted;
use crate::far::{Call, Close, Reach, Ready};
use crate::probe::{file_exists, program_on_path};
use crate::ssh::complaints::told;
use crate::ssh::session::{Seated, Sessions};
use crate::ssh::settings::SshSettings;
use crate::ssh::socket::Folder;
use crate::ssh::spoken::{Speech, look, understood};
use crate::ssh::words::{Way, options};

/// How long connecting may take, with all the machines in between.
const CONNECT: Duration = Duration::from_mins(1);

/// How long the client may take to let go.
const LET_GO: Duration = Duration::from_secs(5);

/// What the client ends with when the fault is its own.
const CLIENT_FAULT: hermes_core::environment::End = hermes_core::environment::End::Code(255);

/// A machine, and the connection to it.
pub(crate) struct Connection {
    settings: SshSettings,
    environment: String,
    program: PathBuf,
    clients: Clients,
    sessions: Sessions,
    /// Where a folder for the socket may be made, best first.
    bases: Vec<PathBuf>,
    /// Where keys lie that are named by `~`.
    home: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    folder: Option<Folder>,
    speech: Option<Speech>,
}

impl Connection {
    pub(crate) fn new(settings: SshSettings, with: Opening) -> Result<Self, EnvError> {
        let environment = with.around.name;
        let mut variables = with.variables.allowed();
        let value =
            |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let program = client(&environment, &settings.binary, &value("PATH").unwrap_or_default())?;
        let runtime = value("XDG_RUNTIME_DIR").map(PathBuf::from);
        let temp = value("TMPDIR").map(PathBuf::from);
        let bases =
            with.folder.into_iter().chain(runtime).chain([PathBuf::from("/tmp")]).chain(temp).collect();
        let home = value("HOME").map(PathBuf::from).unwrap_or_default();
        // Terminals there are looked at by us, whatever this program itself is looked at with.
        variables.retain(|(name, _)| name != "TERM");
        variables.push(("TERM".into(), "xterm-256color".into()));
        let clients = Clients::new(with.host, variables);
        let (sessions, state) = (Sessions::default(), Mutex::default());
        Ok(Self { settings, environment, program, clients, sessions, bases, home, state })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wrong(&self, why: String) -> EnvError {
        EnvError::Unreachable { environment: self.environment.clone(), why }
    }

    /// The path of the socket; its folder is made if it is not there.
    fn socket(&self) -> Result<PathBuf, EnvError> {
        let mut state = self.state();
        if let Some(folder) = &state.folder {
            return Ok(folder.socket());
        }
        let folder = Folder::make(&self.bases)
            .map_err(|why| self.wrong(format!("cannot make a folder for the connection: {why}")))?;
        let socket = folder.socket();
        state.folder = Some(folder);
        Ok(socket)
    }

    fn client(&self, mut options: Vec<String>, line: Option<String>) -> Client {
        options.extend(["--".to_owned(), self.settings.host.clone()]);
        options.extend(line);
        Client { program: self.program.clone(), arguments: options }
    }

    /// Asks the client that holds the connection for something.
    async fn control(&self, socket: &Path, what: &str) -> Result<Said, EnvError> {
        let mut words = options(&self.settings, Way::Shared(socket), false);
        words.extend(["-O".to_owned(), what.to_owned()]);
        self.clients.ask(&self.client(words, None), LET_GO, None).await
    }

    /// Makes the connection, or uses the one there is, and finds out how the shell there is spoken to.
    async fn connect(&self) -> Result<Ready, EnvError> {
        self.check_key()?;
        let socket = self.socket()?;
        let way = if self.settings.sessions == 0 { Way::Own } else { Way::Make(&socket) };
        for speech in [Speech::Plain, Speech::Careful] {
            let line = speech.of(&look()).line;
            let client = self.client(options(&self.settings, way, false), Some(line));
            let said = match self.clients.ask(&client, CONNECT, None).await {
                Ok(said) => said,
                Err(wrong) => {
                    // One that does not answer is of no use to anybody.
                    let _ = self.control(&socket, "exit").await;
                    return Err(self.wrong(format!("{} does not answer ({wrong})", self.settings.target())));
                }
            };
            if let Some(boot) = understood(&said.out) {
                self.state().speech = Some(speech);
                return Ok(Ready {
                    identity: format!("{} {boot}", self.settings.target()),
                    notes: Vec::new(),
                });
            }
            if said.end == CLIENT_FAULT && said.out.is_empty() {
                return Err(self.wrong(told(&self.settings, &said.complaint())));
            }
            if speech == Speech::Careful {
                return Err(self.wrong(format!(
                    "the login shell of {} does not start `sh`: {}",
                    self.settings.target(),
                    said.complaint()
                )));
            }
        }
        Err(self.wrong("there is no way to speak to its shell".to_owned()))
    }

    /// The client only warns about a key that is not there, and then tries others.
    fn check_key(&self) -> Result<(), EnvError> {
        let key = &self.settings.key;
        let path = match key.strip_prefix("~/") {
            Some(below) => self.home.join(below),
            None => PathBuf::from(key),
        };
        if key.is_empty() || key.contains('%') || file_exists(&path) {
            return Ok(());
        }
        Err(self.wrong(format!("there is no key {key} (check `key`)")))
    }

    fn begin(&self, mut call: Call) -> Result<Box<dyn Process>, EnvError> {
        let Some(speech) = self.state().speech else {
            return Err(self.wrong("there is no connection yet".to_owned()));
        };
        let spoken = speech.of(&call.words);
        let terminal = matches!(call.streams, Streams::Terminal(_));
        if terminal && !spoken.first.is_empty() {
            let what = "a program in a terminal".to_owned();
            return Err(EnvError::Start { what, why: "its words are too long".to_owned() });
        }
        let input = std::mem::replace(&mut call.input, Input::Empty);
        let (input, first) = match input {
            Input::Open => (Input::Open, spoken.first),
            Input::Bytes(bytes) => (Input::Bytes([spoken.first, bytes].concat()), Vec::new()),
            Input::Empty if spoken.first.is_empty() => (Input::Empty, Vec::new()),
            Input::Empty => (Input::Bytes(spoken.first), Vec::new()),
        };
        call.input = input;
        let socket = self.socket()?;
        let seat = self.sessions.seat(self.settings.sessions);
        let way = if seat.is_some() { Way::Shared(&socket) } else { Way::Own };
        let client = self.client(options(&self.settings, way, terminal), Some(spoken.line));
        let process = self.clients.start(&client, call)?;
        if !first.is_empty() {
            process.write(first)?;
        }
        Ok(Box::new(Seated { process, _seat: seat }))
    }

    async fn let_go(&self) {
        let (folder, speech) = {
            let mut state = self.state();
            (state.folder.take(), state.speech.take())
        };
        if let (Some(folder), Some(_)) = (&folder, speech) {
            // If it does not listen it goes with us, and by itself soon after its last program.
            let _ = self.control(&folder.socket(), "exit").await;
        }
    }
}

impl Reach for Connection {
    fn ready(&self) -> BoxFuture<'_, Result<Ready, EnvError>> {
        Box::pin(self.connect())
    }

    fn start(&self, call: Call) -> BoxFuture<'_, Result<Box<dyn Process>, EnvError>> {
        Box::pin(async move { self.begin(call) })
    }

    fn close(&self, _: Close) -> BoxFuture<'_, Result<(), EnvError>> {
        Box::pin(async move {
            self.let_go().await;
            Ok(())
        })
    }

    fn shell(&self) -> Option<Vec<OsString>> {
        let speech = self.state().speech?;
        let socket = self.socket().ok()?;
        let cwd = self.settings.cwd();
        let there = match cwd.strip_prefix('~') {
            Some(below) => format!("\"$HOME\"{}", quoted(below)),
            None => quoted(&cwd),
        };
        let script = format!("cd -- {there} 2>/dev/null; exec \"${{SHELL:-sh}}\" -l");
        let line = speech.of(&["sh".to_owned(), "-c".to_owned(), script]).line;
        let mut words = options(&self.settings, Way::Shared(&socket), true);
        // A person may leave it the way they are used to.
        words.drain(..2);
        let client = self.client(words, Some(line));
        let words = client.arguments.into_iter().map(OsString::from);
        Some(std::iter::once(client.program.into_os_string()).chain(words).collect())
    }
}

/// The client: the one that is set, else by the search path.
fn client(environment: &str, set: &str, path: &OsStr) -> Result<PathBuf, EnvError> {
    if set.contains('/') {
        return Ok(PathBuf::from(set));
    }
    let name = if set.is_empty() { "ssh" } else { set };
    program_on_path(name, path).ok_or_else(|| EnvError::Unreachable {
        environment: environment.to_owned(),
        why: format!("`{name}` is not on the search path; install OpenSSH's client, or set `binary`"),
    })
}
