//! The actions of `hermes tools`, one file each, and what they share: the selection they look at.

pub(crate) mod call;
pub(crate) mod cost;
pub(crate) mod explain;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod schema;
pub(crate) mod toggle;

use std::sync::Arc;

use hermes::Runtime;
use hermes::core::bridge::{ToolSearch, When};
use hermes::core::definitions::{DefinitionSettings, Toolbox};
use hermes::core::registry::{Snapshot, Source};
use hermes::core::suggest::suggest;
use hermes::core::toolset::Selection;

use crate::command::Failure;

/// Which tools a command looks at.
#[derive(clap::Args)]
pub(crate) struct Choice {
    /// Only these toolsets or tools, instead of what the configuration selects
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    toolsets: Option<Vec<String>>,
    /// Leave these toolsets or tools out
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    disable: Vec<String>,
    /// The platform whose configuration counts
    #[arg(long, default_value = "cli", value_name = "NAME")]
    platform: String,
}

impl Choice {
    /// The selection these options stand for.
    pub(crate) fn selection(&self, runtime: &Runtime) -> Result<Selection, Failure> {
        let chosen = match &self.toolsets {
            Some(names) => Selection::of(names.iter().filter(|name| !name.is_empty())),
            None => runtime.platform(&self.platform)?,
        };
        Ok(chosen.without(self.disable.clone()))
    }
}

/// The definitions of a selection with nothing left out for room.
pub(crate) fn whole_toolbox(runtime: &Runtime, selection: &Selection) -> Result<Arc<Toolbox>, Failure> {
    let search = ToolSearch { when: When::Off, ..ToolSearch::default() };
    let settings = DefinitionSettings { search, ..runtime.definition_settings() };
    Ok(runtime.toolbox_blocking(selection, &settings)?)
}

/// That there is no such tool, with the names that come near.
pub(crate) fn no_such_tool(name: &str, snapshot: &Snapshot) -> Failure {
    let near = suggest(name, snapshot.tools().map(|tool| tool.name().as_ref()), 3);
    Failure::usage(match near.as_slice() {
        [] => format!("no tool `{name}`; `hermes tools list` shows all"),
        near => format!("no tool `{name}`; did you mean {}?", near.join(", ")),
    })
}

/// One word for where a tool comes from.
pub(crate) fn source_word(source: Option<&Source>) -> String {
    match source {
        None | Some(Source::BuiltIn) => "builtin".to_owned(),
        Some(Source::Plugin(name)) => format!("plugin:{name}"),
        Some(Source::Mcp(name)) => format!("mcp:{name}"),
        Some(Source::Embedder(name)) => format!("embedder:{name}"),
        Some(other) => other.to_string(),
    }
}

/// The first sentence of a description, for lists.
pub(crate) fn first_sentence(text: &str) -> &str {
    match text.split_once(". ") {
        Some((first, _)) => first,
        None => text.trim_end_matches('.'),
    }
}
