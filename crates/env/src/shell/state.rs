//! What a session's shell knows between two commands.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::environment::ShellState;

use crate::shell::dump::Dump;
use crate::shell::folder::{Folder, TempFile};

/// Variables as they are handed to the next shell, and a file with the rest.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) rest: Option<Arc<Rest>>,
}

/// Functions and aliases, as a script in a file.
#[derive(Debug)]
pub(crate) struct Rest {
    text: Vec<u8>,
    pub(crate) file: TempFile,
}

/// What the user's start-up files said, shared by all sessions of an environment.
#[derive(Debug, Default)]
pub(crate) struct Login(Mutex<Start>);

#[derive(Debug, Default, Clone)]
pub(crate) enum Start {
    /// Nobody has read them yet.
    #[default]
    Unread,
    Read(Arc<Known>),
    /// They are not wanted, or do not come to an end.
    Without,
}

impl Known {
    /// Turns a dump into state; a file that says the same as `before` is used again.
    pub(crate) fn from(dump: Dump, before: Option<&Arc<Self>>, folder: &Arc<Folder>) -> Arc<Self> {
        let old = before.and_then(|known| known.rest.clone());
        let rest = if dump.rest.is_empty() {
            None
        } else if let Some(old) = old.filter(|old| old.text == dump.rest) {
            Some(old)
        } else {
            let file = folder.file();
            // Without the file the next shell lacks its functions; it still has its variables.
            file.write(&dump.rest).is_ok().then(|| Arc::new(Rest { text: dump.rest, file }))
        };
        Arc::new(Self { variables: dump.variables, rest })
    }

    /// The functions and aliases as text.
    pub(crate) fn rest_text(&self) -> &[u8] {
        self.rest.as_ref().map_or(&[], |rest| rest.text.as_slice())
    }

    pub(crate) fn wrapped(self: Arc<Self>) -> ShellState {
        ShellState::new(self)
    }
}

impl Login {
    pub(crate) fn now(&self) -> Start {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, start: Start) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = start;
    }
}
