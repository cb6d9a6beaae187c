//! What can be set about a sandbox of Vercel.

use std::collections::BTreeMap;
use std::sync::Arc;

use hermes_core::environment::EnvError;
use serde::Deserialize;

use crate::backends::{FarAbout, FarBackend, Opening};
use crate::clouds::settings::{check_url, standing};
use crate::far::Reach;
use crate::far::settings::{check_cpu, check_variables, cwd};

/// Vercel's own address, the system sandboxes start with, and where their files are.
const API: &str = "https://vercel.com/api";
const RUNTIME: &str = "node24";
const HOME: &str = "/vercel/sandbox";

/// What the settings of other backends say about a disk when nobody says anything.
const USUAL_DISK: u64 = 51_200;

/// An environment with `backend: vercel_sandbox`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct VercelSettings {
    /// The system it starts with: `node24`, `python3.13`, …
    pub(super) runtime: String,
    /// An image of the team's instead.
    pub(super) image: Option<String>,
    /// Names of variables whose values here are handed on.
    pub(super) forward_env: Vec<String>,
    /// Variables it gets.
    pub(super) env: BTreeMap<String, String>,
    /// Whether it reaches the network.
    pub(super) network: bool,
    /// Where it runs.
    pub(super) region: Option<String>,
    /// Where the API is.
    pub(super) api_url: String,
    /// Stopped by Vercel itself after so many minutes, unless something runs in it.
    pub(super) timeout_minutes: u32,
    /// Processors; Vercel gives whole ones.
    pub(super) cpu: f64,
    /// Memory in megabytes.
    pub(super) memory: u64,
    /// There is one size of disk.
    pub(super) disk: u64,
    /// Whether its files are kept when it is let go of.
    pub(super) persistent: bool,
    /// Where sessions begin.
    pub(super) cwd: Option<String>,
}

impl Default for VercelSettings {
    fn default() -> Self {
        Self {
            runtime: RUNTIME.to_owned(),
            image: None,
            forward_env: Vec::new(),
            env: BTreeMap::new(),
            network: true,
            region: None,
            api_url: API.to_owned(),
            timeout_minutes: 30,
            cpu: 1.0,
            memory: 5120,
            disk: USUAL_DISK,
            persistent: true,
            cwd: None,
        }
    }
}

impl FarBackend for VercelSettings {
    fn open(self, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
        super::open(self, with)
    }

    fn about(&self) -> FarAbout {
        let of = self.image.as_ref().unwrap_or(&self.runtime);
        FarAbout {
            location: format!("Vercel sandbox of {of}"),
            standing: standing(&self.forward_env),
            cwd: cwd(self.cwd.as_ref(), HOME),
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.runtime.trim().is_empty() {
            return Err("runtime: it must name one, as `node24` or `python3.13`".to_owned());
        }
        if self.disk != USUAL_DISK && self.disk != 0 {
            return Err("disk: Vercel gives one size; leave it out".to_owned());
        }
        if self.timeout_minutes < 5 {
            return Err("timeout_minutes: it must be at least 5".to_owned());
        }
        check_variables(&self.forward_env, &self.env)?;
        check_cpu(self.cpu)?;
        check_url("api_url", &self.api_url)
    }
}

impl VercelSettings {
    /// Processors and memory to ask for; none when they are what is given anyway. A processor comes with
    /// 2048 MB, so memory alone decides nothing.
    pub(super) fn processors(&self) -> Option<u32> {
        (2..=1024_u32).rev().find(|whole| f64::from(*whole) <= self.cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_named() {
        let read = |text: &str| serde_json::from_str::<VercelSettings>(text).unwrap();

        assert!(read(r#"{"disk": 100}"#).check().unwrap_err().starts_with("disk"));
        assert!(read(r#"{"timeout_minutes": 1}"#).check().unwrap_err().starts_with("timeout_minutes"));
        assert!(read("{}").check().is_ok());
        assert_eq!(read(r#"{"cpu": 4.7}"#).processors(), Some(4));
        assert_eq!(read("{}").processors(), None);
    }
}
