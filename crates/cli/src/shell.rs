//! What this process was started with, read once: variables, directory, output.
//!
//! Nothing below asks the process again. A runtime is made only by the commands that need one.

#![expect(clippy::disallowed_methods, reason = "the one place where the process environment is read")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use hermes::core::policy::{Approver, Nobody};
use hermes::core::sudo::SudoAsker;
use hermes::extend::plugins::offer::OfferedCli;
use hermes::store::{Home, HomeInputs};
use hermes::{BuildError, Runtime, RuntimeBuilder};

use crate::approval::{TerminalApprover, TerminalSudo};
use crate::command::Failure;
use crate::output::{self, Output};

/// What every command that an agent runs carries.
const OF_AN_AGENT: &str = "_HERMES_RUN";

/// Becomes a fenced command or a helper of `sudo`, when this process was started for that.
pub(crate) fn launched() -> Option<ExitCode> {
    let helper = hermes::env::sudo::called(std::env::args_os());
    helper.or_else(|| hermes::env::fence::launched(std::env::args_os()))
}

/// The words this process was started with.
pub(crate) fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// The values a command works with.
pub(crate) struct Shell {
    /// Where answers go.
    pub(crate) out: Output,
    env: BTreeMap<String, String>,
    cwd: PathBuf,
    profile: Option<String>,
    colour: bool,
}

impl Shell {
    /// Reads the process.
    pub(crate) fn of_this_process(json: bool, profile: Option<String>) -> Self {
        let text = |text: OsString| text.into_string().ok();
        let env: BTreeMap<String, String> =
            std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect();
        let plain = env.get("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env.get("TERM").is_some_and(|term| term == "dumb");
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Self { out: Output::new(json, plain), env, cwd, profile, colour: !plain }
    }

    /// The folder the program was started in.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The value of a variable.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str)
    }

    /// All variables.
    pub(crate) fn variables(&self) -> &BTreeMap<String, String> {
        &self.env
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
        Ok(Home::resolve(&inputs)?)
    }

    /// A runtime for one command, on this process's directory, home and variables.
    pub(crate) fn runtime(&self) -> Result<Runtime, Failure> {
        self.built(Runtime::builder().one_moment(), &self.cwd)
    }

    /// The same, as if this process stood in another directory.
    pub(crate) fn runtime_in(&self, cwd: &Path) -> Result<Runtime, Failure> {
        self.built(Runtime::builder(), cwd)
    }

    /// The same for one call, which may be recorded in the home's store of sessions.
    pub(crate) fn runtime_for_call(&self, of: Option<&str>, record: bool) -> Result<Runtime, Failure> {
        let builder = Runtime::builder().one_moment();
        let builder = of.into_iter().fold(builder, RuntimeBuilder::one_call);
        let builder = if record { builder.record_calls() } else { builder };
        self.built(builder, &self.cwd)
    }

    /// The commands that plugins add to ours, as they were when somebody last looked at the plugins: without a runtime,
    /// unless other plugins are switched on by now.
    pub(crate) fn plugin_cli(&self) -> Result<Vec<OfferedCli>, Failure> {
        let builder = self.furnished(Runtime::builder().one_moment(), &self.cwd, None)?;
        match builder.kept_plugin_cli() {
            Some(kept) => Ok(kept),
            None => Ok(finished(builder)?.plugin_cli()),
        }
    }

    /// A runtime for something that lasts, with every call recorded in the home's store of sessions.
    pub(crate) fn recording_runtime(&self) -> Result<Runtime, Failure> {
        self.built(Runtime::builder().record_calls(), &self.cwd)
    }

    /// The same for a server of tools. Inside of another hermes it offers no MCP servers: that one has them, and
    /// this server may be one of them.
    pub(crate) fn serving_runtime(&self) -> Result<Runtime, Failure> {
        let builder = Runtime::builder().record_calls();
        let builder = if self.is_of_an_agent() { builder.without_mcp_servers() } else { builder };
        self.built(builder, &self.cwd)
    }

    /// The same for work that nobody watches: nobody is asked for anything.
    pub(crate) fn unattended_runtime(&self) -> Result<Runtime, Failure> {
        self.built_with(Runtime::builder().record_calls().unattended(), &self.cwd, None)
    }

    /// The same, with somebody else than the terminal to ask for the password of `sudo`.
    pub(crate) fn recording_runtime_with(&self, sudo: Arc<dyn SudoAsker>) -> Result<Runtime, Failure> {
        self.built_with(Runtime::builder().record_calls(), &self.cwd, Some(sudo))
    }

    fn built(&self, builder: RuntimeBuilder, cwd: &Path) -> Result<Runtime, Failure> {
        self.built_with(builder, cwd, at_terminal())
    }

    fn built_with(
        &self,
        builder: RuntimeBuilder,
        cwd: &Path,
        sudo: Option<Arc<dyn SudoAsker>>,
    ) -> Result<Runtime, Failure> {
        finished(self.furnished(builder, cwd, sudo)?)
    }

    /// With what this process knows.
    fn furnished(
        &self,
        builder: RuntimeBuilder,
        cwd: &Path,
        sudo: Option<Arc<dyn SudoAsker>>,
    ) -> Result<RuntimeBuilder, Failure> {
        let mut builder = builder.cwd(cwd).home(self.home()?).env(self.env.clone());
        if let Some(home) = self.user_home() {
            builder = builder.user_home(home);
        }
        if let Some(sudo) = sudo {
            builder = builder.sudo_asker(sudo);
        }
        // Background processes are looked after by this very program.
        if let Some(own) = std::env::current_exe().ok().and_then(|own| own.to_str().map(str::to_owned)) {
            builder = builder.launcher(&own).keeper([own, "keep-process".to_owned()]);
        }
        Ok(builder)
    }

    /// Who is asked when policy wants to know: the person at the terminal, if there is one.
    pub(crate) fn approver(&self, runtime: &Runtime) -> Arc<dyn Approver> {
        if has_person() {
            Arc::new(TerminalApprover { host: runtime.host(), colour: self.colour })
        } else {
            Arc::new(Nobody)
        }
    }

    /// Whether an agent's command started this program: then nobody here speaks for the person.
    pub(crate) fn is_of_an_agent(&self) -> bool {
        self.variable(OF_AN_AGENT).is_some()
    }

    /// Whether somebody sits at the terminal this process was started from.
    #[expect(clippy::unused_self, reason = "what this process was started with is asked here")]
    pub(crate) fn has_person(&self) -> bool {
        has_person()
    }

    /// Whether colours are wanted, where there is a terminal to show them.
    pub(crate) fn colour(&self) -> bool {
        self.colour
    }

    /// The user's own home folder.
    pub(crate) fn user_home(&self) -> Option<PathBuf> {
        self.env.get("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
    }
}

/// The runtime, after people were told what is odd about it.
fn finished(builder: RuntimeBuilder) -> Result<Runtime, Failure> {
    let runtime = builder.build().map_err(|wrong| match wrong {
        BuildError::Store(wrong) => Failure::from(wrong),
        other => Failure::failed(other),
    })?;
    let config = runtime.home().map(|home| home.config()).unwrap_or_default();
    for warning in runtime.warnings() {
        output::warn(&format!("{}, {warning}", config.display()));
    }
    Ok(runtime)
}

/// Who is asked for the password of `sudo`: whoever sits at the terminal.
fn at_terminal() -> Option<Arc<dyn SudoAsker>> {
    has_person().then(|| Arc::new(TerminalSudo) as Arc<dyn SudoAsker>)
}

/// Whether somebody sits at the terminal this process was started from.
fn has_person() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}
