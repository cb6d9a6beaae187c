//! `podman`: the same as `docker`, with the engine that needs no daemon.

use std::sync::Arc;

use hermes_core::environment::EnvError;
use serde::Deserialize;

use super::docker::KEYS;
use super::{BackendDef, FarAbout, FarBackend, Opening};
use crate::containers::{ContainerSettings, Engine};
use crate::far::Reach;

pub(crate) const BACKEND: BackendDef = BackendDef::far::<Podman>("podman", KEYS);

/// An environment with `backend: podman`.
#[derive(Deserialize)]
#[serde(transparent)]
struct Podman(ContainerSettings);

impl FarBackend for Podman {
    fn open(self, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
        self.0.open(Engine::Podman, with)
    }

    fn about(&self) -> FarAbout {
        self.0.about(Engine::Podman)
    }

    fn check(&self) -> Result<(), String> {
        self.0.check()
    }
}
