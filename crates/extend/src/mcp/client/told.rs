//! What a server offers as it is told to a registry: its tools as entries, whose handlers ask the server.
//!
//! It can be kept so from one start to the next. Neither what is configured nor what is known of the server has to be
//! read then before somebody asks for it.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::cx::ToolCx;
use hermes_core::effect::{Effect, Foreign};
use hermes_core::error::ToolError;
use hermes_core::gate::Gate;
use hermes_core::json::JsonText;
use hermes_core::packed::{Packer, Unpacker};
use hermes_core::registry::{Scope, Source};
use hermes_core::session::Place;
use hermes_core::tool::{Fit, Handler, LazyDefinition, PreparedCall, Reply, ToolEntry};
use hermes_core::toolset::DynamicToolset;
use serde_json::{Map, Value};

use super::config::ServerConfig;
use super::late::Late;
use super::media::Keeper;
use super::promise;
use super::result::reply;
use super::server::Server;
use super::tools::{failed, toolset};
use super::utilities::Utility;

/// What a server offers.
pub struct Told {
    server: String,
    timeout: Duration,
    reached_within: Duration,
    overlaps: bool,
    pub(super) tools: Vec<ToldTool>,
}

/// A tool that it offers.
pub(super) struct ToldTool {
    /// Its name in the registry.
    pub(super) name: String,
    pub(super) what: What,
    pub(super) read_only: bool,
    pub(super) description: String,
    pub(super) schema: JsonText,
    pub(super) fit: Fit,
    /// The name of a gate that keeps it out, and why it does.
    pub(super) shut: Option<(String, String)>,
}

/// What is called.
#[derive(Clone)]
pub(super) enum What {
    /// The tool of this name on the server.
    Tool(Arc<str>),
    /// One of ours, about the server.
    Utility(Utility),
}

impl Told {
    /// A server of which nothing is known.
    pub(super) fn nothing(config: &ServerConfig) -> Self {
        Self {
            server: config.name.clone(),
            timeout: config.timeout,
            reached_within: config.reached_within(),
            overlaps: config.parallel,
            tools: Vec::new(),
        }
    }

    /// As entries of the registry.
    pub fn scope(self, server: &Late) -> Scope {
        let scope = Scope::new(Source::Mcp(self.server.clone()));
        let scope = scope.toolset(DynamicToolset::mcp(&self.server, Vec::new()));
        let (toolset, source) = (Arc::from(toolset(&self.server)), Arc::from(self.server));
        let owner = Owner { toolset, source, server, timeout: self.timeout };
        let entry = |tool| owner.entry(tool, self.overlaps).elsewhere(self.reached_within);
        self.tools.into_iter().map(entry).fold(scope, Scope::tool)
    }

    /// Packs it.
    pub fn pack(&self, packer: &mut Packer) {
        let Self { server, timeout, reached_within, overlaps, tools } = self;
        packer.text(server);
        for time in [timeout, reached_within] {
            packer.number(time.as_secs()).number(time.subsec_nanos().into());
        }
        packer.flag(*overlaps).list(tools.iter(), |packer, tool| tool.pack(packer));
    }

    /// Takes out what was packed.
    pub fn unpack(packed: &mut Unpacker<'_>) -> Option<Self> {
        let time = |packed: &mut Unpacker<'_>| {
            Some(Duration::new(packed.number()?, u32::try_from(packed.number()?).ok()?))
        };
        Some(Self {
            server: packed.text()?.to_owned(),
            timeout: time(packed)?,
            reached_within: time(packed)?,
            overlaps: packed.flag()?,
            tools: packed.list(ToldTool::unpack)?,
        })
    }
}

impl ToldTool {
    fn pack(&self, packer: &mut Packer) {
        let Self { name, what, read_only, description, schema, fit, shut } = self;
        packer.text(name);
        match what {
            What::Tool(tool) => packer.number(0).text(tool),
            What::Utility(utility) => packer.number(1).text(utility.word()),
        };
        packer.flag(*read_only).text(description).text(&schema.text());
        match fit {
            Fit::Unknown => packer.number(0),
            Fit::AsWritten => packer.number(1),
            Fit::As(other) => packer.number(2).text(&other.text()),
        };
        packer.list(shut.iter(), |packer, (gate, why)| {
            packer.text(gate).text(why);
        });
    }

    fn unpack(packed: &mut Unpacker<'_>) -> Option<Self> {
        Some(Self {
            name: packed.text()?.to_owned(),
            what: match (packed.number()?, packed.text()?) {
                (0, tool) => What::Tool(tool.into()),
                (_, word) => What::Utility(Utility::named(word)?),
            },
            read_only: packed.flag()?,
            description: packed.text()?.to_owned(),
            schema: JsonText::kept(packed.text()?),
            fit: match packed.number()? {
                0 => Fit::Unknown,
                1 => Fit::AsWritten,
                _ => Fit::As(Box::new(JsonText::kept(packed.text()?))),
            },
            shut: packed.list(|packed| Some((packed.text()?.to_owned(), packed.text()?.to_owned())))?.pop(),
        })
    }
}

/// What the tools of a server share.
struct Owner<'a> {
    toolset: Arc<str>,
    source: Arc<str>,
    server: &'a Late,
    timeout: Duration,
}

impl Owner<'_> {
    fn entry(&self, tool: ToldTool, overlaps: bool) -> ToolEntry {
        let ToldTool { name, what, read_only, description, schema, fit, shut } = tool;
        let definition = LazyDefinition::written(description, schema, fit);
        let (source, server) = (Arc::clone(&self.source), self.server.clone());
        let handler = McpTool { source, server, what, read_only, overlaps };
        let mut entry = ToolEntry::new(name, Arc::clone(&self.toolset), definition, handler)
            .emoji("🔌")
            .timeout(self.timeout);
        if read_only {
            entry = entry.read_only();
        }
        match shut {
            Some((name, why)) => entry.gate(closed(name, why)),
            None => entry,
        }
    }
}

/// A gate that does not open, and says why.
fn closed(name: String, why: String) -> Gate {
    Gate::check(name, move |_| std::future::ready(Err(why.clone())))
}

/// One tool of a server.
struct McpTool {
    /// The name of the server.
    source: Arc<str>,
    server: Late,
    what: What,
    read_only: bool,
    overlaps: bool,
}

struct McpCall {
    server: Server,
    what: What,
    effects: Vec<Effect>,
    arguments: Map<String, Value>,
}

impl Handler for McpTool {
    fn prepare(&self, arguments: Map<String, Value>) -> Result<Box<dyn PreparedCall>, ToolError> {
        let effects = match &self.what {
            What::Tool(tool) if !self.read_only => vec![Effect::Foreign(Foreign {
                source: format!("MCP server `{}`", self.source),
                tool: tool.to_string(),
                overlaps: self.overlaps,
            })],
            _ => Vec::new(),
        };
        let (server, what) = (self.server.get().clone(), self.what.clone());
        Ok(Box::new(McpCall { server, what, effects, arguments }))
    }
}

impl PreparedCall for McpCall {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        self.effects.clone()
    }

    fn run(self: Box<Self>, cx: &ToolCx) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move {
            let Self { server, what, arguments, .. } = *self;
            let done = match what {
                // Apart, so that a call of a tool does not carry room for it.
                What::Utility(utility) => Box::pin(utility.answer(&server, arguments, cx)).await,
                What::Tool(tool) => match server.call(&tool, arguments, cx).await {
                    Ok(result) => {
                        let note = promise::note(&server, &tool, &result);
                        return reply(result, note, &Keeper::of(&server, cx));
                    }
                    Err(error) => Err(error),
                },
            };
            done.or_else(|error| failed(&server, error))
        })
    }
}
