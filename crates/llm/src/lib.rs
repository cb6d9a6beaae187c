//! Models: the wires they are reached by, the providers that serve them, and the mending of what
//! they emit.
//!
//! | what | where |
//! |---|---|
//! | who serves models | [`providers`], one file each; [`provider`] says what such a file holds |
//! | which one is meant | [`select`]: flags, settings, environment → [`Endpoint`] |
//! | what is there | [`local`]: servers on this machine; [`catalog`]: the models of an endpoint |
//! | asking | [`HttpModel`] over `hermes_net::Http` |
//! | requests and answers | `wires`: pure, one pair of files per language |
//! | mending | `repair`: calls written as text, thoughts between tags, repeated ids |
//! | failures | `errors`, `retry_after`, `adapt` |
//! | without any network | [`Offline`] |

mod adapt;
pub mod catalog;
mod endpoint;
mod errors;
mod lenient;
pub mod local;
mod model;
mod offline;
mod prepare;
pub mod provider;
pub mod providers;
mod repair;
mod retry_after;
mod secret;
pub mod select;
mod tools_json;
mod wires;

pub use endpoint::{CacheTtl, Endpoint, is_local, wire_of};
pub use model::HttpModel;
pub use offline::{OFFLINE_NAME, Offline};
pub use provider::{ModelDef, ProviderDef, Wire};
pub use secret::Secret;

/// The body that a request is sent with, for whoever wants to see or measure it.
pub fn request_body(endpoint: &Endpoint, request: &hermes_core::model::ModelRequest) -> String {
    let lessons = adapt::Lessons::default();
    let tools = wires::tools(endpoint.wire, &request.tools, lessons);
    wires::body(endpoint, request, tools.as_deref(), lessons)
}
