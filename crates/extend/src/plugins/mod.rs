//! Plugins, and what they have in common with tool files.
//!
//! | file | what |
//! |---|---|
//! | `manifest.rs` | `plugin.yaml` |
//! | `start.rs` | a plugin as a process of its own, in Python or in any language |
//! | `offer.rs` | what a foreign program offers |
//! | `subject.rs` | one file or plugin inside of a process |
//! | `entry.rs` | an offered tool as an entry of the registry |
//! | `hook.rs`, `said.rs` | its hooks as one hook of the road, and what they answer |
//! | `unheard.rs` | what it was not told yet |
//! | `desk.rs` | what foreign programs may ask of us |

pub mod desk;
pub mod entry;
pub mod hook;
pub mod manifest;
pub mod offer;
mod said;
pub mod start;
pub mod subject;
mod unheard;
