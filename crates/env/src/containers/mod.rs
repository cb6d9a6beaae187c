//! Containers of docker and podman: what both backends share.
//!
//! | file | what |
//! |---|---|
//! | `settings.rs` | what can be set, and what follows from it |
//! | `arguments.rs` | the words a container is made with |
//! | `engine.rs` | the engine's client, and what it says |
//! | `pulling.rs` | what an engine says while it fetches an image |
//! | `paths.rs` | by which path the engine knows a folder of ours |
//! | `shares.rs` | what a container shares with this machine, and what outlives it |
//! | `kept.rs` | folders of this machine that outlive a container |
//! | `making.rs` | a container is made |
//! | `container.rs` | the one container of a place: found again, started, let go of |

mod arguments;
mod container;
mod engine;
mod kept;
mod making;
mod paths;
mod pulling;
mod settings;
mod shares;

use engine::Engine;

pub(crate) use settings::{Containers, Docker, Podman};
