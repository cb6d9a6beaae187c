//! Which tools a session has, and why.
//!
//! ```text
//!  toolsets of files, plugins, MCP servers      configuration, command line
//!                   │                                      │
//!                Catalog ◄────── platform_selection ───────┤
//!                   │                    │                 │
//!                   │                Selection ◄───────────┘
//!                   └───────► decide ◄───┘
//!                               ├──► Plan         the tools, sealed
//!                               └──► Explanation  why each is in or out
//! ```
//!
//! All of it is pure: the same catalog and selection give the same plan.
//!
//! What a name in a list means, in this order:
//! 1. `all` and `*` are everything.
//! 2. A toolset: what its file says, what a plugin adds to it, and the tools registered under
//!    its name. A name that only registered tools mention is a toolset as well, and so is
//!    `hermes-<platform>` for a platform of a plugin: the core tools and the platform's own.
//! 3. An alias. MCP server `S` brings toolset `mcp-S` and the alias `S`, so a server called
//!    like a toolset is reached as `mcp-S` only.
//! 4. An old name, which stands for a fixed list of tools.
//! 5. A tool.
//!
//! Anything else is an error that offers the names that come near, in what is enabled and in
//! what is disabled alike: a typo never changes what a session may do. What is not registered
//! is left out and told as missing.

mod catalog;
mod decide;
mod def;
mod error;
mod explain;
mod plan;
mod platform;
mod resolve;
mod selection;
mod suggest;
mod switch;

#[cfg(test)]
mod tests;

pub use catalog::{Catalog, CatalogParts, DynamicToolset};
pub use def::{Legacy, Toolset};
pub use error::SelectionError;
pub use explain::{Explanation, Story, Verdict, explain};
pub use plan::{Lacking, Plan, PlanKey};
pub use platform::{PlatformSettings, platform_selection};
pub use resolve::{Member, Resolution};
pub use selection::{McpServers, Selection, Withheld, WithheldWhy};
pub use suggest::UnknownName;
pub use switch::PlatformLists;
