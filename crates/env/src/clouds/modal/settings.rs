//! What can be set about a sandbox of Modal.

use std::collections::BTreeMap;
use std::sync::Arc;

use hermes_core::environment::EnvError;
use serde::Deserialize;

use crate::backends::{FarAbout, FarBackend, Opening};
use crate::clouds::settings::{check_url, standing};
use crate::far::Reach;
use crate::far::settings::{IMAGE, check_cpu, check_variables, cwd};

/// Modal's own address, and the app its sandboxes belong to.
const API: &str = "https://api.modal.com";
const APP: &str = "hermes-agent";

/// An environment with `backend: modal`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ModalSettings {
    /// Whose account: `direct` is the person's own, which `auto` means too.
    pub(super) mode: String,
    /// The image it is made from, or the id of one of Modal's (`im-…`).
    pub(super) image: String,
    /// The app it belongs to.
    pub(super) app: String,
    /// The environment of Modal it is made in.
    pub(super) environment: String,
    /// Names of variables whose values here are handed on.
    pub(super) forward_env: Vec<String>,
    /// Variables it gets.
    pub(super) env: BTreeMap<String, String>,
    /// Whether it reaches the network.
    pub(super) network: bool,
    /// Where the API is.
    pub(super) api_url: String,
    /// Ended by Modal itself after so many minutes.
    pub(super) timeout_minutes: u32,
    /// Processors.
    pub(super) cpu: f64,
    /// Memory in megabytes.
    pub(super) memory: u64,
    /// Disk in megabytes.
    pub(super) disk: u64,
    /// Whether its files are kept when it is let go of.
    pub(super) persistent: bool,
    /// Where sessions begin.
    pub(super) cwd: Option<String>,
}

impl Default for ModalSettings {
    fn default() -> Self {
        Self {
            mode: "auto".to_owned(),
            image: IMAGE.to_owned(),
            app: APP.to_owned(),
            environment: String::new(),
            forward_env: Vec::new(),
            env: BTreeMap::new(),
            network: true,
            api_url: API.to_owned(),
            timeout_minutes: 60,
            cpu: 1.0,
            memory: 5120,
            disk: 51_200,
            persistent: true,
            cwd: None,
        }
    }
}

impl FarBackend for ModalSettings {
    fn open(self, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
        super::open(self, with)
    }

    fn about(&self) -> FarAbout {
        FarAbout {
            location: format!("Modal sandbox of {}", self.image),
            standing: standing(&self.forward_env),
            cwd: cwd(self.cwd.as_ref(), "~"),
        }
    }

    fn check(&self) -> Result<(), String> {
        match self.mode.as_str() {
            "auto" | "direct" => {}
            "managed" => return Err("mode: only your own account can be used; set `direct`".to_owned()),
            other => return Err(format!("mode: `{other}` is none of auto, direct")),
        }
        if self.image.trim().is_empty() || self.image.contains(char::is_whitespace) {
            return Err("image: it must name an image".to_owned());
        }
        if !(1..=1440).contains(&self.timeout_minutes) {
            return Err("timeout_minutes: it must be from 1 to 1440".to_owned());
        }
        check_variables(&self.forward_env, &self.env)?;
        check_cpu(self.cpu)?;
        check_url("api_url", &self.api_url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_named() {
        let read = |text: &str| serde_json::from_str::<ModalSettings>(text).unwrap().check();

        assert!(read(r#"{"mode": "managed"}"#).unwrap_err().contains("direct"));
        assert!(read(r#"{"timeout_minutes": 0}"#).unwrap_err().starts_with("timeout_minutes"));
        assert!(read(r#"{"mode": "direct"}"#).is_ok());
    }
}
