//! The one container of a place: found again, made, started, let go of.
//!
//! It is known by its labels: ours, this home's, and the place's. Nothing without them is touched.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::{EnvError, Process, Streams};

use crate::backends::{Opening, Surroundings};
use crate::containers::Engine;
use crate::containers::engine::{advice, client};
use crate::containers::paths::Paths;
use crate::containers::settings::ContainerSettings;
use crate::far::client::{Client, Clients, Said};
use crate::far::settings::variables;
use crate::far::{Call, Claims, Close, Reach, Ready};
use crate::jobs::own_process;

/// How long the engine may take to answer, to start a container.
pub(super) const ANSWER: Duration = Duration::from_secs(30);
pub(super) const START: Duration = Duration::from_mins(2);

/// Labels: whose it is, which home, which place, who made it and on which machine, whether it stays when that one ends, and
/// what it was made of.
pub(super) const OURS: &str = "hermes-agent";
pub(super) const OWNER: &str = "hermes-owner";
pub(super) const TASK: &str = "hermes-task-id";
pub(super) const PROFILE: &str = "hermes-profile";
pub(super) const MAKER: &str = "hermes-made-by";
pub(super) const MACHINE: &str = "hermes-machine";
pub(super) const STAYS: &str = "hermes-stays";
pub(super) const RECIPE: &str = "hermes-recipe";

/// Where the container of a place is, and how it is reached.
pub(super) struct Container {
    pub(super) settings: ContainerSettings,
    pub(super) engine: Engine,
    pub(super) around: Surroundings,
    pub(super) program: PathBuf,
    pub(super) clients: Clients,
    /// Its id, once it is known.
    id: Mutex<Option<String>>,
    /// Whether what earlier runs left has been looked for.
    swept: Mutex<bool>,
    /// Whether the engine sees files of another machine, so that none of this one's can be mounted.
    sees_others: AtomicBool,
    /// By which paths it knows folders of ours, once that was asked.
    pub(super) paths: OnceLock<Paths>,
}

impl Container {
    pub(super) fn new(settings: ContainerSettings, engine: Engine, with: Opening) -> Result<Self, EnvError> {
        let variables = with.variables.allowed();
        let program = engine.find(&with.around.name, settings.binary.as_deref(), &variables)?;
        let clients = Clients::new(with.host, variables);
        let (id, swept, sees_others) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        let (around, paths) = (with.around, OnceLock::new());
        Ok(Self { settings, engine, around, program, clients, id, swept, sees_others, paths })
    }

    pub(super) async fn ask(&self, words: &[&str], limit: Duration) -> Result<Said, EnvError> {
        self.clients.ask(&client(&self.program, words.iter().copied()), limit, None).await
    }

    pub(super) fn sees_others(&self) -> bool {
        self.sees_others.load(Ordering::Relaxed)
    }

    fn known(&self) -> Option<String> {
        self.id.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, id: Option<String>) {
        *self.id.lock().unwrap_or_else(PoisonError::into_inner) = id;
    }

    pub(super) fn wrong(&self, complaint: &str) -> EnvError {
        let why = match advice(complaint) {
            Some(advice) => format!("{complaint} ({advice})"),
            None => complaint.to_owned(),
        };
        EnvError::Unreachable { environment: self.around.name.clone(), why }
    }

    /// Finds the container by its labels, running ones first; one that was made otherwise than it would
    /// be now is not the one, and goes unless somebody uses it. One that mounts nothing will do: it was
    /// found out that it cannot.
    async fn find(&self) -> Result<Option<(String, bool)>, EnvError> {
        let recipes = self.recipes();
        let [ours, owner, task] = [
            format!("label={OURS}=1"),
            format!("label={OWNER}={}", self.around.owner),
            format!("label={TASK}={}", self.around.name),
        ];
        let words =
            ["ps", "-a", "--no-trunc", "--filter", &ours, "--filter", &owner, "--filter", &task, "--format"];
        let labels = [RECIPE, STAYS, MAKER].map(|label| self.label(label)).join("\t");
        let format = format!("{{{{.ID}}}}\t{{{{.State}}}}\t{labels}");
        let said = self.ask(&[words.as_slice(), &[&format]].concat(), ANSWER).await?;
        if !said.is_well() {
            return Err(self.wrong(&said.complaint()));
        }
        let mut found = None;
        for line in said.text().lines() {
            let [id, state, recipe, stays, maker] = five(line);
            // One that goes with whoever made it is theirs alone.
            if stays != "1" && maker != own_process() {
                continue;
            }
            let running = runs(state);
            if recipes.iter().any(|known| known == recipe) && !state.eq_ignore_ascii_case("dead") {
                if found.is_none() || running {
                    found = Some((id.to_owned(), running));
                }
            } else if !self.others_use(recipe) {
                self.ask(&["rm", "-f", id], START).await?;
            }
        }
        Ok(found)
    }

    /// What a container may be made of to be this place's.
    fn recipes(&self) -> [String; 2] {
        [self.recipe(self.mounts()), self.recipe(false)]
    }

    /// Whether another program of this home uses the place as it made it, by other settings than ours.
    fn others_use(&self, recipe: &str) -> bool {
        self.claims().is_some_and(|claims| claims.is_taken(&self.thing(recipe)))
    }

    /// By what the place is known to other programs of this home.
    fn place(&self) -> String {
        let name = BuildHasherDefault::<DefaultHasher>::default().hash_one(&self.around.name);
        format!("{}-{name:016x}", self.engine.name())
    }

    fn thing(&self, recipe: &str) -> String {
        format!("{}-{recipe}", self.place())
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
    pub(super) fn recipe(&self, mounts: bool) -> String {
        let mut hasher = DefaultHasher::new();
        let Surroundings { cwd, sandbox, shelf, .. } = &self.around;
        let cwd = cwd.as_ref().filter(|_| self.settings.mount_cwd);
        let mirror = shelf.as_ref().filter(|_| mounts).map(|shelf| &shelf.mirror);
        format!("{:?}{cwd:?}{sandbox:?}{mirror:?}", self.settings).hash(&mut hasher);
        self.variables().hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    pub(super) fn variables(&self) -> BTreeMap<String, String> {
        variables(&self.settings.forward_env, &self.settings.env, &self.around)
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
        let label = format!("{{{{.ID}}}}\t{}\t{}", self.label(MAKER), self.label(MACHINE));
        let words =
            ["ps", "-a", "--filter", &ours, "--filter", &owner, "--filter", &gone, "--format", &label];
        let Ok(said) = self.ask(&words, ANSWER).await else { return };
        for line in said.text().lines() {
            let mut parts = line.split('\t');
            let (Some(id), Some(maker)) = (parts.next(), parts.next()) else { continue };
            if self.is_gone(maker, parts.next().unwrap_or_default()).await {
                // What cannot be removed now is found again next time.
                let _ = self.ask(&["rm", "-f", id], START).await;
            }
        }
    }

    /// Whether whoever made a container is gone. An engine is used from several machines, whose processes
    /// we do not see; of a machine that is a container of the engine's own, the engine can tell.
    async fn is_gone(&self, maker: &str, machine: &str) -> bool {
        // Earlier versions did not write it down.
        if machine.is_empty() || machine == own_machine() {
            return !crate::jobs::still_runs(maker);
        }
        let numbered = machine.len() == 12 && machine.bytes().all(|byte| byte.is_ascii_hexdigit());
        let asked = ["inspect", "--type", "container", "--format", "{{.State.Running}}", machine];
        numbered
            && self.ask(&asked, ANSWER).await.is_ok_and(|said| {
                said.text() == "false" || said.complaint().to_lowercase().contains("no such container")
            })
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
                Close::Others => {
                    self.remember(None);
                    return Ok(());
                }
                Close::Leave if self.settings.persist_across_processes => return Ok(()),
                Close::Idle if self.settings.persist_across_processes => {
                    self.ask(&["stop", "-t", "2", &id], START).await?
                }
                Close::Idle | Close::Leave | Close::Remove => {
                    self.remember(None);
                    self.ask(&["rm", "-f", &id], START).await?
                }
            };
            if how == Close::Remove {
                self.discard_kept().await;
            }
            if said.is_well() { Ok(()) } else { Err(self.wrong(&said.complaint())) }
        })
    }

    fn claims(&self) -> Option<Claims> {
        // Other settings of the same place may be those of a container that stays.
        let things = if self.settings.persist_across_processes {
            self.recipes().map(|recipe| self.thing(&recipe)).to_vec()
        } else {
            Vec::new()
        };
        Claims::new(&self.around, &self.place(), things)
    }

    fn mounts(&self) -> bool {
        self.around.shelf.is_some() && !self.sees_others()
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

/// Whether a container runs, by its state in a list: some versions of podman tell since when instead.
fn runs(state: &str) -> bool {
    let state = state.to_ascii_lowercase();
    state == "running" || state.starts_with("up ")
}

/// The fields of a line; those that are not there are empty.
fn five(line: &str) -> [&str; 5] {
    let mut parts = line.split('\t');
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// The name of this machine.
pub(super) fn own_machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_that_runs_is_known_in_the_words_of_every_engine() {
        assert!(["running", "Running", "Up 18 minutes ago"].into_iter().all(runs));
        assert!(!["exited", "Exited (137) 2 minutes ago", "created", "paused", ""].into_iter().any(runs));
    }
}
