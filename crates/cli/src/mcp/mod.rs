//! The actions of `hermes mcp`, one file each, and what they share.

pub(crate) mod add;
pub(crate) mod list;
pub(crate) mod login;
pub(crate) mod remove;
pub(crate) mod serve;
pub(crate) mod test;
pub(crate) mod tools;

use hermes::Runtime;
use hermes::core::suggest::suggest;
use hermes::extend::mcp::client::{Server, Status};

use crate::command::Failure;

/// The exit code for a server that wants a login.
pub(crate) const NEEDS_LOGIN: u8 = Failure::DENIED;

/// The server of this name.
pub(crate) fn server(runtime: &Runtime, name: &str) -> Result<Server, Failure> {
    let mcp = runtime.mcp();
    if let Some(server) = mcp.server(name) {
        return Ok(server);
    }
    if mcp.switched_off().iter().any(|config| config.name == name) {
        let key = format!("mcp_servers.{name}");
        return Err(Failure::usage(format!(
            "MCP server `{name}` is switched off; see `enabled` and `disabled` below `{key}` in config.yaml"
        )));
    }
    if let Some(wrong) = mcp.misread().into_iter().find(|wrong| wrong.name == name) {
        return Err(Failure::usage(format!(
            "MCP server `{name}` is wrong in config.yaml: {}; `hermes mcp remove {name}` removes it",
            wrong.why
        )));
    }
    Err(no_such(runtime, name))
}

/// That there is no such server, with the names that come near.
pub(crate) fn no_such(runtime: &Runtime, name: &str) -> Failure {
    let known = names(runtime);
    let near = suggest(name, known.iter().map(String::as_str), 3);
    Failure::usage(match near.as_slice() {
        [] => format!("there is no MCP server `{name}`; `hermes mcp list` shows all"),
        near => format!("there is no MCP server `{name}`; did you mean `{}`?", near.join("` or `")),
    })
}

/// The names of all servers, also of those that cannot be used as they are written.
pub(crate) fn names(runtime: &Runtime) -> Vec<String> {
    let mcp = runtime.mcp();
    let on = mcp.servers().into_iter().map(|server| server.config().name.clone());
    let off = mcp.switched_off().into_iter().map(|config| config.name);
    on.chain(off).chain(mcp.misread().into_iter().map(|wrong| wrong.name)).collect()
}

/// A failure for a server that does not work.
pub(crate) fn trouble(server: &Server, status: &Status) -> Option<Failure> {
    let name = &server.config().name;
    match status {
        Status::Failed(why) => Some(Failure::failed(format!("MCP server `{name}` does not work: {why}"))),
        Status::NeedsLogin(why) => Some(Failure::Coded(
            NEEDS_LOGIN,
            format!("MCP server `{name}` wants a login ({why}); run `hermes mcp login {name}`"),
        )),
        _ => None,
    }
}
