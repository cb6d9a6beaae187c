//! A mirror of what is given, on this machine, for places that mount it.
//!
//! The folder itself stays, so that a place which has mounted it sees every change. Files are replaced
//! whole, and the manifest is written last.

#![expect(clippy::disallowed_methods, reason = "the mirror is ours to write")]

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use super::put::put;
use super::{Listing, Manifest, read};
use crate::process::secret_word;

/// Makes the mirror show this and nothing else; the mark it is known by. `name` is that of its manifest.
pub(crate) fn mirror(folder: &Path, name: &str, listing: &Listing) -> io::Result<String> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let before = Manifest::read(&fs::read_to_string(folder.join(name)).unwrap_or_default());
    let mark = if before.how.is_empty() { secret_word() } else { before.how.clone() };
    let mut now = Manifest::of(&mark, listing);
    let difference = before.to(&now);
    for path in difference.changed {
        let written = listing.files.get(&path).and_then(|listed| Some((listed.mode, read(listed)?)));
        match written {
            Some((mode, bytes)) => put(&folder.join(&path), mode, &bytes)?,
            // It went while we looked.
            None => drop(now.files.remove(&path)),
        }
    }
    for path in &difference.gone {
        remove(folder, Path::new(path));
    }
    if now != before {
        put(&folder.join(name), 0o400, now.text().as_bytes())?;
    }
    Ok(mark)
}

/// Removes a file, and the folders that are empty then.
fn remove(folder: &Path, path: &Path) {
    // What is not there need not be removed.
    let _ = fs::remove_file(folder.join(path));
    for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
        if fs::remove_dir(folder.join(above)).is_err() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;
    use crate::shelf::{Item, look};

    #[test]
    fn a_mirror_follows_what_it_shows_and_touches_only_what_changed() {
        let dir = tempfile::tempdir().unwrap();
        let (skills, folder) = (dir.path().join("skills"), dir.path().join("mirror"));
        fs::create_dir_all(skills.join("old")).unwrap();
        fs::write(skills.join("old/SKILL.md"), "old").unwrap();
        fs::write(skills.join("stays"), "stays").unwrap();
        let items = [Item { from: skills.clone(), below: "skills".to_owned(), secret: false, within: None }];
        let mark = mirror(&folder, ".m", &look(&items)).unwrap();
        let number = |path: &str| fs::metadata(folder.join(path)).unwrap().ino();
        let (kept, own) = (number("skills/stays"), number(""));

        fs::remove_dir_all(skills.join("old")).unwrap();
        fs::create_dir(skills.join("new")).unwrap();
        fs::write(skills.join("new/SKILL.md"), "new").unwrap();
        assert_eq!(mirror(&folder, ".m", &look(&items)).unwrap(), mark);

        assert_eq!(fs::read_to_string(folder.join("skills/new/SKILL.md")).unwrap(), "new");
        assert!(!folder.join("skills/old").exists());
        assert_eq!((number("skills/stays"), number("")), (kept, own));
        let mode = fs::metadata(folder.join("skills/stays")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o444);
        let manifest = Manifest::read(&fs::read_to_string(folder.join(".m")).unwrap());
        assert_eq!((manifest.how, manifest.files.len()), (mark, 2));
    }
}
