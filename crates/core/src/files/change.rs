//! Changes to files, as values: what may be asked of an environment, all or nothing.

use std::path::{Path, PathBuf};

use crate::files::Stamp;
use crate::permit::{Permit, Write};

/// One change to one file.
#[derive(Debug, Clone)]
pub enum Change {
    /// Puts content in place of what the file holds; the file and missing folders are made.
    ///
    /// The file is replaced as a whole or not at all; it keeps its mode, its owner and its other names.
    Put {
        /// Permission for the path.
        permit: Permit<Write>,
        /// What the file is to hold.
        content: Content,
        /// What must be there now.
        expect: Expect,
    },
    /// Removes a file.
    Remove {
        /// Permission for the path.
        permit: Permit<Write>,
        /// What must be there now.
        expect: Expect,
    },
    /// Gives a file another name, which must be free.
    Move {
        /// Permission for the name it has.
        from: Permit<Write>,
        /// Permission for the name it gets.
        to: Permit<Write>,
        /// What must be at the old name now.
        expect: Expect,
    },
}

/// What a file is to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Permission bits for a file that is made; without them the user's default holds.
    pub mode: Option<u32>,
}

/// What must be at a path for a change to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Nothing in particular.
    Anything,
    /// Nothing at all.
    Absent,
    /// The file as it was known.
    Is(Stamp),
}

/// What came of one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The path that was changed; for a move the new one.
    pub path: PathBuf,
    /// What the file is known by now; nothing when it was removed.
    pub stamp: Option<Stamp>,
    /// Whether folders had to be made.
    pub dirs_created: bool,
}

impl Change {
    /// The paths it touches.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let (one, two) = match self {
            Self::Put { permit, .. } | Self::Remove { permit, .. } => (permit.path(), None),
            Self::Move { from, to, .. } => (from.path(), Some(to.path())),
        };
        std::iter::once(one).chain(two)
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, mode: None }
    }
}
