//! Training a model by reinforcement learning with tinker-atropos, as the `rl_*` tools do it: environments of
//! atropos give questions and score answers, Tinker trains, Weights & Biases shows how it goes.
//!
//! | file | what |
//! |---|---|
//! | here | when the tools are there, and what they share |
//! | [`grounds`] | where the checkout and the logs are, and what runs there |
//! | [`lex`], [`values`], [`classes`] | which environments a Python file has, by reading it |
//! | [`fields`], [`yaml`] | the configuration of a run |
//! | [`desk`] | what a session has chosen |
//! | [`record`] | one run: what is written down about it |
//! | [`runs`] | all runs: starting, finding and stopping them |
//! | [`wandb`] | what Weights & Biases knows about a run |
//! | [`tryout`] | a few questions to models, without training |
//! | `supervise.py` | looks after one run: starts, watches and stops its programs |
//! | `tryout.py` | starts an environment with keys that nobody else sees |

pub(crate) mod classes;
pub(crate) mod desk;
pub(crate) mod fields;
pub(crate) mod grounds;
mod lex;
pub(crate) mod record;
pub(crate) mod runs;
pub(crate) mod tryout;
mod values;
pub(crate) mod wandb;
pub(crate) mod yaml;

use std::path::Path;
use std::sync::Arc;

use hermes_core::error::ToolError;
use hermes_core::gate::{Gate, Probe};
use serde_json::Value;

/// Keys that a run cannot do without.
pub(crate) const KEYS: &[&str] = &["TINKER_API_KEY", "WANDB_API_KEY"];

/// Where answers come from in a tryout.
pub(crate) const OPENROUTER_KEY: &str = "OPENROUTER_API_KEY";

/// The setting that says where tinker-atropos is.
pub(crate) const ROOT: &str = "rl.tinker_atropos_root";

/// Where it is otherwise, below the state folder.
pub(crate) const USUAL_ROOT: &str = "tinker-atropos";

/// The file by which a checkout is known.
pub(crate) const KNOWN_BY: &str = "launch_training.py";

/// When the tools are there.
pub(crate) fn gate() -> Gate {
    let keys = KEYS.iter().map(|key| Gate::env(*key));
    let more = [Gate::program("python3"), Gate::check("a checkout of tinker-atropos", has_checkout)];
    Gate::All(keys.chain(more).collect())
}

/// What the tools can use beside the keys they need.
pub(crate) fn variables() -> Vec<&'static str> {
    vec![OPENROUTER_KEY, "WANDB_ENTITY", "WANDB_BASE_URL"]
}

async fn has_checkout(probe: Arc<dyn Probe>) -> Result<(), String> {
    let named = probe.config(ROOT).and_then(|root| Some(root.as_str()?.trim().to_owned()));
    let usual = || Some(probe.home()?.join(USUAL_ROOT).display().to_string());
    let root = named.filter(|root| !root.is_empty()).or_else(usual);
    let there = |root: &String| probe.file(&Path::new(root).join(KNOWN_BY).to_string_lossy());
    match root {
        Some(root) if there(&root) => Ok(()),
        Some(root) => Err(no_checkout(&root)),
        None => Err(no_checkout("no state folder")),
    }
}

/// What is said where there is no checkout.
pub(crate) fn no_checkout(root: &str) -> String {
    format!(
        "needs a checkout of tinker-atropos, and there is none in {root}: `git clone \
         https://github.com/NousResearch/tinker-atropos` there, or name its folder in `{ROOT}`"
    )
}

pub(crate) fn failed(why: impl Into<String>) -> ToolError {
    ToolError::Failed(why.into())
}

/// A text of a document, unless it is empty.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str().filter(|text| !text.is_empty())
}
