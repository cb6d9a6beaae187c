//! The tools that speak to services, through the whole runtime: against doubles made from what the
//! services publish, each tried with the service's own client too, and a real Home Assistant.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests start servers, look at files and the environment, and stop where something is wrong"
)]

mod discord;
mod feishu;
mod homeassistant;
mod policy;
mod spotify;
mod support;
mod x_search;
mod yuanbao;
