//! The environments, one file each. A file here is a backend; nothing else lists it.
//!
//! The settings type is the backend before it is opened; the opened one is another type. A backend of
//! this machine implements [`Environment`] itself; one that reaches another place says only how
//! ([`FarBackend`], [`Reach`]) and shares the rest with its like.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::environment::{EnvError, Environment, Output, Standing, Workplace};
use hermes_core::files::Files;
use hermes_core::host::Host;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::far::progress::Waiting;
use crate::far::{Far, FarSettings, Reach};
use crate::fence::Fence;
use crate::shelf::Shelf;
use crate::shell::variables::ChildVariables;

include!(concat!(env!("OUT_DIR"), "/backends.rs"));

gathered! {
    /// Every backend, sorted by name.
    pub(crate) static BACKENDS: [&BackendDef] = BACKEND;
}

/// The backend of that name.
pub fn find(name: &str) -> Option<&'static BackendDef> {
    BACKENDS.iter().copied().find(|backend| backend.name == name)
}

/// All backends, sorted by name.
pub fn all() -> impl Iterator<Item = &'static BackendDef> {
    BACKENDS.iter().copied()
}

/// The table entry of a backend: one `const` in its file.
#[derive(Clone, Copy)]
pub struct BackendDef {
    name: &'static str,
    keys: &'static [&'static [FlatKey]],
    needs: Needs,
    written: Option<Written>,
    kind: Kind,
}

/// Variables that must be set: all of one of these groups, or of none where there is no group.
type Needs = &'static [&'static [&'static str]];

/// Finds what a vendor's own program has written down, as variables; it is handed those of the person.
type Written = fn(&dyn Fn(&str) -> Option<String>) -> BTreeMap<String, String>;

#[derive(Clone, Copy)]
enum Kind {
    /// Starts things itself, on this machine.
    Near(OpenNear),
    /// Reaches another place.
    Far(OpenFar, fn(Value) -> Result<FarAbout, String>),
}

type OpenNear = fn(Value, Opening) -> BoxFuture<'static, Result<Arc<dyn Environment>, EnvError>>;
type OpenFar = fn(Value, Opening) -> Result<Arc<dyn Reach>, EnvError>;

/// A setting that the flat form of the `terminal` section, or a variable, can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlatKey {
    /// Its name in a section of its own.
    pub field: &'static str,
    /// Its name below `terminal`.
    pub key: &'static str,
    /// The variable that gives it.
    pub variable: &'static str,
}

/// A setting, the key below `terminal` and the variable that give it.
pub(crate) const fn flat(field: &'static str, key: &'static str, variable: &'static str) -> FlatKey {
    FlatKey { field, key, variable }
}

/// What every container and sandbox has: how large it is, whether it is kept, where sessions begin.
pub(crate) const SIZED: &[FlatKey] = &[
    flat("cpu", "container_cpu", "TERMINAL_CONTAINER_CPU"),
    flat("memory", "container_memory", "TERMINAL_CONTAINER_MEMORY"),
    flat("persistent", "container_persistent", "TERMINAL_CONTAINER_PERSISTENT"),
    flat("cwd", "cwd", "TERMINAL_CWD"),
];

/// How large its disk is.
pub(crate) const DISK: &[FlatKey] = &[flat("disk", "container_disk", "TERMINAL_CONTAINER_DISK")];

/// What a backend is opened with, beside its settings.
#[derive(Clone)]
pub struct Opening {
    /// Clock, timer and threads.
    pub host: Arc<dyn Host>,
    /// Which variables children get.
    pub variables: ChildVariables,
    /// A private folder of this machine that goes when we do.
    pub folder: Option<PathBuf>,
    /// What confines every command, where that is wanted.
    pub fence: Option<Arc<Fence>>,
    /// What only far places need.
    pub around: Surroundings,
}

/// What a far place is opened with.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// Its name in settings and effects.
    pub name: String,
    /// By which what is ours there is known again, by this home alone.
    pub owner: String,
    /// The profile of the home, for labels.
    pub profile: String,
    /// Folder of this machine for what outlives the place.
    pub sandbox: Option<PathBuf>,
    /// Files of this machine that it is given, below `.hermes` in the home there.
    pub shelf: Option<Shelf>,
    /// The directory the person works in, on this machine.
    pub cwd: Option<PathBuf>,
    /// Values of variables that are handed on by name.
    pub given: BTreeMap<String, String>,
    /// Told what takes a while, in lines: an image that is fetched.
    pub progress: Option<Arc<dyn Output>>,
}

/// What is known about a far place from its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarAbout {
    /// Where that is, in words: a host, an image.
    pub location: String,
    /// Whose it is.
    pub standing: Standing,
    /// Where sessions begin; `~` is the home there.
    pub cwd: String,
}

/// A far place, as those see it who work there.
pub struct FarPlace {
    /// Runs commands there.
    pub place: Arc<dyn Workplace>,
    /// Its files.
    pub files: Arc<dyn Files>,
}

/// Settings that can be opened.
trait Backend: DeserializeOwned + Send + 'static {
    type Env: Environment + 'static;

    fn open(self, with: Opening) -> impl Future<Output = Result<Self::Env, EnvError>> + Send;
}

/// Settings of a place that is reached. They are the backend before it is opened.
pub(crate) trait FarBackend: DeserializeOwned + Send + 'static {
    /// Gets ready to reach it, without reaching for it yet.
    fn open(self, with: Opening) -> Result<Arc<dyn Reach>, EnvError>;

    /// What the settings say about it.
    fn about(&self) -> FarAbout;

    /// What is wrong with the settings beyond their types.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

impl BackendDef {
    const fn of<B: Backend>(name: &'static str) -> Self {
        Self { name, keys: &[], needs: &[], written: None, kind: Kind::Near(open::<B>) }
    }

    /// A backend that reaches another place; `keys` are its settings in the flat form.
    pub(crate) const fn far<B: FarBackend>(name: &'static str, keys: &'static [&'static [FlatKey]]) -> Self {
        Self { name, keys, needs: &[], written: None, kind: Kind::Far(open_far::<B>, about_far::<B>) }
    }

    /// Variables may also be written down by the vendor's own program.
    pub(crate) const fn written(self, written: Written) -> Self {
        Self { written: Some(written), ..self }
    }

    /// The variables that the vendor's own program has written down; what the person has set wins.
    pub fn written_variables(&self, variable: &dyn Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
        let mut found = self.written.map(|written| written(variable)).unwrap_or_default();
        found.retain(|name, _| variable(name).is_none_or(|value| value.trim().is_empty()));
        found
    }

    /// It cannot be used without the variables of one of these groups.
    pub(crate) const fn needing(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    /// What is missing for it to be used, in words; nothing when all is there. `is_set` tells whether a
    /// variable holds something.
    pub fn missing(&self, is_set: impl Fn(&str) -> bool) -> Option<String> {
        let whole = |group: &&[&str]| group.iter().all(|name| is_set(name));
        if self.needs.is_empty() || self.needs.iter().any(whole) {
            return None;
        }
        let groups: Vec<String> = self.needs.iter().map(|group| group.join(" and ")).collect();
        Some(format!("it needs {} in .env", groups.join(", or ")))
    }

    /// Its name in settings and effects.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its settings in the flat form of the `terminal` section.
    pub fn keys(&self) -> impl Iterator<Item = &'static FlatKey> {
        self.keys.iter().copied().flatten()
    }

    /// Whether its files and processes are not this machine's.
    pub const fn is_far(&self) -> bool {
        matches!(self.kind, Kind::Far(..))
    }

    /// Opens it, without what all environments share.
    pub async fn open(&self, settings: Value, with: Opening) -> Result<Arc<dyn Environment>, EnvError> {
        match self.kind {
            Kind::Near(open) => open(settings, with).await,
            Kind::Far(..) => {
                let alone = FarSettings::alone(&with.around);
                Ok(self.far_place(settings, with, alone)? as Arc<dyn Environment>)
            }
        }
    }

    /// What a far place is according to these settings; what is wrong with them otherwise.
    pub fn about(&self, settings: &Value) -> Result<FarAbout, String> {
        match self.kind {
            Kind::Near(_) => Err("it is this machine".to_owned()),
            Kind::Far(_, about) => about(object(settings.clone())),
        }
    }

    /// A far place with everything around it; it is opened by the first command.
    pub fn place(&self, settings: Value, with: Opening, far: FarSettings) -> Result<FarPlace, EnvError> {
        let place = self.far_place(settings, with, far)?;
        Ok(FarPlace { files: Arc::clone(&place) as Arc<dyn Files>, place })
    }

    fn far_place(&self, settings: Value, with: Opening, far: FarSettings) -> Result<Arc<Far>, EnvError> {
        let Kind::Far(open, _) = self.kind else { return Err(EnvError::Unknown(self.name.to_owned())) };
        let (host, shelf) = (Arc::clone(&with.host), with.around.shelf.clone());
        let waiting = Arc::new(Waiting::default());
        let around = Surroundings { progress: Some(Arc::clone(&waiting) as Arc<_>), ..with.around };
        let reach = open(object(settings), Opening { around, ..with })?;
        Ok(Far::new(reach, far, host, shelf, waiting))
    }

    /// The settings that are wrong, one by one: which, and what is wrong with it.
    pub fn faults(&self, settings: &Value) -> Vec<(Option<String>, String)> {
        let Kind::Far(_, about) = self.kind else { return Vec::new() };
        let mut left = object(settings.clone());
        let mut faults = Vec::new();
        // One is taken out after the other until the rest is sound.
        while let Err(why) = about(left.clone()) {
            let Some(fields) = left.as_object() else { break };
            let without = |name: &String| {
                let mut rest = fields.clone();
                rest.remove(name);
                about(Value::Object(rest)).err() != Some(why.clone())
            };
            let Some(name) = fields.keys().find(|name| without(name)).cloned() else {
                faults.push((None, why));
                break;
            };
            faults.push((Some(name.clone()), why));
            if let Some(fields) = left.as_object_mut() {
                fields.remove(&name);
            }
        }
        faults
    }
}

fn object(settings: Value) -> Value {
    if settings.is_null() { Value::Object(serde_json::Map::new()) } else { settings }
}

fn read<B: DeserializeOwned>(settings: Value) -> Result<B, String> {
    serde_json::from_value(object(settings)).map_err(|wrong| wrong.to_string())
}

fn open<B: Backend>(
    settings: Value,
    with: Opening,
) -> BoxFuture<'static, Result<Arc<dyn Environment>, EnvError>> {
    Box::pin(async move {
        let backend: B =
            read(settings).map_err(|why| EnvError::Start { what: "the environment".to_owned(), why })?;
        Ok(Arc::new(backend.open(with).await?) as Arc<dyn Environment>)
    })
}

fn checked<B: FarBackend>(settings: Value) -> Result<B, String> {
    let backend: B = read(settings)?;
    backend.check().map(|()| backend)
}

fn open_far<B: FarBackend>(settings: Value, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
    let environment = with.around.name.clone();
    let backend: B = checked(settings).map_err(|why| EnvError::Settings { environment, why })?;
    backend.open(with)
}

fn about_far<B: FarBackend>(settings: Value) -> Result<FarAbout, String> {
    checked::<B>(settings).map(|backend| backend.about())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The variables of the original that shape a place, with the setting each gives.
    const VARIABLES: &[(&str, &[(&str, &str)])] = &[
        (
            "docker",
            &[
                ("TERMINAL_DOCKER_IMAGE", "image"),
                ("TERMINAL_DOCKER_FORWARD_ENV", "forward_env"),
                ("TERMINAL_DOCKER_VOLUMES", "volumes"),
                ("TERMINAL_DOCKER_EXTRA_ARGS", "extra_args"),
                ("TERMINAL_DOCKER_ENV", "env"),
                ("TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE", "mount_cwd"),
                ("TERMINAL_DOCKER_NETWORK", "network"),
                ("TERMINAL_DOCKER_RUN_AS_HOST_USER", "run_as_host_user"),
                ("TERMINAL_DOCKER_PERSIST_ACROSS_PROCESSES", "persist_across_processes"),
                ("TERMINAL_DOCKER_ORPHAN_REAPER", "orphan_reaper"),
                ("TERMINAL_CONTAINER_DISK", "disk"),
                ("TERMINAL_CONTAINER_PERSISTENT", "persistent"),
                ("HERMES_DOCKER_BINARY", "binary"),
            ],
        ),
        (
            "ssh",
            &[
                ("TERMINAL_SSH_HOST", "host"),
                ("TERMINAL_SSH_USER", "user"),
                ("TERMINAL_SSH_PORT", "port"),
                ("TERMINAL_SSH_KEY", "key"),
                ("TERMINAL_CWD", "cwd"),
            ],
        ),
        (
            "singularity",
            &[
                ("TERMINAL_SINGULARITY_IMAGE", "image"),
                ("TERMINAL_SCRATCH_DIR", "scratch_dir"),
                ("TERMINAL_DISK_WARNING_GB", "disk_warning_gb"),
                ("TERMINAL_CONTAINER_CPU", "cpu"),
                ("TERMINAL_CONTAINER_MEMORY", "memory"),
            ],
        ),
        ("modal", &[("TERMINAL_MODAL_MODE", "mode"), ("TERMINAL_MODAL_IMAGE", "image")]),
        ("daytona", &[("TERMINAL_DAYTONA_IMAGE", "image"), ("TERMINAL_CONTAINER_DISK", "disk")]),
        ("vercel_sandbox", &[("TERMINAL_VERCEL_RUNTIME", "runtime")]),
    ];

    #[test]
    fn the_variables_of_the_original_keep_their_meaning() {
        for (backend, variables) in VARIABLES {
            let keys: Vec<_> = find(backend).unwrap().keys().collect();
            for (variable, field) in *variables {
                let known = keys.iter().find(|key| key.variable == *variable);
                assert_eq!(known.map(|key| key.field), Some(*field), "{backend}: {variable}");
            }
        }
    }

    #[test]
    fn every_setting_in_the_flat_form_is_one_of_its_backend() {
        for backend in all().filter(|backend| backend.is_far()) {
            for key in backend.keys() {
                let odd = serde_json::json!({ key.field: { "no": ["such", "value"] } });
                // A setting that is not known says so; one that is known may complain of its value.
                let wrong = backend.about(&odd).err().unwrap_or_default();
                assert!(!wrong.contains("unknown field"), "{}.{}: {wrong}", backend.name(), key.field);
            }
        }
    }
}
