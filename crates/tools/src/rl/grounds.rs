//! Where training happens: the checkout, the logs, the environment on this machine, and the two programs of
//! ours that run there. What a call may do with them is declared from here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::{Command, Effect};
use hermes_core::environment::Environments;
use hermes_core::error::ToolError;
use hermes_core::files::{FileError, SearchQuery, SearchTarget};
use hermes_core::keys::Keys;
use hermes_core::session::Place;

use super::classes::{self, Environment};
use super::{KNOWN_BY, ROOT, USUAL_ROOT, failed, no_checkout};
use crate::media::MediaSettings;
use crate::template::quoted;

/// Looks after a run.
const SUPERVISE: &str = include_str!("supervise.py");

/// Starts a tryout.
const TRYOUT: &str = include_str!("tryout.py");

/// Where environments are in a checkout, and configurations of runs.
const ENVIRONMENTS: &str = "tinker_atropos/environments";
const CONFIGS: &str = "configs";

/// Where the logs are, below the state folder or else below the checkout.
const LOGS: &str = "logs/rl_training";

/// Most files with environments that are looked at, and the longest of them.
const MOST_FILES: usize = 500;
const LONGEST_FILE: u64 = 2 * 1024 * 1024;

/// The place and its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grounds {
    pub(crate) checkout: PathBuf,
    pub(crate) logs: PathBuf,
    /// The environment whose files are those of this machine.
    machine: Option<String>,
}

/// An environment with the file it is in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) environment: Environment,
    pub(crate) file: PathBuf,
}

impl Grounds {
    /// As a call declares it.
    pub(crate) fn declared(services: &Services, place: &Place) -> Option<Self> {
        let keys = services.service::<Arc<dyn Keys>>()?;
        Self::new(keys.as_ref(), services.service(), &services.environments, place)
    }

    /// As a call finds it.
    pub(crate) fn of(cx: &ToolCx) -> Result<Self, ToolError> {
        let found = Self::new(cx.keys()?, cx.service(), cx.environments(), &cx.place());
        found.ok_or_else(|| failed(no_checkout("no state folder")))
    }

    fn new(
        keys: &dyn Keys,
        settings: Option<&MediaSettings>,
        environments: &Environments,
        place: &Place,
    ) -> Option<Self> {
        let home = settings.and_then(|settings| settings.cache.parent());
        let named = keys.text(ROOT).map(|root| place.resolve(root.trim()));
        let checkout = named.or_else(|| Some(home?.join(USUAL_ROOT)))?;
        let logs = home.unwrap_or(&checkout).join(LOGS);
        let near = environments.all().find(|(_, site)| site.there.is_none());
        Some(Self { checkout, logs, machine: near.map(|(name, _)| name.to_owned()) })
    }

    pub(crate) fn environments(&self) -> PathBuf {
        self.checkout.join(ENVIRONMENTS)
    }

    pub(crate) fn configs(&self) -> PathBuf {
        self.checkout.join(CONFIGS)
    }

    /// Looks at the checkout.
    pub(crate) fn reads_checkout(&self) -> Effect {
        Effect::Read(self.checkout.clone())
    }

    /// Looks at the records of runs and at their logs.
    pub(crate) fn reads_logs(&self) -> Effect {
        Effect::Read(self.logs.clone())
    }

    /// Looks after a run: the whole program, so that whoever is asked sees what will run.
    pub(crate) fn supervise(&self) -> Result<Command, ToolError> {
        self.command(SUPERVISE)
    }

    /// Tries an environment out.
    pub(crate) fn tryout(&self) -> Result<Command, ToolError> {
        self.command(TRYOUT)
    }

    /// The environment that everything runs in.
    pub(crate) fn machine(&self) -> Result<&str, ToolError> {
        let none = || failed("training runs on this machine, and no environment of it is configured");
        self.machine.as_deref().ok_or_else(none)
    }

    fn command(&self, program: &str) -> Result<Command, ToolError> {
        let environment = self.machine()?.to_owned();
        let word = |path: &Path| quoted(&path.to_string_lossy());
        let text =
            format!("exec python3 -c {} {} {}", quoted(program), word(&self.checkout), word(&self.logs));
        Ok(Command { text, environment, workdir: self.checkout.clone() })
    }

    /// Whether the checkout is there; why not, in words.
    pub(crate) async fn check(&self, cx: &ToolCx) -> Result<(), ToolError> {
        match cx.files().whole(&self.checkout.join(KNOWN_BY), LONGEST_FILE).await {
            Err(ToolError::File(FileError::Missing { .. })) => {
                Err(failed(no_checkout(&self.checkout.to_string_lossy())))
            }
            Err(other) => Err(other),
            Ok(_) => Ok(()),
        }
    }

    /// All environments, by name, and what could not be read.
    pub(crate) async fn found(&self, cx: &ToolCx) -> Result<(Vec<Found>, Vec<String>), ToolError> {
        self.check(cx).await?;
        let folder = self.environments();
        let (mut found, mut unreadable) = (Vec::new(), Vec::new());
        for file in self.files(cx, &folder, "*.py").await? {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name.starts_with('_') || file.parent() != Some(folder.as_path()) {
                continue;
            }
            match cx.files().whole(&file, LONGEST_FILE).await {
                Ok(whole) => {
                    let text = String::from_utf8_lossy(&whole.bytes);
                    let stem = name.trim_end_matches(".py");
                    let all = classes::environments(&text, stem);
                    found
                        .extend(all.into_iter().map(|environment| Found { environment, file: file.clone() }));
                }
                Err(why) => unreadable.push(why.to_string()),
            }
        }
        found.sort_by(|one, other| {
            (&one.environment.name, &one.file).cmp(&(&other.environment.name, &other.file))
        });
        Ok((found, unreadable))
    }

    /// The files of a folder with such a name; none where there is no such folder.
    pub(crate) async fn files(
        &self,
        cx: &ToolCx,
        folder: &Path,
        glob: &str,
    ) -> Result<Vec<PathBuf>, ToolError> {
        let query = SearchQuery {
            target: SearchTarget::Files { pattern: glob.to_owned() },
            file_glob: None,
            limit: MOST_FILES,
            offset: 0,
        };
        let report = match cx.files().search(&folder.to_string_lossy(), query).await {
            Err(ToolError::File(FileError::Missing { .. })) => return Ok(Vec::new()),
            other => other?,
        };
        Ok(report.files.into_iter().map(|(path, _)| folder.join(path)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grounds() -> Grounds {
        Grounds {
            checkout: "/home/ann/tinker atropos".into(),
            logs: "/home/ann/.hermes/logs/rl_training".into(),
            machine: Some("local".to_owned()),
        }
    }

    #[test]
    fn the_whole_program_stands_in_the_command_and_can_be_read_there() {
        let command = grounds().supervise().unwrap();

        assert!(!SUPERVISE.contains('\'') && !TRYOUT.contains('\''));
        assert!(command.text.contains(SUPERVISE));
        assert!(command.text.ends_with(" '/home/ann/tinker atropos' /home/ann/.hermes/logs/rl_training"));
        assert_eq!(command.workdir, Path::new("/home/ann/tinker atropos"));
    }

    #[test]
    fn without_an_environment_on_this_machine_nothing_is_run() {
        assert!(Grounds { machine: None, ..grounds() }.supervise().is_err());
    }
}
