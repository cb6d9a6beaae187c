//! What this process was started with, read once: variables, directory, output.
//!
//! Nothing below asks the process again. A runtime is made only by the commands that need one.

#![expect(clippy::disallowed_methods, reason = "the one place where the process environment is read")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use hermes::Runtime;
use hermes::store::{Home, HomeInputs};

use crate::command::Failure;
use crate::output::Output;

/// The values a command works with.
pub(crate) struct Shell {
    /// Where answers go.
    pub(crate) out: Output,
    env: BTreeMap<String, String>,
    cwd: PathBuf,
    profile: Option<String>,
}

impl Shell {
    /// Reads the process.
    pub(crate) fn of_this_process(json: bool, profile: Option<String>) -> Self {
        let text = |text: std::ffi::OsString| text.into_string().ok();
        let env: BTreeMap<String, String> =
            std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect();
        let plain = env.get("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env.get("TERM").is_some_and(|term| term == "dumb");
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Self { out: Output::new(json, plain), env, cwd, profile }
    }

    /// The state folder; nothing is created.
    pub(crate) fn home(&self) -> Result<Home, Failure> {
        let user_home = self.user_home();
        let inputs = HomeInputs {
            explicit: None,
            hermes_home: self.env.get("HERMES_HOME").map(AsRef::as_ref),
            user_home: user_home.as_deref(),
            profile: self.profile.as_deref(),
        };
        Home::resolve(&inputs).map_err(Failure::usage)
    }

    /// A runtime on this process's directory, home and variables.
    pub(crate) fn runtime(&self) -> Result<Runtime, Failure> {
        let mut builder = Runtime::builder().cwd(&self.cwd).home(self.home()?).env(self.env.clone());
        if let Some(home) = self.user_home() {
            builder = builder.user_home(home);
        }
        // Background processes are looked after by this very program.
        if let Some(own) = std::env::current_exe().ok().and_then(|own| own.to_str().map(str::to_owned)) {
            builder = builder.keeper([own, "keep-process".to_owned()]);
        }
        let runtime = builder.build().map_err(Failure::failed)?;
        for warning in runtime.warnings() {
            self.out.warn(&warning);
        }
        Ok(runtime)
    }

    fn user_home(&self) -> Option<PathBuf> {
        self.env.get("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
    }
}
