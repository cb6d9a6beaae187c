//! The tools of a server as far as it is known, and what is wrong with them.

use hermes_core::error::ToolError;
use hermes_core::registry::Scope;
use hermes_core::tool::{Fit, Reply};

use super::call::CallError;
use super::config::ServerConfig;
use super::known::{Known, Listed, any_object};
use super::late::Late;
use super::names::{names, plain};
use super::result::needs_login;
use super::server::{Server, Status};
use super::told::{Told, ToldTool, What};
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
        let (told, problems) = self.told();
        (told.scope(&Late::from(self.clone())), problems)
    }

    /// The same, as it is told to a registry.
    pub(super) fn told(&self) -> (Told, Vec<String>) {
        let config = self.config();
        let name = &config.name;
        let mut told = Told::nothing(config);
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
            return (told, problems);
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
                told.tools.push(one(name, tool, entry_name, held, fault, known.fit(&tool.name)));
            }
        }
        let utilities = utilities::told(config, &known).into_iter();
        told.tools.extend(utilities.filter(|it| !called.contains(&it.name)));
        (told, problems)
    }
}

/// One tool of a server as it is told.
fn one(server: &str, tool: &Listed, name: &str, held: bool, fault: Option<&str>, fit: Fit) -> ToldTool {
    let (schema, fit) = match fault {
        Some(_) => (any_object().into(), Fit::Unknown),
        None => (tool.schema.clone(), fit),
    };
    let held = held.then(|| {
        format!(
            "the server changed its definition since it was agreed to; look at the change with `hermes mcp tools {server}`"
        )
    });
    let shut = held.or_else(|| fault.map(str::to_owned));
    ToldTool {
        name: name.to_owned(),
        what: What::Tool(tool.name.as_str().into()),
        read_only: tool.hints.read_only,
        description: tool.description.clone(),
        schema,
        fit,
        shut: shut.map(|why| (format!("{name} {}", tool.digest()), why)),
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
