//! `hermes tools schema`: the definitions as the model gets them.

use hermes::Runtime;
use hermes::core::definitions::{DefinitionSettings, Toolbox, definition_json};
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
        let dialect = match self.provider {
            Provider::Lenient => Dialect::Lenient,
            Provider::Strict => Dialect::Strict,
        };
        let settings = DefinitionSettings { dialect, ..runtime.definition_settings() };
        let selection = self.choice.looked_at(&runtime)?;
        let toolbox = runtime.toolbox_blocking(&selection, &settings)?;
        if self.names.is_empty() {
            return shell.out.json(&self.listed(&toolbox, dialect)?);
        }
        let named: Result<Vec<Value>, Failure> =
            self.names.iter().map(|name| self.named(name, &runtime, &toolbox, dialect)).collect();
        shell.out.json(&named?)
    }
}

impl Schema {
    /// What the model gets; on request with what it would get if everything were available.
    fn listed(&self, toolbox: &Toolbox, dialect: Dialect) -> Result<Vec<Value>, Failure> {
        let there: Result<Vec<Value>, Failure> =
            toolbox.offered().iter().map(|tool| parsed(tool.json())).collect();
        let mut listed = there?;
        if self.all {
            for tool in toolbox.unavailable() {
                if let Some(entry) = toolbox.snapshot().tool(&tool.name) {
                    listed.push(parsed(&definition_json(entry, dialect))?);
                }
            }
            listed.sort_by(|a, b| name_of(a).cmp(&name_of(b)));
        }
        Ok(listed)
    }

    /// One tool of the selection, also when the model has to search for it.
    fn named(
        &self,
        name: &str,
        runtime: &Runtime,
        toolbox: &Toolbox,
        dialect: Dialect,
    ) -> Result<Value, Failure> {
        let snapshot = runtime.tools();
        let entry = snapshot.tool(name).ok_or_else(|| no_such_tool(name, &snapshot))?;
        let mut there = toolbox.offered().iter().chain(toolbox.deferred());
        if let Some(tool) = there.find(|tool| tool.name().as_ref() == name) {
            return parsed(tool.json());
        }
        match toolbox.unavailable().iter().find(|tool| tool.name.as_ref() == name) {
            Some(_) if self.all => parsed(&definition_json(entry, dialect)),
            Some(closed) => Err(Failure::failed(format!(
                "`{name}` is not available: {} (--all shows it all the same)",
                closed.why
            ))),
            None => Err(Failure::failed(format!(
                "`{name}` is not selected; `hermes tools explain {name}` tells why"
            ))),
        }
    }
}

fn parsed(definition: &str) -> Result<Value, Failure> {
    serde_json::from_str(definition).map_err(Failure::failed)
}

fn name_of(definition: &Value) -> Option<&str> {
    definition.pointer("/function/name").and_then(Value::as_str)
}
