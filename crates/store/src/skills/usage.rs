//! How often a skill was of use, in `.usage.json` beside the skills.
//!
//! It also says who wrote a skill and who stands behind it. A pin is a person's word for one content, by its
//! digest: another skill of the same name, or the same one changed, has to be pinned anew to count as theirs.
//! So what an agent is about to do is noted before it is done, and not done when it cannot be noted.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hermes_core::skills::SkillError;
use serde_json::{Map, Value, json};

use super::view::store;
use crate::disk::{self, Mode};
use crate::sessions::Moment;

const FILE: &str = ".usage.json";
/// Where an entry says which content was pinned.
const DIGEST: &str = "pinned_digest";
/// Where it says who wrote the skill, and how often an agent changed it.
const AUTHOR: &str = "created_by";
const PATCHES: &str = "patch_count";
/// Most names that are told at once.
const MAX_TOLD: usize = 20;
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// What happened to a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Happened {
    Viewed,
    Changed,
    Created,
    Deleted,
    /// A person put it there.
    Installed,
}

/// What a person says of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pin {
    /// It is to be left alone; with a digest, they stand behind that content.
    Set(Option<String>),
    /// Not any more.
    Gone,
}

/// What stood in the diary before something was noted.
#[derive(Debug)]
pub(super) struct Before {
    name: String,
    entry: Option<Value>,
}

/// Notes what is about to happen to a skill, or has. Nothing an agent does may go on when this fails: its skill
/// would count as the person's.
pub(super) fn note(
    skills: &Path,
    name: &str,
    happened: Happened,
    now: SystemTime,
) -> Result<Before, SkillError> {
    let file = skills.join(FILE);
    let _lock = disk::lock(&file).map_err(store)?;
    let mut all = read(skills)?;
    let before = Before { name: name.to_owned(), entry: all.get(name).cloned() };
    let now = Moment::from(now).to_string();
    let mut fields = taken(&mut all, name);
    match happened {
        Happened::Viewed => {
            count(&mut fields, "view_count");
            fields.insert("last_viewed_at".to_owned(), json!(now));
        }
        Happened::Changed => {
            count(&mut fields, PATCHES);
            fields.insert("last_patched_at".to_owned(), json!(now));
        }
        Happened::Created => {
            fields.insert(AUTHOR.to_owned(), json!("agent"));
            fields.insert("created_at".to_owned(), json!(now));
            unpin(&mut fields);
        }
        Happened::Installed => {
            for key in [AUTHOR, "created_at", PATCHES, "last_patched_at"] {
                fields.remove(key);
            }
            fields.insert("state".to_owned(), json!("active"));
            unpin(&mut fields);
        }
        Happened::Deleted => {
            fields.insert("state".to_owned(), json!("archived"));
        }
    }
    all.insert(name.to_owned(), Value::Object(fields));
    write(&file, &all)?;
    Ok(before)
}

/// Notes that a skill was read. What cannot be noted is lost, and nothing else.
pub(super) fn viewed(skills: &Path, name: &str, now: SystemTime) {
    // An entry that nobody understands says nothing about who wrote the skill, and stays as it is.
    if read(skills).is_ok_and(|all| all.get(name).is_none_or(Value::is_object)) {
        let _ = note(skills, name, Happened::Viewed, now);
    }
}

/// Takes a note back: what it told did not happen. Where that fails the note stays, and the skill counts as an
/// agent's until a person installs or pins it.
pub(super) fn take_back(skills: &Path, before: Before) {
    let file = skills.join(FILE);
    let Ok(_lock) = disk::lock(&file) else { return };
    let Ok(mut all) = read(skills) else { return };
    match before.entry {
        Some(entry) => all.insert(before.name, entry),
        None => all.remove(&before.name),
    };
    let _ = write(&file, &all);
}

/// Notes whether a person wants the skill to be left alone. An entry that nobody understands is replaced.
pub(super) fn pin(skills: &Path, name: &str, pin: Pin) -> Result<(), SkillError> {
    let file = skills.join(FILE);
    let _lock = disk::lock(&file).map_err(store)?;
    let mut all = read(skills)?;
    let unknown = all.get(name).is_some_and(|entry| !entry.is_object());
    let mut fields = taken(&mut all, name);
    if unknown {
        // Nobody can tell who wrote it.
        fields.insert(AUTHOR.to_owned(), json!("agent"));
    }
    unpin(&mut fields);
    if let Pin::Set(digest) = pin {
        fields.insert("pinned".to_owned(), json!(true));
        fields.extend(digest.map(|digest| (DIGEST.to_owned(), json!(digest))));
    }
    all.insert(name.to_owned(), Value::Object(fields));
    write(&file, &all)
}

/// Whether a person wants the skill to be left alone; an error when nobody can tell.
pub(super) fn is_pinned(skills: &Path, name: &str) -> Result<bool, SkillError> {
    let all = read(skills)?;
    let Some(entry) = all.get(name) else { return Ok(false) };
    let unclear = || {
        let file = skills.join(FILE).display().to_string();
        SkillError::Store(format!(
            "{file} does not say clearly whether `{name}` is pinned; `hermes skills pin` or `unpin` does"
        ))
    };
    pinned(entry).ok_or_else(unclear)
}

/// Whether an agent wrote or changed the skill and no person stands behind it as it is now, by its digest. Of a
/// diary that is not understood nobody can tell.
pub(super) fn is_of_agent(skills: &Path, name: &str, digest: impl FnOnce() -> Option<String>) -> bool {
    let Ok(all) = read(skills) else { return true };
    let Some(entry) = all.get(name) else { return false };
    let Some(fields) = entry.as_object() else { return true };
    let by_agent =
        fields.get(AUTHOR).is_some_and(|by| !by.is_null() && by.as_str().is_none_or(|by| by == "agent"));
    let changed = fields.get(PATCHES).is_some_and(|count| !count.is_null() && count.as_u64() != Some(0));
    let pinned = fields.get("pinned").and_then(Value::as_bool).unwrap_or_default();
    let accepted = fields.get(DIGEST).and_then(Value::as_str).filter(|_| pinned);
    (by_agent || changed) && accepted.is_none_or(|accepted| digest().as_deref() != Some(accepted))
}

/// The diary, and what of it cannot be used, if anything.
pub(super) fn problem(skills: &Path) -> Option<(PathBuf, String)> {
    let why = match read(skills) {
        Err(why) => why.to_string(),
        Ok(all) => {
            let unclear = all.iter().filter(|(_, entry)| pinned(entry).is_none());
            let names: Vec<&str> = unclear.map(|(name, _)| name.as_str()).take(MAX_TOLD).collect();
            if names.is_empty() {
                return None;
            }
            format!("it does not say clearly whether these are pinned: {}", names.join(", "))
        }
    };
    Some((skills.join(FILE), why))
}

/// Whether the diary can be read.
pub(super) fn readable(skills: &Path) -> Result<(), SkillError> {
    read(skills).map(drop)
}

/// Whether an entry says that its skill is pinned; nothing when that cannot be understood.
fn pinned(entry: &Value) -> Option<bool> {
    match entry.as_object()?.get("pinned") {
        None | Some(Value::Null) => Some(false),
        Some(pinned) => pinned.as_bool(),
    }
}

/// What is noted. A file that is not understood is an error: what it says of pins and authors holds.
fn read(skills: &Path) -> Result<Map<String, Value>, SkillError> {
    let file = skills.join(FILE);
    let why = match disk::read(&file, MAX_BYTES) {
        Ok(None) => return Ok(Map::new()),
        Ok(Some(text)) => match serde_json::from_str(&text) {
            Ok(all) => return Ok(all),
            Err(wrong) => format!("{}: {wrong}", file.display()),
        },
        Err(wrong) => wrong.to_string(),
    };
    Err(SkillError::Store(format!(
        "what is noted about skills cannot be understood, who wrote them and which are pinned: {why}; mend that \
         file or move it away"
    )))
}

fn write(file: &Path, all: &Map<String, Value>) -> Result<(), SkillError> {
    let text = serde_json::to_string_pretty(all).map_err(|wrong| SkillError::Store(wrong.to_string()))?;
    disk::write(file, &text, Mode::Keep).map_err(store)
}

/// The fields of an entry, taken out; new ones in place of what is none.
fn taken(all: &mut Map<String, Value>, name: &str) -> Map<String, Value> {
    match all.get_mut(name) {
        // Taken out of its place, which it goes back to.
        Some(Value::Object(fields)) => std::mem::take(fields),
        _ => Map::from_iter([("state".to_owned(), json!("active")), ("pinned".to_owned(), json!(false))]),
    }
}

fn unpin(fields: &mut Map<String, Value>) {
    fields.insert("pinned".to_owned(), json!(false));
    fields.remove(DIGEST);
}

fn count(fields: &mut Map<String, Value>, key: &str) {
    let before = fields.get(key).and_then(Value::as_u64).unwrap_or_default();
    fields.insert(key.to_owned(), json!(before.saturating_add(1)));
}
