//! The search bridge: how a model reaches tools whose definitions were left out to save room.
//!
//! `tool_search` finds them by words, `tool_describe` shows one whole, `tool_call` calls it. The
//! first two are ordinary tools made for one set of definitions. The third is not a tool at all:
//! intake unwraps it, so that policy, hooks and the scheduler see the tool that is meant.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::cx::ToolCx;
use crate::effect::Effect;
use crate::error::ToolError;
use crate::json::parse_arguments;
use crate::names::{KnownNames, normalise};
use crate::registry::Source;
use crate::session::Place;
use crate::tool::{Definition, Handler, PreparedCall, Reply, ToolEntry};
use crate::tool_index::{Item, ToolIndex};

/// Finds tools by words.
pub const SEARCH: &str = "tool_search";
/// Shows one tool whole.
pub const DESCRIBE: &str = "tool_describe";
/// Calls one.
pub const CALL: &str = "tool_call";

/// The toolset the bridge shows up under.
const TOOLSET: &str = "tool_search";

/// Longest description in a list of matches, in characters.
const SHORT: usize = 400;

/// Whether a name belongs to the bridge.
pub fn is_bridge(name: &str) -> bool {
    [SEARCH, DESCRIBE, CALL].contains(&name)
}

/// Whether a name, as a model wrote it, means `tool_call`.
pub(crate) fn means_call(name: &str) -> bool {
    normalise(name, &KnownNames::new([CALL])).is_some()
}

/// When and how tools are left out of the definitions (`tools.tool_search`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ToolSearch {
    /// Whether to leave tools out.
    pub when: When,
    /// The share of the model's context, in percent, from which `auto` acts.
    pub threshold_pct: u8,
    /// Matches returned when the model names no number.
    pub default_limit: u8,
    /// Most matches a model can ask for.
    pub max_limit: u8,
    /// Whether the core tools may be left out too.
    pub include_core: bool,
}

/// Whether to leave tools out of the definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum When {
    /// When they would take too much of the context.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Default for ToolSearch {
    fn default() -> Self {
        Self { when: When::Auto, threshold_pct: 10, default_limit: 5, max_limit: 20, include_core: false }
    }
}

/// Tokens from which `auto` acts when the size of the context is not known.
const UNKNOWN_CONTEXT: u64 = 20_000;

impl ToolSearch {
    /// Whether definitions of this many tokens are to be left out.
    pub fn applies(&self, tokens: u64, context: Option<u64>) -> bool {
        match self.when {
            When::Off => false,
            When::On => tokens > 0,
            When::Auto => {
                let share = |all: u64| u128::from(all) * u128::from(self.threshold_pct) / 100;
                let limit = context.map_or(u128::from(UNKNOWN_CONTEXT), share);
                tokens > 0 && u128::from(tokens) >= limit
            }
        }
    }
}

/// A tool behind the bridge.
pub(crate) struct Hidden {
    pub(crate) name: Arc<str>,
    pub(crate) definition: Definition,
    pub(crate) source: Source,
}

/// All tools behind the bridge, searchable.
struct Shelf {
    hidden: Vec<Hidden>,
    index: ToolIndex,
    settings: ToolSearch,
}

/// The bridge's tools for what is hidden; `tool_call` is there for its definition alone.
pub(crate) fn entries(hidden: Vec<Hidden>, settings: ToolSearch) -> Vec<Arc<ToolEntry>> {
    let index = ToolIndex::new(
        hidden
            .iter()
            .map(|tool| Item::new(&tool.name, &tool.definition.description, &tool.definition.parameters)),
    );
    let shelf = Arc::new(Shelf { hidden, index, settings });
    [(SEARCH, search_definition(settings)), (DESCRIBE, describe_definition()), (CALL, call_definition())]
        .into_iter()
        .map(|(name, definition)| {
            let handler = Bridge { shelf: Arc::clone(&shelf), name };
            Arc::new(ToolEntry::new(name, TOOLSET, definition, handler).emoji("🔎").trusted().read_only())
        })
        .collect()
}

/// The call inside a `tool_call`, and whether its arguments were cut off.
pub(crate) fn unwrap_call(
    mut arguments: Map<String, Value>,
) -> Result<(String, Map<String, Value>, bool), ToolError> {
    let wrong = |why: &str| ToolError::Arguments(format!("{CALL}: {why}"));
    let name = match arguments.get("name") {
        Some(Value::String(name)) if !name.trim().is_empty() => name.trim().to_owned(),
        _ => return Err(wrong("`name` must be the name of a tool")),
    };
    if is_bridge(&name) {
        return Err(wrong("call the search tools directly"));
    }
    let (inner, cut_off) = match arguments.remove("arguments") {
        None | Some(Value::Null) => (Map::new(), false),
        Some(Value::Object(inner)) => (inner, false),
        Some(Value::String(text)) => {
            let parsed = parse_arguments(&text).map_err(|bad| wrong(&format!("`arguments`: {bad}")))?;
            (parsed.value, parsed.truncated)
        }
        Some(_) => return Err(wrong("`arguments` must be an object")),
    };
    Ok((name, inner, cut_off))
}

struct Bridge {
    shelf: Arc<Shelf>,
    name: &'static str,
}

enum BridgeCall {
    Search { shelf: Arc<Shelf>, query: String, limit: usize },
    Describe { shelf: Arc<Shelf>, name: String },
}

impl Handler for Bridge {
    fn prepare(&self, mut arguments: Map<String, Value>) -> Result<Box<dyn PreparedCall>, ToolError> {
        let hidden = Arc::clone(&self.shelf);
        let mut text = |key: &str| match arguments.remove(key) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(ToolError::Arguments(format!("`{key}` must be text"))),
        };
        Ok(Box::new(match self.name {
            SEARCH => {
                let query = text("query")?;
                let settings = hidden.settings;
                let asked =
                    arguments.get("limit").and_then(Value::as_u64).unwrap_or(settings.default_limit.into());
                let limit = usize::try_from(asked.clamp(1, settings.max_limit.into())).unwrap_or(1);
                BridgeCall::Search { shelf: hidden, query, limit }
            }
            DESCRIBE => BridgeCall::Describe { shelf: hidden, name: text("name")? },
            other => return Err(ToolError::UnknownTool(format!("{other} is unwrapped before it is called"))),
        }))
    }
}

impl PreparedCall for BridgeCall {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn run(self: Box<Self>, _cx: &ToolCx) -> BoxFuture<'_, Result<Reply, ToolError>> {
        let answer = match *self {
            Self::Search { shelf, query, limit } => Ok(shelf.search(&query, limit)),
            Self::Describe { shelf, name } => shelf.describe(&name),
        };
        Box::pin(std::future::ready(answer.map(Reply::Json)))
    }
}

impl Shelf {
    fn search(&self, query: &str, limit: usize) -> Value {
        let matches: Vec<Value> = self
            .index
            .search(query, limit)
            .into_iter()
            .filter_map(|hit| self.hidden.get(hit.index))
            .map(|tool| {
                let (source, source_name) = origin(&tool.source);
                json!({
                    "name": tool.name.as_ref(),
                    "source": source,
                    "source_name": source_name,
                    "description": tool.definition.description.chars().take(SHORT).collect::<String>(),
                })
            })
            .collect();
        json!({ "query": query, "total_available": self.hidden.len(), "matches": matches })
    }

    fn describe(&self, name: &str) -> Result<Value, ToolError> {
        let found = self.hidden.iter().find(|tool| tool.name.as_ref() == name.trim());
        let tool = found.ok_or_else(|| {
            let near = crate::suggest::suggest(name, self.hidden.iter().map(|tool| tool.name.as_ref()), 3);
            let near = if near.is_empty() { String::new() } else { format!("; near: {}", near.join(", ")) };
            ToolError::UnknownTool(format!("no tool `{name}` behind the search{near}"))
        })?;
        Ok(json!({
            "name": tool.name.as_ref(),
            "description": tool.definition.description,
            "parameters": tool.definition.parameters,
        }))
    }
}

fn origin(source: &Source) -> (&'static str, &str) {
    match source {
        Source::BuiltIn => ("builtin", "hermes"),
        Source::Plugin(name) | Source::Embedder(name) => ("plugin", name),
        Source::Mcp(name) => ("mcp", name),
    }
}

fn search_definition(settings: ToolSearch) -> Definition {
    Definition {
        description:
            "Find more tools by what they do. Not every tool is listed here: describe what you need in a \
                      few words, then look at a match and call it."
                .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "What the tool should do, in a few words" },
                "limit": {
                    "type": "integer",
                    "description": format!("Most matches to return (up to {})", settings.max_limit),
                },
            },
            "required": ["query"],
        }),
    }
}

fn describe_definition() -> Definition {
    Definition {
        description: "Show the full description and the parameters of a tool that was found by searching."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "name": { "type": "string", "description": "Name of the tool" } },
            "required": ["name"],
        }),
    }
}

fn call_definition() -> Definition {
    Definition {
        description: "Call a tool that was found by searching.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "Name of the tool" },
                "arguments": { "type": "object", "description": "Its arguments, as its parameters describe them" },
            },
            "required": ["name", "arguments"],
        }),
    }
}
