//! `singularity`: commands run in an instance of Apptainer or Singularity, which needs no daemon and no
//! rights: the way onto clusters.

use std::sync::Arc;

use hermes_core::environment::EnvError;
use serde::Deserialize;

use super::{BackendDef, FarAbout, FarBackend, FlatKey, Opening};
use crate::apptainer::{ApptainerSettings, Instance};
use crate::far::Reach;

pub(crate) const BACKEND: BackendDef = BackendDef::far::<Singularity>("singularity", KEYS);

/// The settings in the flat form of the original.
const KEYS: &[FlatKey] = &[
    flat("image", "singularity_image", "TERMINAL_SINGULARITY_IMAGE"),
    flat("volumes", "singularity_volumes", "TERMINAL_SINGULARITY_VOLUMES"),
    flat("env", "singularity_env", "TERMINAL_SINGULARITY_ENV"),
    flat("forward_env", "singularity_forward_env", "TERMINAL_SINGULARITY_FORWARD_ENV"),
    flat("extra_args", "singularity_extra_args", "TERMINAL_SINGULARITY_EXTRA_ARGS"),
    flat("mount_cwd", "singularity_mount_cwd_to_workspace", "TERMINAL_SINGULARITY_MOUNT_CWD_TO_WORKSPACE"),
    flat("network", "singularity_network", "TERMINAL_SINGULARITY_NETWORK"),
    flat(
        "persist_across_processes",
        "singularity_persist_across_processes",
        "TERMINAL_SINGULARITY_PERSIST_ACROSS_PROCESSES",
    ),
    flat("binary", "singularity_binary", "HERMES_SINGULARITY_BINARY"),
    flat("scratch_dir", "scratch_dir", "TERMINAL_SCRATCH_DIR"),
    flat("cpu", "container_cpu", "TERMINAL_CONTAINER_CPU"),
    flat("memory", "container_memory", "TERMINAL_CONTAINER_MEMORY"),
    flat("persistent", "container_persistent", "TERMINAL_CONTAINER_PERSISTENT"),
    flat("cwd", "cwd", "TERMINAL_CWD"),
];

const fn flat(field: &'static str, key: &'static str, variable: &'static str) -> FlatKey {
    FlatKey { field, key, variable }
}

/// An environment with `backend: singularity`.
#[derive(Deserialize)]
#[serde(transparent)]
struct Singularity(ApptainerSettings);

impl FarBackend for Singularity {
    fn open(self, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
        Ok(Arc::new(Instance::new(self.0, with)?))
    }

    fn about(&self) -> FarAbout {
        self.0.about()
    }

    fn check(&self) -> Result<(), String> {
        self.0.check()
    }
}
