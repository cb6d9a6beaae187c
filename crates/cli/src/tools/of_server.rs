//! `SERVER:TOOL` in `hermes tools enable|disable`: one tool of an MCP server. It is switched in the server's own
//! filter, `mcp_servers.SERVER.tools`, and so for every platform.

use hermes::Runtime;
use hermes::core::suggest::suggest;
use hermes::extend::mcp::client::Server;
use hermes::store::config::KeyPath;
use hermes::store::{ConfigFile, StoreError};
use serde_json::{Value, json};

use crate::command::Failure;
use crate::mcp;
use crate::tools::switches::Switch;

/// One tool of a server, switched.
pub(crate) struct ServerSwitch {
    server: String,
    tool: String,
    on: bool,
}

/// Whether a name is that of a server's tool. What is known as it stands is that.
pub(crate) fn is_meant(runtime: &Runtime, name: &str) -> bool {
    name.contains(':') && runtime.tools().catalog().resolve(name).is_err()
}

impl ServerSwitch {
    /// What a switch means, unless there is no such server or tool.
    pub(crate) fn of(runtime: &Runtime, switch: &Switch) -> Result<Self, Failure> {
        let (server, tool) = parts(&mcp::names(runtime), &switch.name);
        let server = mcp::server(runtime, server)?;
        check(runtime, &server, tool)?;
        Ok(Self { server: server.config().name.clone(), tool: tool.to_owned(), on: switch.on })
    }

    /// Writes it down. Where it is said which tools are taken, only that counts.
    pub(crate) fn write(&self, file: &mut ConfigFile) -> Result<(), StoreError> {
        let list = |key: &str| KeyPath::new(["mcp_servers", &self.server, "tools", key]);
        let filter = KeyPath::new(["mcp_servers", &self.server, "tools"]);
        let (Some(filter), Some(include), Some(exclude)) = (filter, list("include"), list("exclude")) else {
            return Ok(());
        };
        // A filter with nothing behind it takes none, as an empty `include` does.
        let included = file.get(&include)?.is_some() || file.get(&filter)? == Some(Value::Null);
        let (list, names_it) = if included { (include, self.on) } else { (exclude, !self.on) };
        if let Some(Value::String(only)) = file.get(&list)? {
            let as_before = (only == self.tool) == names_it;
            if as_before {
                return Ok(());
            }
            file.set(&list, &json!([only]))?;
        }
        if names_it { file.add_to_list(&list, &self.tool) } else { file.remove_from_list(&list, &self.tool) }
            .map(drop)
    }
}

/// The server and the tool of a name. Names of servers may have colons, too.
fn parts<'a>(servers: &[String], name: &'a str) -> (&'a str, &'a str) {
    let of = |server: &String| name.strip_prefix(server.as_str())?.strip_prefix(':');
    let tool = servers.iter().filter_map(of).min_by_key(|tool| tool.len());
    let split = tool.and_then(|tool| Some((name.strip_suffix(tool)?.strip_suffix(':')?, tool)));
    split.or_else(|| name.split_once(':')).unwrap_or((name, ""))
}

/// Whether the server has such a tool, or its filter mentions it: names of tools that are gone can be cleared.
fn check(runtime: &Runtime, server: &Server, tool: &str) -> Result<(), Failure> {
    let filter = &server.config().filter;
    if filter.include.iter().flatten().chain(&filter.exclude).any(|name| name == tool) {
        return Ok(());
    }
    if !server.is_known() {
        let status = runtime.mcp().start_blocking(server);
        if let Some(failure) = mcp::trouble(server, &status) {
            return Err(failure);
        }
    }
    let known = server.known();
    let mut names = known.tools.iter().map(|tool| tool.name.as_str());
    if names.clone().any(|name| name == tool) {
        return Ok(());
    }
    let (name, near) = (&server.config().name, suggest(tool, &mut names, 3));
    Err(Failure::usage(match near.as_slice() {
        [] => format!("MCP server `{name}` has no tool `{tool}`; `hermes mcp tools {name}` shows all"),
        near => format!("MCP server `{name}` has no tool `{tool}`; did you mean `{}`?", near.join("` or `")),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_split_behind_the_server_that_there_is() {
        let servers = ["a", "a:b", "x"].map(str::to_owned);

        assert_eq!(parts(&servers, "a:t"), ("a", "t"));
        assert_eq!(parts(&servers, "a:b:t"), ("a:b", "t"));
        assert_eq!(parts(&servers, "a:c:t"), ("a", "c:t"));
        assert_eq!(parts(&servers, "nobody:t"), ("nobody", "t"));
    }
}
