//! A whole file at once, bounded.

use std::fs::{Metadata, Permissions};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use hermes_core::files::{FileError, WholeFile};

use super::open::{refuse_special, unreadable};
use super::spot::{Missing, Spot, stamp};

/// Reads everything in a regular file, if that is not too much.
pub(super) fn read_whole(path: &Path, max_bytes: u64) -> Result<WholeFile, FileError> {
    refuse_special(path)?;
    let spot = Spot::of(path, Missing::Leave)?;
    // Looking first keeps devices from being opened at all.
    spot.look()?;
    read_spot(&spot, max_bytes)
}

/// The same for a name whose folder is open already.
pub(super) fn read_spot(spot: &Spot, max_bytes: u64) -> Result<WholeFile, FileError> {
    let path = spot.path.as_path();
    let failed = |error: &std::io::Error| unreadable(path, &error.to_string());
    let mut file = spot.read()?;
    let metadata = file.metadata().map_err(|error| failed(&error))?;
    if !metadata.is_file() {
        return Err(FileError::NotRegular(path.to_path_buf()));
    }
    let too_large = |size| FileError::TooLarge { path: path.to_path_buf(), size, limit: max_bytes };
    if metadata.len() > max_bytes {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    let read = (&mut file).take(max_bytes.saturating_add(1)).read_to_end(&mut bytes);
    let read = read.map_err(|error| failed(&error))? as u64;
    if read > max_bytes {
        return Err(too_large(read));
    }
    Ok(WholeFile { bytes, stamp: stamp(&metadata), mode: Some(mode(&metadata)) })
}

/// The permission bits.
pub(super) fn mode(metadata: &Metadata) -> u32 {
    Permissions::mode(&metadata.permissions()) & 0o7777
}
