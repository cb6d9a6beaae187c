//! `hermes tools schema`: the definitions as the model gets them.

use hermes::core::definitions::{DefinitionSettings, definition_json};
use hermes::core::json::Dialect;
use serde_json::Value;

use crate::command::{Failure, Run};
use crate::shell::Shell;
use crate::tools::{Choice, no_such_tool};

#[derive(clap::Args)]
pub(crate) struct Schema {
    /// Only these tools
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    choice: Choice,
    /// How schemas are written for the provider
    #[arg(long, value_enum, default_value_t = Provider::Lenient)]
    provider: Provider,
    /// Also the tools that are not available now
    #[arg(long)]
    all: bool,
}

/// How strictly a provider reads schemas.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Provider {
    /// Most of them
    Lenient,
    /// Those that refuse what they do not know
    Strict,
}

impl Run for Schema {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let snapshot = runtime.tools();
        for name in &self.names {
            snapshot.tool(name).ok_or_else(|| no_such_tool(name, &snapshot))?;
        }
        let dialect = match self.provider {
            Provider::Lenient => Dialect::Lenient,
            Provider::Strict => Dialect::Strict,
        };
        let settings = DefinitionSettings { dialect, ..runtime.definition_settings() };
        let selection = self.choice.selection(&runtime)?;
        let toolbox = runtime.toolbox_blocking(&selection, &settings)?;
        let mut listed: Vec<Value> = Vec::new();
        let there = toolbox.offered().iter().map(|tool| tool.json().to_owned());
        let missing = toolbox.unavailable().iter().filter(|_| self.all);
        let missing =
            missing.filter_map(|tool| Some(definition_json(snapshot.tool(&tool.name)?, dialect).to_string()));
        for text in there.chain(missing) {
            listed.push(serde_json::from_str(&text).map_err(Failure::failed)?);
        }
        if !self.names.is_empty() {
            listed.retain(|value| self.names.iter().any(|name| name_of(value) == Some(name)));
        } else if self.all {
            listed.sort_by(|a, b| name_of(a).cmp(&name_of(b)));
        }
        shell.out.json(&listed)
    }
}

fn name_of(definition: &Value) -> Option<&str> {
    definition.pointer("/function/name").and_then(Value::as_str)
}
