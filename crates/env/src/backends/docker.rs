//! `docker`: commands run in a container that lives as long as the work does.

use super::{BackendDef, DISK, FlatKey, SIZED, flat};
use crate::containers::{Containers, Docker};

pub(crate) const BACKEND: BackendDef = BackendDef::far::<Containers<Docker>>("docker", &[KEYS, SIZED, DISK]);

/// The settings in the flat form of the original; `podman` has the same.
pub(super) const KEYS: &[FlatKey] = &[
    flat("image", "docker_image", "TERMINAL_DOCKER_IMAGE"),
    flat("forward_env", "docker_forward_env", "TERMINAL_DOCKER_FORWARD_ENV"),
    flat("env", "docker_env", "TERMINAL_DOCKER_ENV"),
    flat("volumes", "docker_volumes", "TERMINAL_DOCKER_VOLUMES"),
    flat("engine_paths", "docker_engine_paths", "TERMINAL_DOCKER_ENGINE_PATHS"),
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
];
