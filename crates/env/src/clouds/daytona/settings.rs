//! What can be set about a sandbox of Daytona.

use std::collections::BTreeMap;
use std::sync::Arc;

use hermes_core::environment::EnvError;
use serde::Deserialize;

use crate::backends::{FarAbout, FarBackend, Opening};
use crate::clouds::settings::{check_url, standing};
use crate::far::Reach;
use crate::far::settings::{IMAGE, check_cpu, check_variables, cwd};

/// Daytona's own address.
const API: &str = "https://app.daytona.io/api";

/// An environment with `backend: daytona`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DaytonaSettings {
    /// The image it is made from.
    pub(super) image: String,
    /// A snapshot of the account's instead; its size is then the snapshot's.
    pub(super) snapshot: Option<String>,
    /// Names of variables whose values here are handed on.
    pub(super) forward_env: Vec<String>,
    /// Variables it gets.
    pub(super) env: BTreeMap<String, String>,
    /// Whether it reaches the network.
    pub(super) network: bool,
    /// The region it is made in.
    pub(super) target: Option<String>,
    /// Where the API is.
    pub(super) api_url: String,
    /// Stopped by Daytona itself after so many minutes without a sign of us; 0 is never.
    pub(super) auto_stop_minutes: u32,
    /// Processors.
    pub(super) cpu: f64,
    /// Memory in megabytes.
    pub(super) memory: u64,
    /// Disk in megabytes.
    pub(super) disk: u64,
    /// Whether it is stopped, and not removed, when it is let go of.
    pub(super) persistent: bool,
    /// Where sessions begin.
    pub(super) cwd: Option<String>,
}

impl Default for DaytonaSettings {
    fn default() -> Self {
        Self {
            image: IMAGE.to_owned(),
            snapshot: None,
            forward_env: Vec::new(),
            env: BTreeMap::new(),
            network: true,
            target: None,
            api_url: API.to_owned(),
            auto_stop_minutes: 60,
            cpu: 1.0,
            memory: 5120,
            disk: 51_200,
            persistent: true,
            cwd: None,
        }
    }
}

impl FarBackend for DaytonaSettings {
    fn open(self, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
        super::open(self, with)
    }

    fn about(&self) -> FarAbout {
        let of = self.snapshot.as_ref().unwrap_or(&self.image);
        FarAbout {
            location: format!("Daytona sandbox of {of}"),
            standing: standing(&self.forward_env),
            cwd: cwd(self.cwd.as_ref(), "~"),
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.image.trim().is_empty() || self.image.contains(char::is_whitespace) {
            return Err("image: it must name an image".to_owned());
        }
        check_variables(&self.forward_env, &self.env)?;
        check_cpu(self.cpu)?;
        check_url("api_url", &self.api_url)
    }
}
