//! Which skills of projects somebody has accepted, by the digest of everything in their folder; and which
//! words about their categories, by the digest of the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hermes_core::hex::hex;
use hermes_core::skills::SkillError;
use sha2::{Digest, Sha256};

use super::view::store;
use crate::beneath::{Beneath, ItemKind};
use crate::disk::{self, Mode};

const FILE: &str = ".trusted.json";
/// Largest list of accepted skills.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Largest file of a skill, and most of all its files together.
const MAX_FILE: u64 = 1024 * 1024;
const MAX_ALL: u64 = 16 * 1024 * 1024;
/// Most files of a skill.
const MAX_FILES: usize = 1_000;
/// How deep files may lie.
const MAX_DEPTH: usize = 10;

/// Digests by folder, or by file.
#[derive(Debug, Default)]
pub(super) struct Trusted(BTreeMap<String, String>);

impl Trusted {
    /// Reads the list of a skills folder; one that cannot be read trusts nobody.
    pub(super) fn read(skills: &Path) -> Self {
        Self::understood(skills).unwrap_or_default()
    }

    /// The same, or why it cannot be read.
    fn understood(skills: &Path) -> Result<Self, String> {
        let file = skills.join(FILE);
        let why = match disk::read(&file, MAX_BYTES) {
            Ok(None) => return Ok(Self::default()),
            Ok(Some(text)) => match serde_json::from_str(&text) {
                Ok(list) => return Ok(Self(list)),
                Err(wrong) => format!("{}: {wrong}", file.display()),
            },
            Err(wrong) => wrong.to_string(),
        };
        Err(format!(
            "the list of skills that were accepted cannot be understood: {why}; mend that file or move it away, and \
             accept again"
        ))
    }

    /// Whether the skill was accepted as it is now.
    pub(super) fn knows(&self, root: &Beneath, folder: &Path) -> bool {
        let accepted = self.0.get(&key(&root.path().join(folder)));
        accepted.is_some_and(|accepted| digest(root, folder).as_ref() == Ok(accepted))
    }

    /// Whether a file that belongs to no skill was accepted as it is now.
    pub(super) fn knows_file(&self, root: &Beneath, file: &Path) -> bool {
        let accepted = self.0.get(&key(&root.path().join(file)));
        accepted.is_some_and(|accepted| file_digest(root, file).as_ref() == Some(accepted))
    }
}

/// The list, and why it cannot be used, if so.
pub(super) fn problem(skills: &Path) -> Option<(PathBuf, String)> {
    Some((skills.join(FILE), Trusted::understood(skills).err()?))
}

/// What became of a skill that was to be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The skill's name.
    pub name: String,
    /// Why it was not, in words; nothing when it was.
    pub refused: Option<String>,
}

/// Accepts these skills as they are now, where that can be said of them, and these files beside them; gives for
/// each skill why not.
pub(super) fn accept(
    skills: &Path,
    root: &Beneath,
    folders: &[PathBuf],
    files: &[PathBuf],
) -> Result<Vec<Option<String>>, SkillError> {
    let file = skills.join(FILE);
    let _lock = disk::lock(&file).map_err(store)?;
    // Written anew, a list that is not understood would lose what other projects have accepted.
    let mut list = Trusted::understood(skills).map_err(SkillError::Store)?.0;
    let mut refused = Vec::new();
    for folder in folders {
        let key = key(&root.path().join(folder));
        refused.push(match digest(root, folder) {
            Ok(digest) => {
                list.insert(key, digest);
                None
            }
            Err(why) => {
                list.remove(&key);
                Some(why)
            }
        });
    }
    for file in files {
        let key = key(&root.path().join(file));
        match file_digest(root, file) {
            Some(digest) => list.insert(key, digest),
            None => list.remove(&key),
        };
    }
    let text = serde_json::to_string_pretty(&list).unwrap_or_default();
    disk::write(&file, &text, Mode::Private).map_err(store)?;
    Ok(refused)
}

fn key(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The digest of a folder's names and contents; why it has none, when it is too large or holds a link.
pub(super) fn digest(root: &Beneath, folder: &Path) -> Result<String, String> {
    let mut sum = Sha256::new();
    let mut left = (MAX_FILES, MAX_ALL);
    add(root, folder, Path::new(""), 0, &mut sum, &mut left)?;
    Ok(hex(&sum.finalize()))
}

/// The digest of one file; nothing when it is none, or is too large.
fn file_digest(root: &Beneath, file: &Path) -> Option<String> {
    let bytes = root.read(file, MAX_FILE).ok()??;
    Some(hex(&Sha256::digest(&bytes)))
}

fn add(
    root: &Beneath,
    folder: &Path,
    below: &Path,
    depth: usize,
    sum: &mut Sha256,
    left: &mut (usize, u64),
) -> Result<(), String> {
    let too_much = || format!("it has more than {MAX_FILES} files or {MAX_ALL} bytes");
    if depth > MAX_DEPTH {
        return Err(format!("{} lies too deep", below.display()));
    }
    for item in root.list(&folder.join(below)).map_err(|wrong| wrong.to_string())? {
        let path = below.join(&item.name);
        if !item.is_text() {
            return Err(format!("it holds a name that is not text: {}", path.display()));
        }
        match item.kind {
            ItemKind::Folder => add(root, folder, &path, depth + 1, sum, left)?,
            ItemKind::File if item.bytes > MAX_FILE => {
                return Err(format!("{} is larger than {MAX_FILE} bytes", path.display()));
            }
            ItemKind::File => {
                let read = root.read(&folder.join(&path), MAX_FILE).map_err(|wrong| wrong.to_string())?;
                let bytes = read.ok_or_else(|| format!("{} is gone", path.display()))?;
                left.0 = left.0.checked_sub(1).ok_or_else(too_much)?;
                left.1 = left.1.checked_sub(bytes.len() as u64).ok_or_else(too_much)?;
                let name = path.to_string_lossy();
                // Lengths stand before what they measure, so that no two folders look alike.
                sum.update((name.len() as u64).to_le_bytes());
                sum.update(name.as_bytes());
                sum.update((bytes.len() as u64).to_le_bytes());
                sum.update([u8::from(item.runs)]);
                sum.update(&bytes);
            }
            ItemKind::Link => return Err(format!("{} is a link, which may lead anywhere", path.display())),
            ItemKind::Other => return Err(format!("{} is neither a file nor a folder", path.display())),
        }
    }
    Ok(())
}
