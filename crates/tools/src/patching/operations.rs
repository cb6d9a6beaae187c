//! A patch over several files: everything is tried in memory, then written all or nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hermes_core::cx::ToolCx;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::files::{Change, Content, Expect, FileError, WholeFile};
use serde_json::{Map, Value, json};

use super::{encoded, encoding_note, failed, known, succeeded};
use crate::diff::unified;
use crate::edited::{Extent, MAX_EDIT, note, outside, remember, shown, stale};
use crate::lint::lint;
use crate::text_file::{Encoding, TextFile};
use crate::v4a::{self, Doc, Docs, Op, PatchError};

/// Applies a patch text, or says why not.
pub(crate) async fn apply(cx: &ToolCx, patch: &str) -> ToolResult {
    let ops = v4a::parse(patch).map_err(|wrong| ToolError::Failed(wrong.to_string()))?;
    let disk = Disk::read(cx, &ops).await?;
    let mut docs = disk.docs();
    if let Err(wrong) = v4a::apply(&ops, &mut docs, &|path| disk.locate(path)) {
        return Ok(refused(cx, &disk, &wrong));
    }
    let outcome = disk.compare(docs);
    let (changes, mut warnings) = outcome.changes(cx, &disk)?;
    if changes.is_empty() {
        return Err(ToolError::Failed("the patch would leave everything as it is".to_owned()));
    }
    warnings.extend(ops.iter().flat_map(Op::paths).filter_map(|path| outside(cx, path)));
    for (path, before) in &disk.files {
        let stamp = before.as_ref().map(|before| before.file.stamp);
        warnings.extend(stamp.and_then(|stamp| stale(cx, path, stamp, Extent::Part)));
    }
    let applied = cx.files().change(changes).await?;
    let seen = applied.changed.iter().filter(|change| {
        change.stamp.is_none() || known(cx, &change.path) || outcome.created.contains(&change.path)
    });
    remember(cx, &seen.cloned().collect::<Vec<_>>());
    disk.files.keys().for_each(|path| succeeded(cx, path));
    warnings.extend(applied.not_kept);
    warnings.dedup();
    Ok(outcome.answer(&disk, &warnings))
}

fn refused(cx: &ToolCx, disk: &Disk, wrong: &PatchError) -> Value {
    let why = match wrong {
        PatchError::File { path, .. } => failed(cx, &disk.locate(path), &wrong.to_string()),
        PatchError::Syntax(_) => wrong.to_string(),
    };
    json!({
        "success": false,
        "error": why,
        "_hint": "nothing was changed in any file; mend the patch and send all of it again",
    })
}

/// The files a patch names, as they are before it.
struct Disk {
    /// Where each path of the patch leads.
    places: BTreeMap<String, PathBuf>,
    files: BTreeMap<PathBuf, Option<Before>>,
}

struct Before {
    file: WholeFile,
    text: String,
    encoding: Encoding,
}

impl Disk {
    async fn read(cx: &ToolCx, ops: &[Op]) -> Result<Self, ToolError> {
        let mut disk = Self { places: BTreeMap::new(), files: BTreeMap::new() };
        let changed: BTreeSet<&str> =
            ops.iter().filter(|op| !matches!(op, Op::Delete { .. })).flat_map(Op::paths).collect();
        for path in ops.iter().flat_map(Op::paths) {
            let place = cx.files().real_path(path);
            disk.places.insert(path.to_owned(), place.clone());
            if disk.files.contains_key(&place) {
                continue;
            }
            let before = match cx.files().whole(&place, MAX_EDIT).await {
                Err(ToolError::File(FileError::Missing { .. })) => None,
                Err(other) => return Err(other),
                Ok(mut file) => Some(match TextFile::decode(std::mem::take(&mut file.bytes)) {
                    Some(decoded) => Before { file, text: decoded.text, encoding: decoded.encoding },
                    // What is only removed need not be text.
                    None if !changed.contains(path) => {
                        Before { file, text: String::new(), encoding: Encoding::Utf8 { mark: false } }
                    }
                    None => return Err(ToolError::Failed(format!("{path} is not a text file"))),
                }),
            };
            disk.files.insert(place, before);
        }
        Ok(disk)
    }

    fn locate(&self, path: &str) -> PathBuf {
        self.places.get(path).cloned().unwrap_or_else(|| PathBuf::from(path))
    }

    fn docs(&self) -> Docs {
        let doc = |(path, before): (&PathBuf, &Option<Before>)| {
            let doc = before.as_ref().map(|it| Doc { text: it.text.clone(), from: Some(path.clone()) });
            (path.clone(), doc)
        };
        self.files.iter().map(doc).collect()
    }

    fn before(&self, path: &Path) -> Option<&Before> {
        self.files.get(path)?.as_ref()
    }

    fn compare(&self, docs: Docs) -> Outcome {
        let mut outcome = Outcome::default();
        for (path, doc) in docs {
            match (self.before(&path), doc) {
                (None, None) => {}
                (Some(_), None) => {
                    outcome.deleted.insert(path);
                }
                (before, Some(doc)) => {
                    let moved = doc.from.as_ref().filter(|from| **from != path);
                    if let Some(from) = moved {
                        outcome.moves.insert(path.clone(), from.clone());
                    }
                    let origin = doc.from.as_ref().and_then(|from| self.before(from));
                    if moved.is_some() || origin.is_none_or(|origin| origin.text != doc.text) {
                        let list =
                            if before.is_some() { &mut outcome.modified } else { &mut outcome.created };
                        list.insert(path.clone());
                    }
                    outcome.texts.insert(path, doc.text);
                }
            }
        }
        outcome
    }

    fn named(&self, path: &Path) -> String {
        let named = self.places.iter().find(|(_, place)| *place == path);
        named.map_or_else(|| shown(path), |(name, _)| name.clone())
    }
}

/// What a patch comes to.
#[derive(Default)]
struct Outcome {
    modified: BTreeSet<PathBuf>,
    created: BTreeSet<PathBuf>,
    deleted: BTreeSet<PathBuf>,
    /// New path to old path.
    moves: BTreeMap<PathBuf, PathBuf>,
    texts: BTreeMap<PathBuf, String>,
}

impl Outcome {
    /// The changes on disk, in an order in which each can be made.
    fn changes(&self, cx: &ToolCx, disk: &Disk) -> Result<(Vec<Change>, Vec<String>), ToolError> {
        let expect = |path: &Path| disk.before(path).map_or(Expect::Absent, |it| Expect::Is(it.file.stamp));
        let renames = self.renames(disk);
        let moved: BTreeSet<&PathBuf> = renames.iter().map(|(_, from)| *from).collect();
        let mut changes = Vec::new();
        let mut warnings = Vec::new();
        for path in self.deleted.iter().filter(|path| !moved.contains(path)) {
            changes.push(Change::Remove { permit: cx.may_write(path)?, expect: expect(path) });
        }
        let in_place: BTreeSet<&PathBuf> = renames.iter().map(|(to, _)| *to).collect();
        for (to, from) in renames {
            let (from_permit, to_permit) = (cx.may_write(from)?, cx.may_write(to)?);
            changes.push(Change::Move { from: from_permit, to: to_permit, expect: expect(from) });
        }
        for path in self.modified.union(&self.created) {
            let origin = self.moves.get(path).unwrap_or(path);
            let (text, before) = (self.texts.get(path).map_or("", String::as_str), disk.before(origin));
            let same = before.is_some_and(|before| before.text == text);
            if same && in_place.contains(path) {
                continue;
            }
            let encoding = before.map_or(Encoding::Utf8 { mark: false }, |before| before.encoding);
            let bytes = encoded(path, encoding, text).map_err(ToolError::Failed)?;
            warnings.extend(encoding_note(path, encoding, text).filter(|_| !same));
            let expect = if in_place.contains(path) { Expect::Anything } else { expect(path) };
            let content = Content { bytes, mode: before.and_then(|before| before.file.mode) };
            changes.push(Change::Put { permit: cx.may_write(path)?, content, expect });
        }
        Ok((changes, warnings))
    }

    /// Moves in an order in which every target is free. Files that trade names are not among them,
    /// nor is one that takes the name of a file that goes: they are written with their new content.
    fn renames(&self, disk: &Disk) -> Vec<(&PathBuf, &PathBuf)> {
        let free = |to: &PathBuf| disk.before(to).is_none() || self.moves.values().any(|from| from == to);
        let mut waiting: Vec<_> = self.moves.iter().filter(|(to, _)| free(to)).collect();
        let mut ordered = Vec::new();
        while let Some(free) = waiting.iter().position(|(to, _)| !waiting.iter().any(|(_, from)| from == to))
        {
            ordered.push(waiting.remove(free));
        }
        ordered
    }

    fn answer(&self, disk: &Disk, warnings: &[String]) -> Value {
        let list = |paths: &BTreeSet<PathBuf>| paths.iter().map(|path| shown(path)).collect::<Vec<_>>();
        let mut answer = Map::new();
        answer.insert("success".to_owned(), json!(true));
        answer.insert("diff".to_owned(), json!(self.diff(disk)));
        for (key, paths) in [
            ("files_modified", &self.modified),
            ("files_created", &self.created),
            ("files_deleted", &self.deleted),
        ] {
            if !paths.is_empty() {
                answer.insert(key.to_owned(), json!(list(paths)));
            }
        }
        let lints: Map<String, Value> = self
            .modified
            .union(&self.created)
            .map(|path| {
                let old =
                    disk.before(self.moves.get(path).unwrap_or(path)).map(|before| before.text.as_str());
                (shown(path), lint(path, old, self.texts.get(path).map_or("", String::as_str)).value())
            })
            .collect();
        answer.insert("lint".to_owned(), Value::Object(lints));
        note(&mut answer, "_warning", warnings);
        Value::Object(answer)
    }

    fn diff(&self, disk: &Disk) -> String {
        let moved: BTreeSet<&PathBuf> = self.moves.values().collect();
        let mut text = String::new();
        for path in self.modified.iter().chain(&self.created) {
            let new = self.texts.get(path).map_or("", String::as_str);
            let origin = self.moves.get(path).unwrap_or(path);
            let old_name = if disk.before(origin).is_some() {
                format!("a/{}", disk.named(origin))
            } else {
                "/dev/null".to_owned()
            };
            let old = disk.before(origin).map_or("", |before| before.text.as_str());
            if let Some(from) = self.moves.get(path) {
                // Writing into a string cannot fail.
                let _ = writeln!(text, "rename from {}\nrename to {}", disk.named(from), disk.named(path));
            }
            text.push_str(&unified(&old_name, &format!("b/{}", disk.named(path)), old, new));
        }
        for path in self.deleted.iter().filter(|path| !moved.contains(path)) {
            let old = disk.before(path).map_or("", |before| before.text.as_str());
            text.push_str(&unified(&format!("a/{}", disk.named(path)), "/dev/null", old, ""));
        }
        text
    }
}
