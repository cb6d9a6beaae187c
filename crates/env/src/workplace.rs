//! What all environments share above starting things: limits, stopping, output, shell state.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, Either, select};
use hermes_core::effect::Command;
use hermes_core::environment::{
    EnvError, Environment, Input, Output, Overflow, Process, Ran, Run, Script, ScriptRan, ShellState, Start,
    Stream, Streams, Variables, Why, Workplace,
};
use hermes_core::host::Host;
use hermes_core::jobs::Jobs;
use hermes_core::permit::{Exec, Permit};
use tokio_util::sync::CancellationToken;

use crate::backends::{BackendDef, Opening, Surroundings};
use crate::capture::Capture;
use crate::fence::{Fence, FenceError};
use crate::jobs::{JobSettings, Notices, Rack};
use crate::probe;
use crate::process::secret_word;
use crate::shell::dump;
use crate::shell::folder::{Folder, TempFile};
use crate::shell::lasting::leaves_nothing;
use crate::shell::script::{COMMAND, LOGIN, PLAIN};
use crate::shell::state::{Known, Login, Start as LoginState};
use crate::shell::variables::ChildVariables;
use crate::sudo::{Asks, Sudo, SudoSettings};

/// What a command gets to stop by itself when its time is over.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// The same, when somebody waits for it to be gone.
pub(crate) const CANCEL_GRACE: Duration = Duration::from_millis(80);

/// How long the user's start-up files may take.
const LOGIN_LIMIT: Duration = Duration::from_secs(30);

/// How long the end of a stopped command is waited for.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(2);

/// How a place is opened when it is first needed.
pub struct PlaceSettings {
    /// Which environment.
    pub backend: &'static BackendDef,
    /// The `terminal` section of `config.yaml`.
    pub section: serde_json::Value,
    /// Which variables children get.
    pub variables: ChildVariables,
    /// Whether the user's start-up files are read, once.
    pub login: bool,
    /// Which; none means the usual ones.
    pub init_files: Vec<PathBuf>,
    /// Folders of this machine where a private one may be made, best first.
    pub scratch: Vec<PathBuf>,
    /// How background jobs are kept.
    pub jobs: JobSettings,
    /// What confines every command, where that is wanted. It is put up when the place is opened; if it
    /// cannot be, nothing runs there.
    pub fence: Option<FenceMaker>,
}

/// Puts a fence up.
pub type FenceMaker = Arc<dyn Fn() -> Result<Fence, FenceError> + Send + Sync>;

/// An environment with everything around it. It is opened by the first command.
pub struct Shared {
    settings: PlaceSettings,
    host: Arc<dyn Host>,
    login: Login,
    /// Held by the command that reads the start-up files; others that come first wait for what it finds.
    reading: futures::lock::Mutex<()>,
    opened: futures::lock::Mutex<Option<Opened>>,
    overflow: Option<Arc<dyn Overflow>>,
    notices: Notices,
    sudo: Option<SudoSettings>,
}

/// Variables by name.
pub(crate) type Pairs = Vec<(OsString, OsString)>;

/// An environment in use.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) environment: Arc<dyn Environment>,
    pub(crate) folder: Option<Arc<Folder>>,
    /// Where its background jobs are, if it can have any.
    pub(crate) rack: Option<Arc<Rack>>,
    /// What confines its commands.
    pub(crate) fence: Option<Arc<Fence>>,
    /// Who answers when `sudo` asks for a password.
    pub(crate) sudo: Option<Arc<Sudo>>,
}

/// A command with its shell, ready to start.
struct Prepared {
    start: Start,
    capture: Arc<Capture>,
    left: Left,
}

/// What a shell leaves for the next one.
enum Left {
    /// It is written to this file, with this mark between the parts.
    Written(TempFile, String),
    /// All is as it was.
    Nothing,
    /// It has nowhere to write it down.
    Unknown,
}

impl Shared {
    /// A place that is opened when the first command comes.
    pub fn new(settings: PlaceSettings, host: Arc<dyn Host>) -> Self {
        let login = Login::default();
        if !settings.login {
            login.set(LoginState::Without);
        }
        let notices = Notices::new(Arc::clone(&host));
        let (reading, opened) = (futures::lock::Mutex::new(()), futures::lock::Mutex::new(None));
        Self { settings, host, login, reading, opened, overflow: None, notices, sudo: None }
    }

    pub(crate) fn host(&self) -> &Arc<dyn Host> {
        &self.host
    }

    pub(crate) fn heard(&self) -> &Notices {
        &self.notices
    }

    pub(crate) fn keeper_of_the_rest(&self) -> Option<Arc<dyn Overflow>> {
        self.overflow.clone()
    }

    pub(crate) fn settings(&self) -> &PlaceSettings {
        &self.settings
    }

    /// Keeps the whole of outputs that are too long.
    pub fn overflow(mut self, overflow: Arc<dyn Overflow>) -> Self {
        self.overflow = Some(overflow);
        self
    }

    /// Answers `sudo` when a command calls it where there is no terminal.
    pub fn sudo(mut self, settings: SudoSettings) -> Self {
        self.sudo = Some(settings);
        self
    }

    pub(crate) async fn opened(&self) -> Result<Opened, EnvError> {
        let mut opened = self.opened.lock().await;
        if let Some(opened) = &*opened {
            return Ok(opened.clone());
        }
        // Without a private folder commands run all the same; they leave nothing to the next one.
        let folder = Folder::make(&self.settings.scratch).ok();
        let fence = self.settings.fence.as_ref().map(|make| make()).transpose();
        let fence = fence.map_err(|wrong| EnvError::Start {
            what: "a command behind the fence".to_owned(),
            why: wrong.to_string(),
        })?;
        let fence = fence.map(Arc::new);
        let with = Opening {
            host: Arc::clone(&self.host),
            variables: self.settings.variables.clone(),
            folder: folder.as_ref().map(|folder| folder.path().to_path_buf()),
            fence: fence.clone(),
            around: Surroundings::default(),
        };
        let environment = self.settings.backend.open(self.settings.section.clone(), with).await?;
        let folder = folder.filter(|_| environment.shares_files());
        let rack = folder.as_ref().map(|folder| self.rack(folder));
        if let Some(rack) = &rack {
            self.find_again(rack);
        }
        // Behind a fence nothing gains rights, and without a folder there is nowhere to ask: then `sudo`
        // says itself that it cannot.
        let sudo = self.sudo.clone().zip(folder.as_ref()).filter(|_| fence.is_none());
        let sudo = sudo.and_then(|(settings, folder)| Sudo::open(settings, folder.path(), &self.host).ok());
        Ok(opened.insert(Opened { environment, folder, rack, fence, sudo: sudo.map(Arc::new) }).clone())
    }

    fn rack(&self, folder: &Arc<Folder>) -> Arc<Rack> {
        let JobSettings { folders, keeper } = self.settings.jobs.clone();
        let (host, started) = (Arc::clone(&self.host), Mutex::default());
        Arc::new(match folders {
            Some(folders) => Rack { folders, keeper, host, started },
            // What lies in our private folder goes with us, and so must the jobs.
            None => Rack { folders: Arc::clone(folder) as Arc<_>, keeper: None, host, started },
        })
    }

    /// Jobs of an earlier run: what is left of lost ones ends, the others are listened to again.
    fn find_again(&self, rack: &Arc<Rack>) {
        let (rack, notices) = (Arc::clone(rack), self.notices.clone());
        self.host.run_blocking(Box::new(move || {
            rack.tidy();
            for found in rack.all().iter().filter(|found| !found.has_other_listener()) {
                notices.listen(found);
            }
        }));
    }

    /// What the shell of a command starts from: what the session left, else what the user's
    /// start-up files set. These are read once.
    pub(crate) async fn known(
        &self,
        opened: &Opened,
        permit: &Permit<Exec>,
        shell: &ShellState,
        cancel: &CancellationToken,
        notes: &mut Vec<String>,
    ) -> Result<Option<Arc<Known>>, EnvError> {
        if let Some(known) = shell.find::<Known>() {
            return Ok(Some(known));
        }
        let Some(folder) = &opened.folder else { return Ok(None) };
        let _reading = match self.login.now() {
            LoginState::Unread => Some(self.reading.lock().await),
            LoginState::Read(_) | LoginState::Without => None,
        };
        match self.login.now() {
            LoginState::Read(known) => return Ok(Some(known)),
            LoginState::Without => return Ok(None),
            LoginState::Unread => {}
        }
        let (file, mark) = (folder.file(), secret_word());
        let init: Vec<_> = self.settings.init_files.iter().map(|path| path.to_string_lossy()).collect();
        let start = Start {
            script: LOGIN,
            arguments: vec![name(Some(&file)), mark.clone(), init.join("\n")],
            input: Input::Empty,
            streams: Streams::Merged,
            variables: Variables::UsualAnd(Vec::new()),
            line: false,
            output: Arc::new(Ignored),
        };
        let mut process = opened.environment.spawn(permit.clone(), start).await?;
        let why = self.watch(process.as_mut(), LOGIN_LIMIT, cancel).await?;
        match file.read().and_then(|bytes| dump::read(&bytes, &mark)) {
            Some(mut dump) => {
                dump.variables = self.settings.variables.filtered(dump.variables);
                let known = Known::from(dump, None, folder);
                self.login.set(LoginState::Read(Arc::clone(&known)));
                Ok(Some(known))
            }
            None if why == Why::Cancelled => Ok(None),
            None => {
                self.login.set(LoginState::Without);
                notes.push("the shell's start-up files did not finish; commands run without them".to_owned());
                Ok(None)
            }
        }
    }

    /// The variables of a command: what the session left, else the usual ones, and what it asks for.
    pub(crate) fn variables(
        &self,
        opened: &Opened,
        known: Option<&Known>,
        shell: &ShellState,
        asks: Asks,
    ) -> Pairs {
        let mut given =
            known.map_or_else(|| self.settings.variables.allowed(), |known| known.variables.clone());
        given.extend(self.settings.variables.asked_for(shell.passed(), &given));
        if let Some(sudo) = &opened.sudo {
            sudo.dress(&mut given, asks);
        }
        given
    }

    fn prepared(
        &self,
        opened: &Opened,
        known: Option<&Arc<Known>>,
        permit: &Permit<Exec>,
        run: &Run,
    ) -> Prepared {
        let capture =
            Arc::new(Capture::new(run.keep, self.overflow.clone(), &run.session, permit.call().as_str()));
        let Command { text, workdir, .. } = permit.command();
        let directory = workdir.to_string_lossy().into_owned();
        let plain = known.is_some_and(|known| is_clean(workdir) && leaves_nothing(text, known));
        let (script, arguments, left) = if plain {
            (PLAIN, vec![directory], Left::Nothing)
        } else {
            let (file, mark) = (opened.folder.as_ref().map(Folder::file), secret_word());
            let rest = known.and_then(|known| known.rest.as_ref()).map(|rest| &rest.file);
            let arguments = vec![name(rest), name(file.as_ref()), mark.clone(), directory];
            (COMMAND, arguments, file.map_or(Left::Unknown, |file| Left::Written(file, mark)))
        };
        let start = Start {
            script,
            arguments,
            input: match (run.input.is_empty(), run.terminal) {
                (true, None) => Input::Empty,
                _ => Input::Bytes(run.input.clone()),
            },
            streams: run.terminal.map_or(Streams::Merged, Streams::Terminal),
            variables: if known.is_none() && opened.sudo.is_none() {
                Variables::UsualAnd(self.settings.variables.beyond_usual(run.shell.passed()))
            } else {
                let known = known.map(Arc::as_ref);
                Variables::Only(self.variables(opened, known, &run.shell, Asks::ThePerson))
            },
            line: false,
            output: Arc::clone(&capture) as Arc<_>,
        };
        Prepared { start, capture, left }
    }

    /// Waits for the end, the limit, or the caller's change of mind, and stops it where needed.
    async fn watch(
        &self,
        process: &mut dyn Process,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Why, EnvError> {
        let over = select(self.host.sleep(limit), Box::pin(cancel.cancelled()));
        let (why, grace) = match select(process.ended(), over).await {
            Either::Left((end, _)) => return end.map(Why::Ended),
            Either::Right((Either::Left(_), _)) => (Why::TimedOut(limit), GRACE),
            Either::Right((Either::Right(_), _)) => (Why::Cancelled, CANCEL_GRACE),
        };
        process.stop(grace).await;
        // What it still had to say is listened to; the answer is given all the same.
        select(process.ended(), self.host.sleep(LAST_WORDS)).await;
        Ok(why)
    }
}

impl Workplace for Shared {
    fn run(&self, permit: Permit<Exec>, run: Run) -> BoxFuture<'_, Result<Ran, EnvError>> {
        Box::pin(async move {
            let mut notes = Vec::new();
            let opened = self.opened().await?;
            let known = self.known(&opened, &permit, &run.shell, &run.cancel, &mut notes).await?;
            let Prepared { start, capture, left } = self.prepared(&opened, known.as_ref(), &permit, &run);
            let workdir = permit.command().workdir.clone();
            let mut process = opened.environment.spawn(permit, start).await?;
            let why = self.watch(process.as_mut(), run.timeout, &run.cancel).await?;
            drop(process);
            // What a stopped command left may be half of what it meant to.
            let finished = matches!(why, Why::Ended(_));
            let (cwd, shell) = match left {
                Left::Nothing if finished => (Some(existing(&workdir)), run.shell),
                Left::Written(file, mark) if finished => {
                    let dump = file.read().and_then(|bytes| dump::read(&bytes, &mark));
                    let cwd = dump.as_ref().map(|dump| existing(&dump.cwd));
                    let shell = match (dump, &opened.folder) {
                        (Some(dump), Some(folder)) => Known::from(dump, known.as_ref(), folder).wrapped(),
                        _ => run.shell,
                    };
                    (cwd, shell)
                }
                _ => (None, run.shell),
            };
            Ok(Ran { why, output: capture.kept(), cwd, shell, notes })
        })
    }

    fn run_script(&self, permit: Permit<Exec>, script: Script) -> BoxFuture<'_, Result<ScriptRan, EnvError>> {
        Box::pin(self.run_calling(permit, script))
    }

    fn jobs(&self) -> Option<&dyn Jobs> {
        Some(self)
    }
}

/// Takes what nobody wants to see.
struct Ignored;

impl Output for Ignored {
    fn take(&self, _: Stream, _: &[u8]) {}
}

fn name(file: Option<&TempFile>) -> String {
    file.map(|file| file.path().to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether a shell that goes to this directory calls it the same.
fn is_clean(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let same = path.components().collect::<PathBuf>().as_os_str() == path.as_os_str();
    same && text.starts_with('/') && !text.starts_with("//") && !text.split('/').any(|part| part == "..")
}

/// The directory, or the nearest one above it that is still there.
fn existing(path: &Path) -> PathBuf {
    path.ancestors().find(|path| probe::is_directory(path)).unwrap_or(Path::new("/")).to_path_buf()
}
