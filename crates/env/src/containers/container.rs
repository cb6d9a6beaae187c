//! The one container of a place: found again, made, started, let go of.
//!
//! It is known by its labels: ours, this home's, and the place's. Nothing without them is touched.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::{EnvError, Process, Streams};

use crate::backends::{Opening, Surroundings};
use crate::containers::Engine;
use crate::containers::arguments::{Making, run};
use crate::containers::engine::{advice, client, refuses_init, refuses_limits};
use crate::containers::kept;
use crate::containers::pulling::Pulling;
use crate::containers::settings::ContainerSettings;
use crate::far::client::{Client, Clients, Said};
use crate::far::settings::variables;
use crate::far::{Call, Close, Reach, Ready};
use crate::jobs::own_process;
use crate::process::secret_word;

/// How long the engine may take to answer, to start a container, to fetch an image.
const ANSWER: Duration = Duration::from_secs(30);
const START: Duration = Duration::from_mins(2);
const PULL: Duration = Duration::from_mins(30);

/// Labels: whose it is, which home, which place, who made it, whether it stays when that one ends, and
/// what it was made of.
const OURS: &str = "hermes-agent";
const OWNER: &str = "hermes-owner";
const TASK: &str = "hermes-task-id";
const PROFILE: &str = "hermes-profile";
const MAKER: &str = "hermes-made-by";
const STAYS: &str = "hermes-stays";
const RECIPE: &str = "hermes-recipe";

/// Where the container of a place is, and how it is reached.
pub(super) struct Container {
    settings: ContainerSettings,
    engine: Engine,
    around: Surroundings,
    program: PathBuf,
    clients: Clients,
    /// Its id, once it is known.
    id: Mutex<Option<String>>,
    /// Whether what earlier runs left has been looked for.
    swept: Mutex<bool>,
    /// Whether the engine sees files of another machine, so that none of this one's can be mounted.
    sees_others: AtomicBool,
}

impl Container {
    pub(super) fn new(settings: ContainerSettings, engine: Engine, with: Opening) -> Result<Self, EnvError> {
        let variables = with.variables.allowed();
        let program = engine.find(&with.around.name, settings.binary.as_deref(), &variables)?;
        let clients = Clients::new(with.host, variables);
        let (id, swept, sees_others) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        Ok(Self { settings, engine, around: with.around, program, clients, id, swept, sees_others })
    }

    async fn ask(&self, words: &[&str], limit: Duration) -> Result<Said, EnvError> {
        self.clients.ask(&client(&self.program, words.iter().copied()), limit, None).await
    }

    fn known(&self) -> Option<String> {
        self.id.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, id: Option<String>) {
        *self.id.lock().unwrap_or_else(PoisonError::into_inner) = id;
    }

    fn wrong(&self, complaint: &str) -> EnvError {
        let why = match advice(complaint) {
            Some(advice) => format!("{complaint} ({advice})"),
            None => complaint.to_owned(),
        };
        EnvError::Unreachable { environment: self.around.name.clone(), why }
    }

    /// Finds the container by its labels, running ones first; one that was made otherwise than it would
    /// be now is not the one. One that mounts nothing will do: it was found out that it cannot.
    async fn find(&self) -> Result<Option<(String, bool)>, EnvError> {
        let recipes = [self.recipe(self.mounts()), self.recipe(false)];
        let [ours, owner, task] = [
            format!("label={OURS}=1"),
            format!("label={OWNER}={}", self.around.owner),
            format!("label={TASK}={}", self.around.name),
        ];
        let words =
            ["ps", "-a", "--no-trunc", "--filter", &ours, "--filter", &owner, "--filter", &task, "--format"];
        let format = format!("{{{{.ID}}}}\t{{{{.State}}}}\t{}", self.label(RECIPE));
        let said = self.ask(&[words.as_slice(), &[&format]].concat(), ANSWER).await?;
        if !said.is_well() {
            return Err(self.wrong(&said.complaint()));
        }
        let mut found = None;
        for line in said.text().lines() {
            let mut parts = line.split('\t');
            let (Some(id), Some(state)) = (parts.next(), parts.next()) else { continue };
            let running = state.eq_ignore_ascii_case("running");
            let recipe = parts.next().filter(|recipe| recipes.iter().any(|known| known == recipe));
            if recipe.is_none() || state.eq_ignore_ascii_case("dead") {
                self.ask(&["rm", "-f", id], START).await?;
            } else if found.is_none() || running {
                found = Some((id.to_owned(), running));
            }
        }
        Ok(found)
    }

    /// Whether the client speaks podman's dialect.
    fn is_podman(&self) -> bool {
        self.engine == Engine::Podman || self.program.ends_with("podman")
    }

    /// How a list shows a label.
    fn label(&self, name: &str) -> String {
        if self.is_podman() {
            format!("{{{{index .Labels \"{name}\"}}}}")
        } else {
            format!("{{{{.Label \"{name}\"}}}}")
        }
    }

    /// Says in one word what a container is made of; a change of settings makes another.
    fn recipe(&self, mounts: bool) -> String {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        let Surroundings { cwd, sandbox, shelf, .. } = &self.around;
        let cwd = cwd.as_ref().filter(|_| self.settings.mount_cwd);
        let mirror = shelf.as_ref().filter(|_| mounts).map(|shelf| &shelf.mirror);
        format!("{:?}{cwd:?}{sandbox:?}{mirror:?}", self.settings).hash(&mut hasher);
        self.variables().hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    fn variables(&self) -> BTreeMap<String, String> {
        variables(&self.settings.forward_env, &self.settings.env, &self.around)
    }

    async fn has_image(&self) -> Result<Option<bool>, EnvError> {
        let format = "{{json .Config.Entrypoint}}";
        let said = self.ask(&["image", "inspect", "--format", format, &self.settings.image], ANSWER).await?;
        if said.is_well() {
            return Ok(Some(said.text().contains("\"/init\"")));
        }
        let complaint = said.complaint();
        let missing = ["No such image", "image not known", "no such image", "failed to find image"];
        if missing.iter().any(|words| complaint.contains(words)) {
            return Ok(None);
        }
        Err(self.wrong(&complaint))
    }

    /// Fetches the image; what the engine says meanwhile is passed on.
    async fn pull(&self) -> Result<(), EnvError> {
        let words = client(&self.program, ["pull", self.settings.image.as_str()]);
        let tell = self.around.progress.clone().map(|tell| Pulling::begin(&self.settings.image, tell));
        let said = self.clients.ask(&words, PULL, tell).await?;
        if said.is_well() {
            return Ok(());
        }
        Err(self.wrong(&format!("image {} cannot be fetched: {}", self.settings.image, said.complaint())))
    }

    /// Makes the container. What the engine cannot limit is left unlimited, with a note.
    async fn make(&self) -> Result<(String, Vec<String>), EnvError> {
        let own_init = if let Some(own_init) = self.has_image().await? {
            own_init
        } else {
            self.pull().await?;
            self.has_image().await?.unwrap_or_default()
        };
        let folder = self.kept()?;
        let mut notes = Vec::new();
        let mut init = true;
        let (mut limits, mut disk) = (true, self.settings.disk > 0 && self.settings.disk != 51_200);
        loop {
            let name = format!("hermes-{}", secret_word().get(..8).unwrap_or_default());
            let labels = self.labels(&self.recipe(self.mounts()));
            let making = Making {
                engine: self.engine,
                name: &name,
                labels: &labels,
                kept: folder.as_deref(),
                cwd: self.around.cwd.as_deref(),
                mirror: self.around.shelf.as_ref().filter(|_| self.mounts()).map(|it| it.mirror.as_path()),
                variables: self.variables(),
                user: self.settings.run_as_host_user.then(own_user),
                own_init,
                init,
                limits,
                disk,
            };
            let words = Client { program: self.program.clone(), arguments: run(&self.settings, &making) };
            let said = self.clients.ask(&words, START, None).await;
            match said {
                Ok(said) if said.is_well() => {
                    let text = said.text();
                    let id = text.lines().last().unwrap_or_default().trim().to_owned();
                    return Ok((id, notes));
                }
                // What is half made goes, whatever is wrong.
                said => {
                    self.ask(&["rm", "-f", &name], START).await?;
                    let complaint = said?.complaint();
                    if init && refuses_init(&complaint) {
                        init = false;
                    } else if disk
                        && (complaint.contains("storage-opt")
                            || complaint.contains("storage opt")
                            || complaint.contains("pquota"))
                    {
                        disk = false;
                        notes.push(
                            "this engine cannot limit the disk of a container; it has no limit".to_owned(),
                        );
                    } else if limits && refuses_limits(&complaint) {
                        limits = false;
                        notes.push(
                            "this engine cannot limit processors, memory or processes; there is no limit"
                                .to_owned(),
                        );
                    } else {
                        return Err(self.wrong(&complaint));
                    }
                }
            }
        }
    }

    fn labels(&self, recipe: &str) -> Vec<(&'static str, String)> {
        vec![
            (OURS, "1".to_owned()),
            (OWNER, self.around.owner.clone()),
            (TASK, self.around.name.clone()),
            (PROFILE, self.around.profile.clone()),
            (MAKER, own_process()),
            (STAYS, if self.settings.persist_across_processes { "1" } else { "0" }.to_owned()),
            (RECIPE, recipe.to_owned()),
        ]
    }

    /// The folder of what outlives the container, made if it is wanted.
    fn kept(&self) -> Result<Option<PathBuf>, EnvError> {
        let Some(sandbox) = self.around.sandbox.as_ref().filter(|_| self.settings.persistent) else {
            return Ok(None);
        };
        let folder = sandbox.join(self.engine.name()).join(&self.around.name);
        for part in ["home", "workspace"] {
            kept::make(&folder.join(part)).map_err(|why| EnvError::Files {
                doing: format!("cannot make {}", folder.join(part).display()),
                why: why.to_string(),
            })?;
        }
        Ok(Some(folder))
    }

    /// Removes what runs of this home that are gone have left, once.
    async fn sweep(&self) {
        {
            let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
            if std::mem::replace(&mut *swept, true) || !self.settings.orphan_reaper {
                return;
            }
        }
        let [ours, owner, gone] = [
            format!("label={OURS}=1"),
            format!("label={OWNER}={}", self.around.owner),
            format!("label={STAYS}=0"),
        ];
        let label = format!("{{{{.ID}}}}\t{}", self.label(MAKER));
        let words =
            ["ps", "-a", "--filter", &ours, "--filter", &owner, "--filter", &gone, "--format", &label];
        let Ok(said) = self.ask(&words, ANSWER).await else { return };
        for line in said.text().lines() {
            let Some((id, maker)) = line.split_once('\t') else { continue };
            if !crate::jobs::still_runs(maker) {
                // What cannot be removed now is found again next time.
                let _ = self.ask(&["rm", "-f", id], START).await;
            }
        }
    }

    async fn readied(&self) -> Result<Ready, EnvError> {
        self.sweep().await;
        let mut notes = Vec::new();
        let id = match self.find().await? {
            Some((id, true)) => id,
            Some((id, false)) => {
                let said = self.ask(&["start", &id], START).await?;
                if said.is_well() {
                    id
                } else {
                    // One that does not start any more is of no use to anybody.
                    self.ask(&["rm", "-f", &id], START).await?;
                    let (id, told) = self.make().await?;
                    notes = told;
                    id
                }
            }
            None => {
                let (id, told) = self.make().await?;
                notes = told;
                id
            }
        };
        let started = self.ask(&["inspect", "--format", "{{.State.StartedAt}}", &id], ANSWER).await?;
        let identity = format!("{id} {}", started.text());
        self.remember(Some(id));
        Ok(Ready { identity, notes })
    }

    fn exec(&self, call: &Call, id: &str) -> Client {
        let mut words = vec!["exec".to_owned(), "-i".to_owned()];
        if matches!(call.streams, Streams::Terminal(_)) {
            words.extend(["-t".to_owned(), "-e".to_owned(), "TERM=xterm-256color".to_owned()]);
        }
        words.push(id.to_owned());
        words.extend(call.words.iter().cloned());
        Client { program: self.program.clone(), arguments: words }
    }
}

impl Reach for Container {
    fn ready(&self) -> BoxFuture<'_, Result<Ready, EnvError>> {
        Box::pin(self.readied())
    }

    fn start(&self, call: Call) -> BoxFuture<'_, Result<Box<dyn Process>, EnvError>> {
        Box::pin(async move {
            let id = self.known().ok_or_else(|| self.wrong("the container is not ready"))?;
            self.clients.start(&self.exec(&call, &id), call)
        })
    }

    fn close(&self, how: Close) -> BoxFuture<'_, Result<(), EnvError>> {
        Box::pin(async move {
            let Some(id) = (match how {
                Close::Remove => match self.known() {
                    Some(id) => Some(id),
                    None => self.find().await?.map(|(id, _)| id),
                },
                _ => self.known(),
            }) else {
                return Ok(());
            };
            let said = match how {
                Close::Leave if self.settings.persist_across_processes => return Ok(()),
                Close::Idle if self.settings.persist_across_processes => {
                    self.ask(&["stop", "-t", "2", &id], START).await?
                }
                Close::Idle | Close::Leave | Close::Remove => {
                    self.remember(None);
                    self.ask(&["rm", "-f", &id], START).await?
                }
            };
            if how == Close::Remove
                && let Some(folder) = self.kept()?
            {
                // Files of the container's root are not ours to remove where we are not root.
                let _ = kept::remove(&folder);
            }
            if said.is_well() { Ok(()) } else { Err(self.wrong(&said.complaint())) }
        })
    }

    fn mounts(&self) -> bool {
        self.around.shelf.is_some() && !self.sees_others.load(Ordering::Relaxed)
    }

    fn mount_nothing(&self) {
        self.sees_others.store(true, Ordering::Relaxed);
    }

    fn shell(&self) -> Option<Vec<OsString>> {
        let id = self.known()?;
        let shell = "if command -v bash >/dev/null 2>&1; then exec bash -l; else exec sh -l; fi";
        let words = ["exec", "-it", "-w", &self.settings.cwd(), &id, "sh", "-c", shell].map(OsString::from);
        Some(std::iter::once(self.program.clone().into_os_string()).chain(words).collect())
    }
}

fn own_user() -> (u32, u32) {
    (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw())
}
