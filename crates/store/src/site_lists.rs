//! Lists of sites that the settings name: text files of the person's own, wherever they lie. Others may
//! change them at any time, so whoever reads one looks at its stamp first.

use std::path::Path;

use crate::disk;
use crate::error::StoreError;

pub use crate::disk::Stamp;

/// Largest list: a million hosts and more.
const MAX_LIST: u64 = 32 * 1024 * 1024;

/// Changes when the file does; `None` if there is none.
pub fn stamp(path: &Path) -> Option<Stamp> {
    disk::stamp(path)
}

/// What the list says; `None` if there is none.
pub fn text(path: &Path) -> Result<Option<String>, StoreError> {
    disk::read(path, MAX_LIST)
}
