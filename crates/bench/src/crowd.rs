//! As many tools as all toolsets name: what start-up will cost when every one of them is built.
//!
//! Each has the same arguments, derived from a type of usual size, as a built-in tool has.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use futures::future::BoxFuture;
use hermes_core::availability::Availability;
use hermes_core::bridge::{ToolSearch, When};
use hermes_core::cx::ToolCx;
use hermes_core::definitions::{DefinitionCache, DefinitionSettings, Toolbox};
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::gate::{Gate, Probe};
use hermes_core::host::Host;
use hermes_core::registry::{RegisterError, Registry, Scope};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef, ToolEntry};
use hermes_core::toolset::{Plan, PlatformSettings, SelectionError, Toolset, platform_selection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Do something of usual size to something of usual size. Use this instead of doing it by hand.
/// The answer says what was done, and how to go on when there is more.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema of these arguments is looked at")]
struct Usual {
    /// What to do it to: absolute, relative to the working directory, or ~/path
    path: String,
    /// How to do it
    #[serde(default)]
    mode: Mode,
    /// Most results to return
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    limit: u64,
    /// Only where this is so
    when: Option<String>,
    /// What else to look at
    #[serde(default)]
    others: Vec<Part>,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Quick,
    Thorough,
    Dry,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema of these arguments is looked at")]
struct Part {
    /// Its name
    name: String,
    /// Whether it counts
    #[serde(default)]
    counts: bool,
}

impl Tool for Usual {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    async fn call(self, _cx: &ToolCx) -> ToolResult {
        Ok(json!({}))
    }
}

/// The table of as many tools as all toolsets name; it stays for the life of the process.
pub fn table() -> Vec<&'static ToolDef> {
    let mut homes: BTreeMap<&'static str, &'static Toolset> = BTreeMap::new();
    let (presets, own): (Vec<&Toolset>, Vec<&Toolset>) =
        hermes_tools::toolsets().iter().partition(|toolset| toolset.name.starts_with("hermes-"));
    // A preset only has what other toolsets are for.
    for toolset in own.into_iter().chain(presets) {
        for &tool in toolset.tools {
            homes.entry(tool).or_insert(toolset);
        }
    }
    homes.into_iter().map(|(name, toolset)| &*Box::leak(Box::new(entry(name, toolset)))).collect()
}

/// Every third tool depends on something, as about that many do.
fn entry(name: &'static str, toolset: &'static Toolset) -> ToolDef {
    let def = ToolDef::of::<Usual>(name, toolset);
    match name.len() % 3 {
        0 => def.gate(|| Gate::any_env(["SOME_API_KEY", "OTHER_API_KEY"])),
        _ => def,
    }
}

/// The registry of a table, with the toolsets there are.
pub fn registry(table: &[&'static ToolDef]) -> Result<Registry, RegisterError> {
    Registry::new(Scope::built_in(table, hermes_tools::toolsets(), hermes_tools::core_tools()))
}

/// What `tools list` looks at: the selection of the command line, and what every tool is for.
pub fn list(registry: &Registry) -> Result<usize, SelectionError> {
    let toolbox = definitions(registry)?;
    let described = |entry: &Arc<ToolEntry>| entry.definition().description.len();
    Ok(toolbox.offered().len() + toolbox.snapshot().tools().map(described).sum::<usize>())
}

/// What the command line's selection offers, built for the first time; no text is written yet.
pub fn definitions(registry: &Registry) -> Result<Arc<Toolbox>, SelectionError> {
    let snapshot = registry.snapshot();
    let settings = PlatformSettings { platform: "cli", ..PlatformSettings::default() };
    let selection = platform_selection(snapshot.catalog(), &settings)?;
    let plan = Arc::new(Plan::new(snapshot.catalog(), &selection)?);
    let availability = Availability::new(Arc::new(Still), Arc::new(Everything));
    let cache = DefinitionCache::default();
    let search = ToolSearch { when: When::Off, ..ToolSearch::default() };
    let settings = DefinitionSettings { search, ..DefinitionSettings::default() };
    Ok(block_on(cache.toolbox(&snapshot, &plan, &settings, &availability, &|_| None)))
}

/// A machine on which no time passes.
struct Still;

impl Host for Still {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, _time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        job();
    }
}

/// A machine on which everything is there.
struct Everything;

impl Probe for Everything {
    fn env(&self, _name: &str) -> bool {
        true
    }

    fn program(&self, _name: &str) -> bool {
        true
    }

    fn file(&self, _path: &str) -> bool {
        true
    }

    fn config(&self, _key: &str) -> Option<Value> {
        None
    }

    fn service(&self, _address: &str) -> BoxFuture<'static, bool> {
        Box::pin(std::future::ready(true))
    }
}
