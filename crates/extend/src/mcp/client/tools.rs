//! The tools of a server as entries of the registry.

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::cx::ToolCx;
use hermes_core::effect::{Effect, Foreign};
use hermes_core::error::ToolError;
use hermes_core::gate::Gate;
use hermes_core::registry::{Scope, Source};
use hermes_core::session::Place;
use hermes_core::tool::{Fit, Handler, LazyDefinition, PreparedCall, Reply, ToolEntry};
use hermes_core::toolset::DynamicToolset;
use serde_json::{Map, Value};

use super::call::CallError;
use super::config::ServerConfig;
use super::known::{Known, Listed, any_object};
use super::media::Keeper;
use super::names::{names, plain};
use super::promise;
use super::result::{needs_login, reply};
use super::server::{Server, Status};
use super::utilities;

/// The name of the toolset that the tools of a server are in.
pub(super) fn toolset(server: &str) -> String {
    format!("mcp-{server}")
}

impl Server {
    /// What a person should know of it: that somebody has to log in, or why none of its tools are there.
    pub fn trouble(&self) -> Option<Status> {
        match self.standing() {
            status @ Status::NeedsLogin(_) => Some(status),
            Status::Disabled => None,
            status => Some(status).filter(|_| !self.is_known()),
        }
    }

    /// Everything it offers as far as it is known, and what is wrong with it, in words.
    pub fn scope(&self) -> (Scope, Vec<String>) {
        let config = self.config();
        let name = &config.name;
        let mut scope = Scope::new(Source::Mcp(name.clone())).toolset(DynamicToolset::mcp(name, Vec::new()));
        let mut problems = Vec::new();
        problems.extend(self.trouble().and_then(|status| match status {
            Status::NeedsLogin(why) => {
                Some(format!("MCP server `{name}` needs a login: {why}; run `hermes mcp login {name}`"))
            }
            Status::Failed(why) => Some(format!(
                "MCP server `{name}` does not work: {why}; `hermes mcp test {name}` tries again"
            )),
            // Who has not said yet what it offers is told together with the others.
            _ => None,
        }));
        if !self.is_known() {
            return (scope, problems);
        }
        let known = self.known();
        problems.extend(news(name, &known));
        problems.extend(known.cut_off().map(|cut| format!("MCP server `{name}`: {cut}")));
        let taken: Vec<&Listed> = known.tools.iter().filter(|tool| config.filter.takes(&tool.name)).collect();
        let called = names(name, &config.called, taken.iter().map(|tool| tool.name.as_str()));
        for (tool, entry_name) in taken.iter().zip(&called) {
            let held = known.holds(tool);
            if held {
                problems.push(format!(
                    "MCP server `{name}` has changed its tool `{}`, which is held back: look at it with `hermes mcp tools {name}`",
                    tool.name
                ));
            }
            let fault = known.fault(&tool.name);
            if let Some(fault) = fault {
                problems.push(format!("tool `{}` of MCP server `{name}` is left out: {fault}", tool.name));
            }
            if !tool.name.trim().is_empty() {
                scope = scope.tool(self.entry(tool, entry_name, held, fault, known.fit(&tool.name)));
            }
        }
        for entry in utilities::entries(self, &known) {
            if !called.iter().any(|taken| taken == entry.name().as_ref()) {
                scope = scope.tool(entry);
            }
        }
        (scope, problems)
    }

    fn entry(&self, tool: &Listed, name: &str, held: bool, fault: Option<&str>, fit: Fit) -> ToolEntry {
        let config = self.config();
        let (schema, fit) = match fault {
            Some(_) => (any_object().into(), Fit::Unknown),
            None => (tool.schema.clone(), fit),
        };
        let definition = LazyDefinition::written(tool.description.as_str(), schema, fit);
        let handler = McpTool {
            server: self.clone(),
            tool: tool.name.clone().into(),
            read_only: tool.hints.read_only,
            overlaps: config.parallel,
        };
        let mut entry = ToolEntry::new(name, toolset(&config.name), definition, handler)
            .emoji("🔌")
            .timeout(config.timeout)
            .elsewhere(config.reached_within());
        if tool.hints.read_only {
            entry = entry.read_only();
        }
        match (held, fault) {
            (true, _) => entry.gate(closed(
                format!("{name} {}", tool.digest()),
                format!(
                    "the server changed its definition since it was agreed to; look at the change with `hermes mcp tools {}`",
                    config.name
                ),
            )),
            (false, Some(fault)) => entry.gate(closed(format!("{name} {}", tool.digest()), fault.to_owned())),
            (false, None) => entry,
        }
    }
}

/// That tools came after the first ones, in words.
fn news(server: &str, known: &Known) -> Option<String> {
    let new: Vec<&str> = known.unseen().map(|tool| tool.name.as_str()).collect();
    (!new.is_empty()).then(|| {
        format!(
            "MCP server `{server}` has got new tools: `{}`; look at them with `hermes mcp tools {server}`, and \
             `hermes mcp tools {server} --accept` says that you have",
            new.join("`, `")
        )
    })
}

/// A gate that does not open, and says why.
fn closed(name: String, why: String) -> Gate {
    Gate::check(name, move |_| std::future::ready(Err(why.clone())))
}

/// One tool of a server.
struct McpTool {
    server: Server,
    tool: Arc<str>,
    read_only: bool,
    overlaps: bool,
}

struct McpCall {
    server: Server,
    tool: Arc<str>,
    effects: Vec<Effect>,
    arguments: Map<String, Value>,
}

impl Handler for McpTool {
    fn prepare(&self, arguments: Map<String, Value>) -> Result<Box<dyn PreparedCall>, ToolError> {
        let effects = if self.read_only {
            Vec::new()
        } else {
            vec![Effect::Foreign(Foreign {
                source: format!("MCP server `{}`", self.server.config().name),
                tool: self.tool.to_string(),
                overlaps: self.overlaps,
            })]
        };
        let (server, tool) = (self.server.clone(), Arc::clone(&self.tool));
        Ok(Box::new(McpCall { server, tool, effects, arguments }))
    }
}

impl PreparedCall for McpCall {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        self.effects.clone()
    }

    fn run(self: Box<Self>, cx: &ToolCx) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move {
            match self.server.call(&self.tool, self.arguments, cx).await {
                Ok(result) => {
                    let note = promise::note(&self.server, &self.tool, &result);
                    reply(result, note, &Keeper::of(&self.server, cx))
                }
                Err(error) => failed(&self.server, error),
            }
        })
    }
}

/// Why there is no answer, as the model reads it.
pub(super) fn failed(server: &Server, error: CallError) -> Result<Reply, ToolError> {
    match error {
        CallError::Login(why) => Ok(needs_login(&server.config().name, &why)),
        CallError::Refused(why) => Err(ToolError::Failed(why)),
        other => Err(ToolError::Failed(format!("MCP server `{}`: {other}", server.config().name))),
    }
}

/// The name of a utility tool of a server.
pub(super) fn utility_name(server: &ServerConfig, word: &str) -> String {
    names(&server.name, &server.called, [word]).pop().unwrap_or_else(|| plain(word))
}
