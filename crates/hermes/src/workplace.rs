//! From configuration and home to the place where commands run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::effect::lexical;
use hermes_core::environment::{Environments, Overflow, OverflowFile, Stands, Workplace};
use hermes_core::host::Host;
use hermes_core::jobs::JobFolders;
use hermes_core::session::Place;
use hermes_env::backends::{self, BackendDef};
use hermes_env::jobs::JobSettings;
use hermes_env::probe::is_directory;
use hermes_env::shell::variables::ChildVariables;
use hermes_env::sudo::SudoSettings;
use hermes_env::workplace::{FenceMaker, PlaceSettings, Shared};
use hermes_llm::providers::PROVIDERS;
use hermes_store::{Home, HomeSkills, Processes, Spill};
use hermes_tools::{ScriptSettings, TerminalSettings};
use serde_json::Value;

use crate::environments::{self, Making};
use crate::settings;
use crate::world::World;

/// Where private folders are made, best first; the temporary folder of the user comes before the last.
const SCRATCH: [&str; 2] = ["/dev/shm", "/tmp"];

/// The places where commands run. Nothing is opened before the first command.
pub(crate) fn environments(
    world: &World,
    host: &Arc<dyn Host>,
    home: Option<&Home>,
    place: &Place,
    (keeper, fence): (Option<Vec<String>>, Option<&FenceMaker>),
    sudo: Option<&SudoSettings>,
    skills: Option<&HomeSkills>,
) -> Environments {
    let folders = home.map(|home| Arc::new(Processes::of(home)) as Arc<dyn JobFolders>);
    let jobs = JobSettings { folders, keeper };
    let login = flag(world, "auto_source_bashrc").unwrap_or(true);
    let near = |backend: &'static BackendDef| {
        let place_settings = PlaceSettings {
            backend,
            section: Value::Null,
            variables: child_variables(world),
            login,
            init_files: init_files(world, place),
            scratch: scratch(world),
            jobs: jobs.clone(),
            fence: fence.cloned(),
        };
        let mut shared = Shared::new(place_settings, Arc::clone(host));
        if let Some(sudo) = sudo {
            shared = shared.sudo(sudo.clone());
        }
        if let Some(home) = home {
            shared = shared.overflow(HomeOverflow::shared(home, world));
        }
        Arc::new(shared) as Arc<dyn Workplace>
    };
    let variables = child_variables(world);
    let making = Making { world, host, home, place, variables, login, skills };
    let default = environments::described(world).into_iter().next().map(|place| place.name);
    let environments = Environments::default().default_to(default.unwrap_or_default());
    environments::with_far(environments, &making, near)
}

/// Where sessions begin on this machine: as `terminal.cwd` (or `TERMINAL_CWD`) says, if that is a directory;
/// elsewhere the same setting is a directory there.
pub(crate) fn begins(world: &World, place: Place) -> Place {
    let near = |name: &str| backends::find(name).is_none_or(|backend| !backend.is_far());
    let here = environments::described(world).first().is_some_and(|first| near(&first.backend));
    let set = world.config("terminal.cwd").and_then(|value| value.as_str().map(str::to_owned));
    let set = set.or_else(|| world.variable("TERMINAL_CWD").map(str::to_owned));
    let cwd = set.filter(|set| here && !["", ".", "auto", "cwd"].contains(&set.as_str()));
    match cwd.map(|cwd| place.resolve(&cwd)).filter(|cwd| is_directory(cwd)) {
        Some(cwd) => Place { cwd, ..place },
        None => place,
    }
}

/// How long commands may take and how much of their output is shown.
pub(crate) fn terminal_settings(world: &World) -> TerminalSettings {
    let usual = TerminalSettings::default();
    let seconds = |key: &str, variable: &str| {
        let configured = world.config(&format!("terminal.{key}")).and_then(|value| value.as_u64());
        let given = || world.variable(variable)?.trim().parse().ok();
        configured.or_else(given).filter(|seconds| *seconds > 0).map(Duration::from_secs)
    };
    TerminalSettings {
        timeout: seconds("timeout", "TERMINAL_TIMEOUT").unwrap_or(usual.timeout),
        longest: seconds("max_foreground_timeout", "TERMINAL_MAX_FOREGROUND_TIMEOUT")
            .unwrap_or(usual.longest),
        keep: usize::try_from(world.settings().tool_output.max_bytes).unwrap_or(usual.keep),
    }
}

/// How long scripts may take, how much they may do and where they stand.
pub(crate) fn script_settings(world: &World) -> ScriptSettings {
    let usual = ScriptSettings::default();
    let config = |key: &str| world.config(&format!("code_execution.{key}"));
    let number = |key: &str| config(key).and_then(|value| value.as_u64());
    ScriptSettings {
        timeout: number("timeout").filter(|it| *it > 0).map_or(usual.timeout, Duration::from_secs),
        calls: number("max_tool_calls").unwrap_or(usual.calls),
        memory: match number("memory_mb") {
            Some(0) => None,
            Some(megabytes) => Some(megabytes.saturating_mul(1024 * 1024)),
            None => usual.memory,
        },
        stands: match config("mode").as_ref().and_then(Value::as_str) {
            Some("strict") => Stands::Apart,
            _ => usual.stands,
        },
        ..usual
    }
}

fn child_variables(world: &World) -> ChildVariables {
    ChildVariables {
        process: world.process().clone(),
        secret: world.secret_names(),
        passed: texts(world, "env_passthrough").into_iter().collect::<BTreeSet<_>>(),
        kept: world.kept(),
        keys: keys_to_models(world),
    }
}

/// The variables that hold keys to models: those of the known providers and those that the settings name.
fn keys_to_models(world: &World) -> BTreeSet<String> {
    let settings = world.settings();
    let named = settings.endpoints.iter().map(|endpoint| &endpoint.model).chain(&settings.fallbacks);
    let named = named.chain(settings.auxiliary.values()).chain([&settings.model]);
    let named = named.filter_map(|model| model.key_env.clone());
    let known = PROVIDERS.iter().flat_map(|provider| provider.key_env).map(|name| (*name).to_owned());
    known.chain(named).collect()
}

fn init_files(world: &World, place: &Place) -> Vec<PathBuf> {
    let named = texts(world, "shell_init_files");
    named.iter().map(|path| lexical(path, &place.cwd, place.home.as_deref())).collect()
}

fn scratch(world: &World) -> Vec<PathBuf> {
    let own = ["XDG_RUNTIME_DIR", "TMPDIR"].map(|name| world.variable(name).map(PathBuf::from));
    let [runtime, temporary] = own.map(|path| path.filter(|path| path.is_absolute()));
    let [memory, last] = SCRATCH.map(|path| Some(PathBuf::from(path)));
    [runtime, memory, temporary, last].into_iter().flatten().collect()
}

fn flag(world: &World, key: &str) -> Option<bool> {
    world.config(&format!("terminal.{key}"))?.as_bool()
}

fn texts(world: &World, key: &str) -> Vec<String> {
    let Some(Value::Array(items)) = world.config(&format!("terminal.{key}")) else { return Vec::new() };
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Long outputs, kept below the home beside other large results.
pub(crate) struct HomeOverflow {
    home: Home,
    limit: u64,
}

impl HomeOverflow {
    /// Below this home, within the limit it sets.
    pub(crate) fn shared(home: &Home, world: &World) -> Arc<dyn Overflow> {
        Arc::new(Self { home: home.clone(), limit: settings::spill_bytes(&world.settings()) })
    }
}

impl Overflow for HomeOverflow {
    fn open(&self, session: &str, id: &str) -> Result<OverflowFile, String> {
        let spill = Spill::open(&self.home, session).with_limit(self.limit);
        let stream = spill.stream(id).map_err(|wrong| wrong.to_string())?;
        Ok(OverflowFile { path: stream.path, limit: stream.limit, file: Box::new(stream.file) })
    }
}
