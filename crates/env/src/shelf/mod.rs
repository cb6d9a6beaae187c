//! Files of this machine that far places are given: skills, credential files, what tools have made.
//!
//! They lie below `.hermes` in the home there, and are to be read, not changed. A place that can mount
//! gets a mirror of them, which lies on this machine; to any other they are sent. What is changed there
//! all the same comes back into a folder of its own and never to where it came from.
//!
//! | file | what |
//! |---|---|
//! | `look.rs` | what there is, within bounds; links are followed as far as they stay inside |
//! | `manifest.rs` | what a place was given, in lines |
//! | `archive.rs` | files as `tar` reads them |
//! | `mirror.rs` | the mirror |
//! | `put.rs` | a file that takes its place whole |
//! | `returned.rs` | what came back |

mod archive;
mod look;
mod manifest;
mod mirror;
mod put;
mod returned;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use archive::{Entry, archive};
pub(crate) use look::{Listed, Listing, look, read};
pub(crate) use manifest::{Manifest, SENT};
pub(crate) use mirror::mirror;
pub(crate) use returned::{Arrived, arrived, keep, safe};

/// What far places are given, and where what comes back from them is put.
#[derive(Clone)]
pub struct Shelf {
    /// What there is to give. It is asked again now and then, since skills come and go.
    pub items: Arc<dyn Fn() -> Vec<Item> + Send + Sync>,
    /// Folder of this machine for the mirror; it is made when it is needed.
    pub mirror: PathBuf,
    /// Folder of this machine for what places have changed.
    pub returned: PathBuf,
    /// How long what was looked at counts, before it is looked at again.
    pub fresh: Duration,
}

/// A file, or a folder with everything in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Where it is on this machine.
    pub from: PathBuf,
    /// Its path below `.hermes` in the home there.
    pub below: String,
    /// Whether it holds something that nobody else may see. It never comes back.
    pub secret: bool,
    /// A folder of this machine in which it must lie, at that path and by no link.
    pub within: Option<PathBuf>,
}
