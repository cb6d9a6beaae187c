//! All operations of a patch, in order, on texts in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::hunk::Patched;
use super::{Hunk, Op, PatchError};

/// A file's text, and which file it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doc {
    /// What it holds.
    pub text: String,
    /// Where it was before the patch; nothing for a file that the patch makes.
    pub from: Option<PathBuf>,
}

/// What is at each path; nothing where there is no file.
pub type Docs = BTreeMap<PathBuf, Option<Doc>>;

/// Applies operations one after another: each sees what those before it did.
///
/// Every path of the patch must be in `docs` under the path that `locate` gives for it.
pub fn apply(ops: &[Op], docs: &mut Docs, locate: &dyn Fn(&str) -> PathBuf) -> Result<(), PatchError> {
    for op in ops {
        match op {
            Op::Add { path, text } => {
                let spot = docs.entry(locate(path)).or_default();
                if spot.is_some() {
                    return Err(PatchError::file(
                        path,
                        "it exists already; use `*** Update File:` to change it",
                    ));
                }
                *spot = Some(Doc { text: text.clone(), from: None });
            }
            Op::Delete { path } => drop(taken(docs, path, &locate(path))?),
            Op::Update { path, to, hunks } => update(docs, path, to.as_deref(), hunks, locate)?,
        }
    }
    Ok(())
}

fn update(
    docs: &mut Docs,
    path: &str,
    to: Option<&str>,
    hunks: &[Hunk],
    locate: &dyn Fn(&str) -> PathBuf,
) -> Result<(), PatchError> {
    let place = locate(path);
    let doc = taken(docs, path, &place)?;
    let target = to.map_or_else(|| place.clone(), locate);
    if target != place && docs.get(&target).is_some_and(Option::is_some) {
        return Err(PatchError::file(to.unwrap_or(path), "it exists already; nothing can be moved there"));
    }
    let mut patched = Patched::new(&doc.text);
    for (hunk, number) in hunks.iter().zip(1..) {
        patched.put(hunk).map_err(|why| {
            let which = if hunks.len() > 1 { format!("hunk {number}: {why}") } else { why };
            PatchError::file(path, which)
        })?;
    }
    if patched.text == doc.text && target == place {
        return Err(PatchError::file(path, "the patch would leave it as it is"));
    }
    docs.insert(target, Some(Doc { text: patched.text.into_owned(), from: doc.from }));
    Ok(())
}

fn taken(docs: &mut Docs, path: &str, place: &Path) -> Result<Doc, PatchError> {
    let doc = docs.get_mut(place).and_then(Option::take);
    doc.ok_or_else(|| PatchError::file(path, "there is no such file"))
}
