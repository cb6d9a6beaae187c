//! Notes that last beyond a session: `memories/MEMORY.md` and `memories/USER.md`.
//!
//! - `entries`: the file as a list, and changes to it; pure
//! - `file`: reading and writing it, with other processes about
//! - `block`: the notes as they go into a system prompt
//!
//! Files are plain text that people may edit: notes, with a line `§` between two of them. A change
//! is made under a lock that all processes share, to what the file says at that moment, and written
//! whole or not at all, so that two writers lose nothing.

mod block;
mod entries;
mod file;

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::host::{Host, blocking};
use hermes_core::memory::{Applied, Change, Memory, MemoryBlocks, MemoryError, Notes, Refused, Target};

use crate::config::MemorySettings;
use crate::home::Home;
use crate::sessions::Clock;
use file::NotesFile;

/// The notes of a home. Nothing is read, and no file is made, before it is used.
#[derive(Clone)]
pub struct HomeMemory {
    files: Arc<Files>,
    host: Arc<dyn Host>,
}

/// One file for each target, where it is switched on.
struct Files {
    memory: Option<NotesFile>,
    user: Option<NotesFile>,
    clock: Arc<dyn Clock>,
}

impl HomeMemory {
    /// The notes of a home as the configuration wants them, on the threads of `host`.
    pub fn new(
        home: &Home,
        settings: &MemorySettings,
        host: &Arc<dyn Host>,
        clock: &Arc<dyn Clock>,
    ) -> HomeMemory {
        let file = |name: &'static str, on: bool, limit: u64| {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            on.then(|| NotesFile::new(home.memories().join(name), name, limit))
        };
        let memory = file("MEMORY.md", settings.memory_enabled, settings.memory_char_limit);
        let user = file("USER.md", settings.user_profile_enabled, settings.user_char_limit);
        HomeMemory {
            files: Arc::new(Files { memory, user, clock: Arc::clone(clock) }),
            host: Arc::clone(host),
        }
    }

    /// Does something with the files on a thread that may block.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Files) -> T + Send + 'static,
    ) -> Result<T, MemoryError> {
        let files = Arc::clone(&self.files);
        let done = blocking(&self.host, move || work(&files)).await;
        done.map_err(|lost| MemoryError::Store(lost.to_string()))
    }

    /// The notes of a target, for code that just waits.
    pub fn notes_now(&self, target: Target) -> Result<Notes, MemoryError> {
        self.files.of(target)?.notes()
    }

    /// What there is to tell a model of both, for code that just waits.
    pub fn blocks_now(&self) -> MemoryBlocks {
        self.files.blocks()
    }

    /// Takes all notes of a target away. What was there is in a copy, whose name comes back; nothing
    /// when there was nothing. For code that just waits.
    pub fn reset(&self, target: Target) -> Result<Option<String>, MemoryError> {
        self.files.of(target)?.reset(self.files.clock.now())
    }
}

impl Files {
    fn of(&self, target: Target) -> Result<&NotesFile, MemoryError> {
        let file = match target {
            Target::Memory => &self.memory,
            Target::User => &self.user,
        };
        file.as_ref().ok_or(MemoryError::Off(target))
    }

    fn blocks(&self) -> MemoryBlocks {
        let of = |file: &Option<NotesFile>, target| {
            file.as_ref().and_then(|file| block::block(target, file.notes()))
        };
        MemoryBlocks { memory: of(&self.memory, Target::Memory), user: of(&self.user, Target::User) }
    }
}

impl Memory for HomeMemory {
    fn notes(&self, target: Target) -> BoxFuture<'_, Result<Notes, MemoryError>> {
        Box::pin(async move { self.with(move |files| files.of(target)?.notes()).await? })
    }

    fn apply(&self, target: Target, changes: Vec<Change>) -> BoxFuture<'_, Result<Applied, Refused>> {
        Box::pin(async move {
            self.with(move |files| files.of(target)?.apply(&changes, files.clock.now())).await?
        })
    }

    fn blocks(&self) -> BoxFuture<'_, MemoryBlocks> {
        Box::pin(async move { self.with(Files::blocks).await.unwrap_or_default() })
    }
}
