//! `modal`: commands run in a sandbox of Modal.

use std::sync::Arc;

use hermes_core::environment::EnvError;
use serde::Deserialize;

use super::{BackendDef, FarAbout, FarBackend, FlatKey, Opening};
use crate::clouds::modal::{ModalSettings, open};
use crate::far::Reach;

pub(crate) const BACKEND: BackendDef =
    BackendDef::far::<Modal>("modal", KEYS).needing(&[&["MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET"]]);

/// The settings in the flat form of the original, and ours beside them.
const KEYS: &[FlatKey] = &[
    flat("mode", "modal_mode", "TERMINAL_MODAL_MODE"),
    flat("image", "modal_image", "TERMINAL_MODAL_IMAGE"),
    flat("app", "modal_app", "TERMINAL_MODAL_APP"),
    flat("environment", "modal_environment", "MODAL_ENVIRONMENT"),
    flat("forward_env", "modal_forward_env", "TERMINAL_MODAL_FORWARD_ENV"),
    flat("env", "modal_env", "TERMINAL_MODAL_ENV"),
    flat("network", "modal_network", "TERMINAL_MODAL_NETWORK"),
    flat("api_url", "modal_api_url", "MODAL_SERVER_URL"),
    flat("timeout_minutes", "modal_timeout_minutes", "TERMINAL_MODAL_TIMEOUT_MINUTES"),
    flat("cpu", "container_cpu", "TERMINAL_CONTAINER_CPU"),
    flat("memory", "container_memory", "TERMINAL_CONTAINER_MEMORY"),
    flat("disk", "container_disk", "TERMINAL_CONTAINER_DISK"),
    flat("persistent", "container_persistent", "TERMINAL_CONTAINER_PERSISTENT"),
    flat("cwd", "cwd", "TERMINAL_CWD"),
];

const fn flat(field: &'static str, key: &'static str, variable: &'static str) -> FlatKey {
    FlatKey { field, key, variable }
}

/// An environment with `backend: modal`.
#[derive(Deserialize)]
#[serde(transparent)]
struct Modal(ModalSettings);

impl FarBackend for Modal {
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
