//! How often a skill was of use, in `.usage.json` beside the skills: a diary, never a reason to fail.
//!
//! It also says who wrote a skill and who stands behind it. A pin is a person's word for one content, by its
//! digest: another skill of the same name, or the same one changed, has to be pinned anew to count as theirs.

use std::path::Path;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::disk::{self, Mode};
use crate::error::StoreError;
use crate::sessions::Moment;

const FILE: &str = ".usage.json";
/// Where an entry says which content was pinned.
const DIGEST: &str = "pinned_digest";
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

/// Notes that something happened. What cannot be noted is lost, and nothing else.
pub(super) fn note(skills: &Path, name: &str, happened: Happened, now: SystemTime) {
    let file = skills.join(FILE);
    let Ok(_lock) = disk::lock(&file) else { return };
    let Some(mut all) = read(skills) else { return };
    let entry = all.entry(name).or_insert_with(|| json!({ "state": "active", "pinned": false }));
    let Some(fields) = entry.as_object_mut() else { return };
    let now = Moment::from(now).to_string();
    match happened {
        Happened::Viewed => {
            count(fields, "view_count");
            fields.insert("last_viewed_at".to_owned(), json!(now));
        }
        Happened::Changed => {
            count(fields, "patch_count");
            fields.insert("last_patched_at".to_owned(), json!(now));
        }
        Happened::Created => {
            fields.insert("created_by".to_owned(), json!("agent"));
            fields.insert("created_at".to_owned(), json!(now));
            unpin(fields);
        }
        Happened::Installed => {
            for key in ["created_by", "created_at", "patch_count", "last_patched_at"] {
                fields.remove(key);
            }
            fields.insert("state".to_owned(), json!("active"));
            unpin(fields);
        }
        Happened::Deleted => {
            fields.insert("state".to_owned(), json!("archived"));
        }
    }
    // A diary that cannot be written is no reason to fail.
    let _ = disk::write(&file, &serde_json::to_string_pretty(&all).unwrap_or_default(), Mode::Keep);
}

/// Notes whether a person wants the skill to be left alone. Somebody waits for this: what goes wrong is told.
pub(super) fn pin(skills: &Path, name: &str, pin: Pin) -> Result<(), StoreError> {
    let file = skills.join(FILE);
    let _lock = disk::lock(&file)?;
    let text = disk::read(&file, MAX_BYTES)?.unwrap_or_else(|| "{}".to_owned());
    let mut all: Map<String, Value> = serde_json::from_str(&text).map_err(|wrong| StoreError::Io {
        doing: "read",
        path: file.clone(),
        source: wrong.into(),
    })?;
    let entry = all.entry(name).or_insert_with(|| json!({ "state": "active" }));
    if let Some(fields) = entry.as_object_mut() {
        unpin(fields);
        if let Pin::Set(digest) = pin {
            fields.insert("pinned".to_owned(), json!(true));
            fields.extend(digest.map(|digest| (DIGEST.to_owned(), json!(digest))));
        }
    }
    disk::write(&file, &serde_json::to_string_pretty(&all).unwrap_or_default(), Mode::Keep)
}

/// Whether a person wants the skill to be left alone.
pub(super) fn is_pinned(skills: &Path, name: &str) -> bool {
    let all = read(skills).unwrap_or_default();
    all.get(name).and_then(|entry| entry.get("pinned")).and_then(Value::as_bool).unwrap_or_default()
}

/// Whether an agent wrote or changed the skill and no person stands behind it as it is now, by its digest. Of a
/// diary that is not understood nobody can tell.
pub(super) fn is_of_agent(skills: &Path, name: &str, digest: impl FnOnce() -> Option<String>) -> bool {
    let Some(all) = read(skills) else { return true };
    let Some(entry) = all.get(name) else { return false };
    let by_agent = entry.get("created_by").and_then(Value::as_str) == Some("agent");
    let changed = entry.get("patch_count").and_then(Value::as_u64).is_some_and(|count| count > 0);
    let pinned = entry.get("pinned").and_then(Value::as_bool).unwrap_or_default();
    let accepted = entry.get(DIGEST).and_then(Value::as_str).filter(|_| pinned);
    (by_agent || changed) && accepted.is_none_or(|accepted| digest().as_deref() != Some(accepted))
}

/// What is noted; nothing when somebody else's file stands there that is not understood.
fn read(skills: &Path) -> Option<Map<String, Value>> {
    match disk::read(&skills.join(FILE), MAX_BYTES) {
        Ok(None) => Some(Map::new()),
        Ok(Some(text)) => serde_json::from_str(&text).ok(),
        Err(_) => None,
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
