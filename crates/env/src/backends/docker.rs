//! `docker`: commands run in a container that lives as long as the work does.

use serde::Deserialize;

use super::{BackendDef, FarAbout, FarBackend, FlatKey, Opening};
use crate::containers::{ContainerSettings, Engine};
use crate::far::Reach;
use hermes_core::environment::EnvError;
use std::sync::Arc;

pub(crate) const BACKEND: BackendDef = BackendDef::far::<Docker>("docker", KEYS);

/// The settings in the flat form of the original; `podman` has the same.
pub(super) const KEYS: &[FlatKey] = &[
    flat("image", "docker_image", "TERMINAL_DOCKER_IMAGE"),
    flat("forward_env", "docker_forward_env", "TERMINAL_DOCKER_FORWARD_ENV"),
    flat("env", "docker_env", "TERMINAL_DOCKER_ENV"),
    flat("volumes", "docker_volumes", "TERMINAL_DOCKER_VOLUMES"),
    flat("extra_args", "docker_extra_args", "TERMINAL_DOCKER_EXTRA_ARGS"),
    flat("mount_cwd", "docker_mount_cwd_to_workspace", "TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE"),
    flat("network", "docker_network", "TERMINAL_DOCKER_NETWORK"),
    flat("run_as_host_user", "docker_run_as_host_user", "TERMINAL_DOCKER_RUN_AS_HOST_USER"),
    flat(
        "persist_across_processes",
        "docker_persist_across_processes",
        "TERMINAL_DOCKER_PERSIST_ACROSS_PROCESSES",
    ),
    flat("orphan_reaper", "docker_orphan_reaper", "TERMINAL_DOCKER_ORPHAN_REAPER"),
    flat("binary", "docker_binary", "HERMES_DOCKER_BINARY"),
    flat("cpu", "container_cpu", "TERMINAL_CONTAINER_CPU"),
    flat("memory", "container_memory", "TERMINAL_CONTAINER_MEMORY"),
    flat("disk", "container_disk", "TERMINAL_CONTAINER_DISK"),
    flat("persistent", "container_persistent", "TERMINAL_CONTAINER_PERSISTENT"),
    flat("cwd", "cwd", "TERMINAL_CWD"),
];

const fn flat(field: &'static str, key: &'static str, variable: &'static str) -> FlatKey {
    FlatKey { field, key, variable }
}

/// An environment with `backend: docker`.
#[derive(Deserialize)]
#[serde(transparent)]
struct Docker(ContainerSettings);

impl FarBackend for Docker {
    fn open(self, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
        self.0.open(Engine::Docker, with)
    }

    fn about(&self) -> FarAbout {
        self.0.about(Engine::Docker)
    }

    fn check(&self) -> Result<(), String> {
        self.0.check()
    }
}
