//! Containers of docker and podman: what both backends share.
//!
//! | file | what |
//! |---|---|
//! | `settings.rs` | what can be set, and what follows from it |
//! | `arguments.rs` | the words a container is made with |
//! | `engine.rs` | the engine's client, and what it says |
//! | `pulling.rs` | what an engine says while it fetches an image |
//! | `kept.rs` | folders of this machine that outlive a container |
//! | `container.rs` | the one container of a place: found again, made, started, let go of |

mod arguments;
mod container;
mod engine;
mod kept;
mod pulling;
mod settings;

use engine::Engine;

pub(crate) use settings::{Containers, Docker, Podman};
