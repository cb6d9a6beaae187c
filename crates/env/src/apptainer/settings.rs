//! What can be set about an instance, and what follows from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use hermes_core::environment::{EnvError, Standing};
use serde::Deserialize;

use crate::apptainer::instance::Instance;
use crate::backends::{FarAbout, FarBackend, Opening};
use crate::far::Reach;
use crate::far::settings::{IMAGE, check_cpu, check_variables, cwd};

/// An environment that is an instance of Apptainer or Singularity.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub(crate) struct ApptainerSettings {
    /// What it is made from: a file, a folder, or a reference such as `docker://debian:12`.
    pub(super) image: String,
    /// Folders it gets, as `source:target[:options]`.
    pub(super) volumes: Vec<String>,
    /// Variables it gets.
    pub(super) env: BTreeMap<String, String>,
    /// Names of variables whose values here are handed on.
    pub(super) forward_env: Vec<String>,
    /// More words for `instance start`, such as `--nv` or `--fakeroot`.
    pub(super) extra_args: Vec<String>,
    /// Whether the directory the person works in is its `/workspace`.
    pub(super) mount_cwd: bool,
    /// Whether it reaches the network.
    pub(super) network: bool,
    /// Whether it goes on running when we end, and is found again.
    pub(super) persist_across_processes: bool,
    /// The program, where it is not on the search path.
    pub(super) binary: Option<String>,
    /// Folder of this machine for what it writes.
    pub(super) scratch_dir: Option<String>,
    /// Above how many gigabytes in there it is said that there is much; 0 is never.
    pub(super) disk_warning_gb: f64,
    /// Processors; 0 is as many as there are.
    pub(super) cpu: f64,
    /// Memory in megabytes; 0 is as much as there is.
    pub(super) memory: u64,
    /// Whether what is written outlives it.
    pub(super) persistent: bool,
    /// Where sessions begin.
    pub(super) cwd: Option<String>,
}

impl Default for ApptainerSettings {
    fn default() -> Self {
        Self {
            image: format!("docker://{IMAGE}"),
            volumes: Vec::new(),
            env: BTreeMap::new(),
            forward_env: Vec::new(),
            extra_args: Vec::new(),
            mount_cwd: false,
            network: true,
            persist_across_processes: false,
            binary: None,
            scratch_dir: None,
            disk_warning_gb: 500.0,
            cpu: 1.0,
            memory: 5120,
            persistent: true,
            cwd: None,
        }
    }
}

impl FarBackend for ApptainerSettings {
    fn open(self, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
        Ok(Arc::new(Instance::new(self, with)?))
    }

    fn about(&self) -> FarAbout {
        let closed = self.volumes.is_empty()
            && self.extra_args.is_empty()
            && self.forward_env.is_empty()
            && !self.mount_cwd;
        FarAbout {
            location: format!("apptainer instance of {}", self.image),
            standing: if closed { Standing::Disposable } else { Standing::Shared },
            cwd: self.cwd(),
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.image.trim().is_empty() || self.image.starts_with('-') {
            return Err("image: it must name a file, a folder or a reference".to_owned());
        }
        let unsound = |volume: &&String| !volume.contains(':') || volume.contains(',');
        if let Some(volume) = self.volumes.iter().find(unsound) {
            return Err(format!("volumes: `{volume}` is not `source:target`"));
        }
        if self.disk_warning_gb.is_nan() || self.disk_warning_gb < 0.0 {
            return Err("disk_warning_gb: it must be 0 or more".to_owned());
        }
        check_variables(&self.forward_env, &self.env)?;
        check_cpu(self.cpu)
    }
}

impl ApptainerSettings {
    /// Where sessions begin there.
    pub(super) fn cwd(&self) -> String {
        cwd(self.cwd.as_ref(), "/workspace")
    }

    /// Everything that an instance is made by: one that was made otherwise is another.
    pub(super) fn recipe(&self) -> String {
        format!("{:?}", Self { disk_warning_gb: 0.0, ..self.clone() })
    }

    /// How many bytes may lie there before that is said.
    pub(super) fn much(&self) -> Option<u64> {
        let bytes = self.disk_warning_gb * 1_073_741_824.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and rounded down"
        )]
        (bytes > 0.0).then_some(bytes as u64)
    }

    /// Whether the image has to be fetched from somewhere.
    pub(super) fn is_reference(&self) -> bool {
        self.image.split_once("://").is_some_and(|(kind, _)| {
            !kind.is_empty() && kind.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ApptainerSettings {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn an_image_is_a_file_a_folder_or_a_reference() {
        assert!(read("{}").is_reference());
        assert!(read(r#"{"image": "docker-daemon://x:latest"}"#).is_reference());
        assert!(!read(r#"{"image": "/images/x.sif"}"#).is_reference());
        assert!(!read(r#"{"image": "~/sandbox"}"#).is_reference());
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        assert!(read(r#"{"image": "-x"}"#).check().unwrap_err().starts_with("image:"));
        assert!(read(r#"{"volumes": ["data"]}"#).check().unwrap_err().contains("`data`"));
        assert!(read(r#"{"env": {"A B": "1"}}"#).check().is_err());
        assert!(read(r#"{"disk_warning_gb": -1}"#).check().unwrap_err().starts_with("disk_warning_gb:"));
        assert!(serde_json::from_str::<ApptainerSettings>(r#"{"imge": "x"}"#).is_err());
    }

    #[test]
    fn when_to_speak_of_the_disk_makes_no_other_instance() {
        let (usual, less, never) =
            (read("{}"), read(r#"{"disk_warning_gb": 0.5}"#), read(r#"{"disk_warning_gb": 0}"#));

        assert_eq!(
            [&usual, &less, &never].map(ApptainerSettings::much),
            [Some(500 << 30), Some(1 << 29), None]
        );
        assert_eq!(usual.recipe(), less.recipe());
        assert_ne!(usual.recipe(), read(r#"{"network": false}"#).recipe());
    }

    #[test]
    fn it_is_disposable_until_something_of_the_persons_is_in_it() {
        assert_eq!(read("{}").about().standing, Standing::Disposable);
        assert_eq!(read(r#"{"mount_cwd": true}"#).about().standing, Standing::Shared);
        assert_eq!(read(r#"{"cwd": "/home/ann"}"#).about().cwd, "/workspace");
    }
}
