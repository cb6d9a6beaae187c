//! Large results, kept in memory.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use hermes_core::road::Spill;

use crate::lock;

/// Remembers what was too large.
#[derive(Default)]
pub struct MemorySpill {
    kept: Mutex<Vec<(PathBuf, String)>>,
}

impl MemorySpill {
    /// Empty.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Everything kept so far, with the path that was given out for it.
    pub fn kept(&self) -> Vec<(PathBuf, String)> {
        lock(&self.kept).clone()
    }
}

impl Spill for MemorySpill {
    fn keep<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        text: String,
    ) -> BoxFuture<'a, Result<PathBuf, String>> {
        let path = PathBuf::from(format!("/spill/{session}/{id}.txt"));
        lock(&self.kept).push((path.clone(), text));
        Box::pin(std::future::ready(Ok(path)))
    }
}
