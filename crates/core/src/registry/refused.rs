//! What a registry does not take, and why.

use super::Source;
use crate::names::OF_SERVERS;

/// Why a scope was refused. Nothing of it was installed, but for one that comes in parts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name cannot be used on the wire.
    #[error("`{name}` ({source_name}) is not a tool name: use 1 to 64 letters, digits, `_` or `-`")]
    BadName {
        /// The name.
        name: String,
        /// Who wanted it.
        source_name: Source,
    },
    /// The name belongs to the search bridge.
    #[error("`{name}` ({source_name}) is a reserved name")]
    Reserved {
        /// The name.
        name: String,
        /// Who wanted it.
        source_name: Source,
    },
    /// The name is one of an MCP server's tool, and this is none.
    #[error(
        "`{name}` ({source_name}) begins with `{OF_SERVERS}`, as only the tools of MCP servers do; choose another name"
    )]
    OfServers {
        /// The name.
        name: String,
        /// Who wanted it.
        source_name: Source,
    },
    /// Two tools of one source have the same name.
    #[error("{source_name} registers `{name}` twice")]
    Twice {
        /// The name.
        name: String,
        /// Who did.
        source_name: Source,
    },
    /// Another source has the name.
    #[error(
        "`{name}` of {source_name} would shadow the one of {owner} (toolset `{owner_toolset}`); \
         choose another name, or ask for an override"
    )]
    Taken {
        /// The name.
        name: String,
        /// Who wanted it.
        source_name: Source,
        /// Who has it.
        owner: Source,
        /// The toolset it is in.
        owner_toolset: String,
    },
    /// Some tools of a scope that may come in parts were refused. The rest of it is installed.
    #[error("{}", listed(.0))]
    InPart(Vec<RegisterError>),
}

fn listed(refused: &[RegisterError]) -> String {
    refused.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
