//! What can be set about a container, and what follows from it.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use hermes_core::environment::{EnvError, Standing};
use serde::Deserialize;

use crate::backends::{FarAbout, FarBackend, Opening};
use crate::containers::Engine;
use crate::containers::container::Container;
use crate::far::Reach;
use crate::far::settings::{IMAGE, check_cpu, check_variables, cwd};

/// An environment that is a container.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub(crate) struct ContainerSettings {
    /// What it is made from.
    pub(super) image: String,
    /// Names of variables whose values here are handed on.
    pub(super) forward_env: Vec<String>,
    /// Variables it gets.
    pub(super) env: BTreeMap<String, String>,
    /// Folders and volumes it gets, as `source:target[:options]`.
    pub(super) volumes: Vec<String>,
    /// What the engine calls folders of ours, where it sees them under other paths.
    pub(super) engine_paths: BTreeMap<String, String>,
    /// More words for the engine's `run`.
    pub(super) extra_args: Vec<String>,
    /// Whether the directory the person works in is its `/workspace`.
    pub(super) mount_cwd: bool,
    /// Whether it reaches the network.
    pub(super) network: bool,
    /// Whether commands run with the user's and group's number of the person.
    pub(super) run_as_host_user: bool,
    /// Whether it goes on running when we end, and is found again.
    pub(super) persist_across_processes: bool,
    /// Whether what a crash left is removed at the start.
    pub(super) orphan_reaper: bool,
    /// The engine's client, where it is not on the search path.
    pub(super) binary: Option<String>,
    /// Processors; 0 is as many as there are.
    pub(super) cpu: f64,
    /// Memory in megabytes; 0 is as much as there is.
    pub(super) memory: u64,
    /// Disk in megabytes; 0 is as much as there is.
    pub(super) disk: u64,
    /// Processes at once; 0 is as many as may.
    pub(super) pids: u32,
    /// Whether `/root` and `/workspace` outlive it.
    pub(super) persistent: bool,
    /// Where sessions begin.
    pub(super) cwd: Option<String>,
}

impl Default for ContainerSettings {
    fn default() -> Self {
        Self {
            image: IMAGE.to_owned(),
            forward_env: Vec::new(),
            env: BTreeMap::new(),
            volumes: Vec::new(),
            engine_paths: BTreeMap::new(),
            extra_args: Vec::new(),
            mount_cwd: false,
            network: true,
            run_as_host_user: false,
            persist_across_processes: true,
            orphan_reaper: true,
            binary: None,
            cpu: 1.0,
            memory: 5120,
            disk: 51_200,
            pids: 256,
            persistent: true,
            cwd: None,
        }
    }
}

/// An engine, as a type.
pub(crate) trait Runs: Send + 'static {
    const ENGINE: Engine;
}

/// Containers of docker.
pub(crate) struct Docker;

/// Containers of podman.
pub(crate) struct Podman;

impl Runs for Docker {
    const ENGINE: Engine = Engine::Docker;
}

impl Runs for Podman {
    const ENGINE: Engine = Engine::Podman;
}

/// Settings of a container of that engine.
#[derive(Deserialize)]
#[serde(transparent, bound = "")]
pub(crate) struct Containers<E> {
    settings: ContainerSettings,
    #[serde(skip)]
    engine: PhantomData<E>,
}

impl<E: Runs> FarBackend for Containers<E> {
    fn open(self, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
        Ok(Arc::new(Container::new(self.settings, E::ENGINE, with)?))
    }

    fn about(&self) -> FarAbout {
        FarAbout {
            location: format!("{} container of {}", E::ENGINE.name(), self.settings.image),
            standing: self.settings.standing(),
            cwd: self.settings.cwd(),
        }
    }

    fn check(&self) -> Result<(), String> {
        self.settings.check()
    }
}

impl ContainerSettings {
    fn check(&self) -> Result<(), String> {
        if self.image.trim().is_empty() || self.image.starts_with('-') {
            return Err("image: it must name an image".to_owned());
        }
        if let Some(volume) = self.volumes.iter().find(|volume| !volume.contains(':')) {
            return Err(format!("volumes: `{volume}` is not `source:target`"));
        }
        let whole = |path: &&String| !path.starts_with('/');
        if let Some(path) = self.engine_paths.iter().flat_map(|(here, there)| [here, there]).find(whole) {
            return Err(format!("engine_paths: `{path}` does not begin with `/`"));
        }
        check_variables(&self.forward_env, &self.env)?;
        check_cpu(self.cpu)
    }

    /// Where sessions begin there.
    pub(super) fn cwd(&self) -> String {
        cwd(self.cwd.as_ref(), "/workspace")
    }

    /// Whether anything of the person's can be reached from inside.
    fn standing(&self) -> Standing {
        let closed = self.volumes.is_empty()
            && self.extra_args.is_empty()
            && self.forward_env.is_empty()
            && !self.mount_cwd;
        if closed { Standing::Disposable } else { Standing::Shared }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ContainerSettings {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_container_is_disposable_until_something_of_the_persons_is_in_it() {
        assert_eq!(read("{}").standing(), Standing::Disposable);
        for shared in [
            r#"{"volumes": ["/data:/data"]}"#,
            r#"{"mount_cwd": true}"#,
            r#"{"forward_env": ["TOKEN"]}"#,
            r#"{"extra_args": ["--network", "host"]}"#,
        ] {
            assert_eq!(read(shared).standing(), Standing::Shared, "{shared}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        assert!(read(r#"{"volumes": ["data"]}"#).check().unwrap_err().contains("`data`"));
        assert!(read(r#"{"forward_env": ["A B"]}"#).check().is_err());
        assert!(read(r#"{"engine_paths": {"work": "/w"}}"#).check().unwrap_err().contains("`work`"));
        assert_eq!(read(r#"{"engine_paths": {"/work": "/w"}}"#).check(), Ok(()));
        assert!(serde_json::from_str::<ContainerSettings>(r#"{"imge": "x"}"#).is_err());
    }
}
