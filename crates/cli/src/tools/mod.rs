//! The actions of `hermes tools`, one file each, and what they share: the selection they look at.

pub(crate) mod call;
pub(crate) mod cost;
pub(crate) mod explain;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod new;
mod of_server;
pub(crate) mod pick;
pub(crate) mod schema;
mod switches;
pub(crate) mod test;
pub(crate) mod toggle;

use std::sync::Arc;

use hermes::Runtime;
use hermes::core::bridge::{ToolSearch, When};
use hermes::core::definitions::{DefinitionSettings, Toolbox};
use hermes::core::registry::{Snapshot, Source};
use hermes::core::suggest::suggest;
use hermes::core::toolset::{Catalog, Member, Selection, SelectionError};

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
    /// The selection these options stand for, to be looked at.
    pub(crate) fn looked_at(&self, runtime: &Runtime) -> Result<Selection, Failure> {
        runtime.mcp().ready_to_look_blocking();
        self.chosen(runtime)
    }

    /// The selection these options stand for, to be worked with: servers join as they are ready.
    pub(crate) fn selection(&self, runtime: &Runtime) -> Result<Selection, Failure> {
        runtime.mcp().ready_blocking();
        self.chosen(runtime)
    }

    fn chosen(&self, runtime: &Runtime) -> Result<Selection, Failure> {
        let chosen = match &self.toolsets {
            Some(names) => Selection::of(words(names)),
            None => self.configured(runtime)?,
        };
        Ok(chosen.without(words(&self.disable)))
    }

    /// What the configuration selects; an error says that it comes from there.
    fn configured(&self, runtime: &Runtime) -> Result<Selection, Failure> {
        let snapshot = runtime.tools();
        let chosen = runtime.platform(&self.platform).and_then(|chosen| {
            chosen.plan(snapshot.catalog())?;
            Ok(chosen)
        });
        chosen.map_err(|wrong| misconfigured(runtime, &self.platform, wrong))
    }
}

/// Why the configuration selects nothing for a platform, with its file and what helps.
pub(crate) fn misconfigured(runtime: &Runtime, platform: &str, wrong: SelectionError) -> Failure {
    match (wrong, runtime.home()) {
        (wrong @ SelectionError::Platform(_), _) | (wrong, None) => wrong.into(),
        (wrong, Some(home)) => {
            let helps = runtime.way_out_of(&wrong, platform);
            let helps = helps.map(|helps| format!("\n       {helps}")).unwrap_or_default();
            Failure::usage(format!("{}: {wrong}{helps}", home.config().display()))
        }
    }
}

/// The names of a list as it was typed: `a, b,` is two.
fn words(list: &[String]) -> Vec<String> {
    list.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The definitions of a selection with nothing left out for room.
pub(crate) fn whole_toolbox(runtime: &Runtime, selection: &Selection) -> Result<Arc<Toolbox>, Failure> {
    Ok(runtime.toolbox_blocking(selection, &whole_definitions(runtime))?)
}

/// Settings with which nothing is left out for room.
fn whole_definitions(runtime: &Runtime) -> DefinitionSettings {
    let search = ToolSearch { when: When::Off, ..ToolSearch::default() };
    DefinitionSettings { search, ..runtime.definition_settings() }
}

/// A tool that some toolset names and nobody has built.
pub(crate) fn not_built(name: &str, catalog: &Catalog) -> Option<Member> {
    catalog.resolve("all").ok()?.missing.into_iter().find(|member| member.tool.as_ref() == name)
}

/// That there is no such tool, with the names that come near.
pub(crate) fn no_such_tool(name: &str, snapshot: &Snapshot) -> Failure {
    if not_built(name, snapshot.catalog()).is_some() {
        return Failure::usage(format!(
            "tool `{name}` is not built yet; `hermes tools list` shows those that are"
        ));
    }
    let near = suggest(name, snapshot.tools().map(|tool| tool.name().as_ref()), 3);
    Failure::usage(match near.as_slice() {
        [] => format!("there is no tool `{name}`; `hermes tools list` shows all"),
        near => format!("there is no tool `{name}`; did you mean `{}`?", near.join("` or `")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_list_may_have_spaces_and_empty_places() {
        assert_eq!(words(&["a".to_owned(), " b ".to_owned(), String::new()]), ["a", "b"]);
    }

    #[test]
    fn the_first_sentence_ends_at_its_full_stop() {
        assert_eq!(first_sentence("Read a file. Use it often."), "Read a file");
        assert_eq!(first_sentence("Read v1.2 files."), "Read v1.2 files");
    }
}
