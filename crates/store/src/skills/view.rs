//! What a skill says: its text with the variables filled in, its files, and what it needs here.

use std::path::Path;

use hermes_core::effect::lexical;
use hermes_core::gate::Probe;
use hermes_core::skills::{LINKED_FOLDERS, LinkedFile, Needs, SKILL_FILE, SkillError, View};
use hermes_core::threat::{Threat, scan};

use super::find::{Found, MAX_BYTES};
use super::front::Front;
use super::names::{self, MAX_PARTS, PASSED_OVER};
use crate::beneath::{Beneath, Item, ItemKind, is_hidden};
use crate::error::StoreError;

/// Largest linked file that is shown.
pub(super) const MAX_LINKED: u64 = 1024 * 1024;
/// Most linked files that are named.
pub(super) const MAX_FILES: usize = 200;
/// What files are listed under that are in none of the usual folders.
const OTHER: &str = "other";

/// Why a folder is not taken for a file.
pub(super) const A_FOLDER: &str = "it is a folder; name a file in it";

/// All about a skill.
pub(super) fn view(
    found: &Found,
    session: Option<&str>,
    here: Option<(&dyn Probe, &Path)>,
) -> Result<View, SkillError> {
    let root = opened(found)?;
    let text = root.text(&found.folder.join(SKILL_FILE), MAX_BYTES).map_err(store)?;
    let text =
        text.ok_or_else(|| SkillError::Unknown { name: found.skill.name.clone(), near: Vec::new() })?;
    let path = found.folder.join(SKILL_FILE).display().to_string();
    let (linked, more) = linked(&root, &found.folder);
    Ok(View {
        threat: scan(&text),
        text: match session {
            Some(session) => filled(&text, &found.place(), session),
            None => text,
        },
        skill: found.skill.clone(),
        tags: found.front.tags.clone(),
        related: found.front.related.clone(),
        path,
        folder: found.place(),
        linked,
        more,
        needs: needs(&found.front, here),
    })
}

/// A file that belongs to a skill.
pub(super) fn file(found: &Found, file: &str) -> Result<LinkedFile, SkillError> {
    let root = opened(found)?;
    let wanted = names::inside(file)?;
    if root.look(&found.folder.join(&wanted)).is_some_and(|item| item.kind == ItemKind::Folder) {
        return Err(SkillError::Path { file: file.to_owned(), why: A_FOLDER });
    }
    let bytes = match root.read(&found.folder.join(&wanted), MAX_LINKED) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            let (linked, more) = linked(&root, &found.folder);
            let there = linked.into_iter().flat_map(|(_, files)| files).collect();
            let (skill, file) = (found.skill.name.clone(), file.to_owned());
            return Err(SkillError::NoFile { skill, file, there, more });
        }
        Err(StoreError::Link { .. }) => {
            return Err(SkillError::Path {
                file: file.to_owned(),
                why: "it is a link, which may lead out of the skill",
            });
        }
        Err(other) => return Err(store(other)),
    };
    let (length, threat) = (bytes.len() as u64, threat(&bytes));
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    Ok(LinkedFile {
        threat,
        skill: found.skill.name.clone(),
        file: wanted.display().to_string(),
        text,
        bytes: length,
    })
}

/// What looks wrong about the content of a file. A letter that is not UTF-8 hides nothing of a text in another
/// encoding; whatever has a zero byte beside it is none.
pub(super) fn threat(bytes: &[u8]) -> Option<Threat> {
    match std::str::from_utf8(bytes) {
        Ok(text) => scan(text),
        Err(_) if bytes.contains(&0) => None,
        Err(_) => scan(&String::from_utf8_lossy(bytes)),
    }
}

pub(super) fn opened(found: &Found) -> Result<Beneath, SkillError> {
    let gone = || SkillError::Unknown { name: found.skill.name.clone(), near: Vec::new() };
    Beneath::open(&found.root).map_err(store)?.ok_or_else(gone)
}

/// What the disk said, as an error of skills.
pub(super) fn store(wrong: StoreError) -> SkillError {
    match wrong {
        StoreError::NotText { path, .. } => SkillError::NotText(path.display().to_string()),
        other => SkillError::Store(other.to_string()),
    }
}

/// The text with its own folder and the session put in where it asks for them.
fn filled(text: &str, folder: &Path, session: &str) -> String {
    text.replace("${HERMES_SKILL_DIR}", &folder.to_string_lossy()).replace("${HERMES_SESSION_ID}", session)
}

/// The files of a skill, by the folder they are in, and how many more there are.
fn linked(root: &Beneath, folder: &Path) -> (Vec<(&'static str, Vec<String>)>, usize) {
    let mut look = Look { root, folder, left: MAX_FILES, more: 0 };
    let mut all: Vec<_> = LINKED_FOLDERS.iter().map(|name| (*name, look.below(Path::new(name)))).collect();
    all.push((OTHER, look.below(Path::new(""))));
    all.retain(|(_, files)| !files.is_empty());
    (all, look.more)
}

/// A look at the files of a skill.
struct Look<'a> {
    root: &'a Beneath,
    folder: &'a Path,
    /// How many may still be named.
    left: usize,
    /// How many could not.
    more: usize,
}

impl Look<'_> {
    fn below(&mut self, folder: &Path) -> Vec<String> {
        let mut files = Vec::new();
        self.step(folder, &mut files);
        files
    }

    /// Names the files below a folder of the skill. At its top are `SKILL.md`, which everybody knows, and the
    /// folders that are looked at by themselves.
    fn step(&mut self, below: &Path, files: &mut Vec<String>) {
        let top = below.as_os_str().is_empty();
        let known = |name: &str| top && (name == SKILL_FILE || LINKED_FOLDERS.contains(&name));
        let items = self.root.list(&self.folder.join(below)).unwrap_or_default();
        let shown = |item: &&Item| item.is_text() && !is_hidden(&item.name) && !known(&item.name);
        for item in items.iter().filter(shown) {
            let path = below.join(&item.name);
            let deeper =
                || path.components().count() < MAX_PARTS && !PASSED_OVER.contains(&item.name.as_str());
            match item.kind {
                ItemKind::File if self.left > 0 => {
                    self.left -= 1;
                    files.push(path.display().to_string());
                }
                ItemKind::File => self.more += 1,
                ItemKind::Folder if deeper() => self.step(&path, files),
                _ => {}
            }
        }
    }
}

/// What a skill needs, and what of it is missing. Values of variables are never looked at; files with
/// credentials lie in the home.
pub(super) fn needs(front: &Front, here: Option<(&dyn Probe, &Path)>) -> Needs {
    let mut needs =
        Needs { variables: front.variables.clone(), commands: front.commands.clone(), ..Needs::default() };
    if let Some((probe, home)) = here {
        let wanted = front.variables.iter().filter(|variable| !variable.optional);
        needs.missing_variables =
            wanted.map(|variable| variable.name.clone()).filter(|name| !probe.env(name)).collect();
        needs.missing_commands = front.commands.iter().filter(|name| !probe.program(name)).cloned().collect();
        let there = |path: &str| {
            let whole = lexical(path, home, None);
            whole.starts_with(home) && probe.file(&whole.to_string_lossy())
        };
        needs.missing_files = front.credential_files.iter().filter(|path| !there(path)).cloned().collect();
    }
    needs
}
