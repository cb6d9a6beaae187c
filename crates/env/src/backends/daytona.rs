//! `daytona`: commands run in a sandbox of Daytona.

use std::sync::Arc;

use hermes_core::environment::EnvError;
use serde::Deserialize;

use super::{BackendDef, FarAbout, FarBackend, FlatKey, Opening};
use crate::clouds::daytona::{DaytonaSettings, open};
use crate::far::Reach;

pub(crate) const BACKEND: BackendDef = BackendDef::far::<Daytona>("daytona", KEYS)
    .needing(&[&["DAYTONA_API_KEY"], &["DAYTONA_JWT_TOKEN", "DAYTONA_ORGANIZATION_ID"]]);

/// The settings in the flat form of the original, and ours beside them.
const KEYS: &[FlatKey] = &[
    flat("image", "daytona_image", "TERMINAL_DAYTONA_IMAGE"),
    flat("snapshot", "daytona_snapshot", "TERMINAL_DAYTONA_SNAPSHOT"),
    flat("forward_env", "daytona_forward_env", "TERMINAL_DAYTONA_FORWARD_ENV"),
    flat("env", "daytona_env", "TERMINAL_DAYTONA_ENV"),
    flat("network", "daytona_network", "TERMINAL_DAYTONA_NETWORK"),
    flat("target", "daytona_target", "DAYTONA_TARGET"),
    flat("api_url", "daytona_api_url", "DAYTONA_API_URL"),
    flat("auto_stop_minutes", "daytona_auto_stop_minutes", "TERMINAL_DAYTONA_AUTO_STOP_MINUTES"),
    flat("cpu", "container_cpu", "TERMINAL_CONTAINER_CPU"),
    flat("memory", "container_memory", "TERMINAL_CONTAINER_MEMORY"),
    flat("disk", "container_disk", "TERMINAL_CONTAINER_DISK"),
    flat("persistent", "container_persistent", "TERMINAL_CONTAINER_PERSISTENT"),
    flat("cwd", "cwd", "TERMINAL_CWD"),
];

const fn flat(field: &'static str, key: &'static str, variable: &'static str) -> FlatKey {
    FlatKey { field, key, variable }
}

/// An environment with `backend: daytona`.
#[derive(Deserialize)]
#[serde(transparent)]
struct Daytona(DaytonaSettings);

impl FarBackend for Daytona {
    fn open(self, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
        open(self.0, with)
    }

    fn about(&self) -> FarAbout {
        self.0.about()
    }

    fn check(&self) -> Result<(), String> {
        self.0.check()
    }
}
