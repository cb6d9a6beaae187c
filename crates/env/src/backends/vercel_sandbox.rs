//! `vercel_sandbox`: commands run in a sandbox of Vercel.

use std::sync::Arc;

use hermes_core::environment::EnvError;
use serde::Deserialize;

use super::{BackendDef, FarAbout, FarBackend, FlatKey, Opening};
use crate::clouds::vercel::{VercelSettings, open};
use crate::far::Reach;

pub(crate) const BACKEND: BackendDef = BackendDef::far::<Vercel>("vercel_sandbox", KEYS)
    .needing(&[&["VERCEL_TOKEN", "VERCEL_PROJECT_ID", "VERCEL_TEAM_ID"], &["VERCEL_OIDC_TOKEN"]]);

/// The settings in the flat form of the original, and ours beside them.
const KEYS: &[FlatKey] = &[
    flat("runtime", "vercel_runtime", "TERMINAL_VERCEL_RUNTIME"),
    flat("image", "vercel_image", "TERMINAL_VERCEL_IMAGE"),
    flat("forward_env", "vercel_forward_env", "TERMINAL_VERCEL_FORWARD_ENV"),
    flat("env", "vercel_env", "TERMINAL_VERCEL_ENV"),
    flat("network", "vercel_network", "TERMINAL_VERCEL_NETWORK"),
    flat("region", "vercel_region", "VERCEL_REGION"),
    flat("api_url", "vercel_api_url", "TERMINAL_VERCEL_API_URL"),
    flat("timeout_minutes", "vercel_timeout_minutes", "TERMINAL_VERCEL_TIMEOUT_MINUTES"),
    flat("cpu", "container_cpu", "TERMINAL_CONTAINER_CPU"),
    flat("memory", "container_memory", "TERMINAL_CONTAINER_MEMORY"),
    flat("disk", "container_disk", "TERMINAL_CONTAINER_DISK"),
    flat("persistent", "container_persistent", "TERMINAL_CONTAINER_PERSISTENT"),
    flat("cwd", "cwd", "TERMINAL_CWD"),
];

const fn flat(field: &'static str, key: &'static str, variable: &'static str) -> FlatKey {
    FlatKey { field, key, variable }
}

/// An environment with `backend: vercel_sandbox`.
#[derive(Deserialize)]
#[serde(transparent)]
struct Vercel(VercelSettings);

impl FarBackend for Vercel {
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
