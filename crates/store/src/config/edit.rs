//! Changes to `config.yaml` that keep comments, quotes, order and line endings.
//!
//! The syntax tree of `yaml-edit` makes the change; a different parser then reads both texts, and
//! `verify` insists that the difference is exactly what was asked for. An edit that cannot be
//! proved harmless is refused and the file stays as it is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::{Map, Value};
use yaml_edit::{Document, Mapping, ScalarValue, YamlFile, YamlNode, YamlValue};

use super::path::KeyPath;
use super::tree::{self, Duplicates};
use super::verify::{self, Comments, Edit};
use crate::disk::{self, Mode};
use crate::error::StoreError;
use crate::home::Home;

/// A config file opened for changes. Changes are made in memory; [`ConfigFile::save`] writes them.
#[derive(Clone)]
pub struct ConfigFile {
    path: PathBuf,
    before: String,
    text: String,
}

/// A file before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// Its text as it was; empty if there was none.
    pub before: String,
    /// Its text as it is to be.
    pub after: String,
}

impl Change {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }
}

impl ConfigFile {
    /// Opens the config of a home; a file that does not exist is empty. One that cannot be parsed
    /// cannot be opened.
    pub fn open(home: &Home) -> Result<ConfigFile, StoreError> {
        let path = home.config();
        let text = disk::read(&path, tree::MAX_BYTES)?.unwrap_or_default();
        ConfigFile::of(&path, text)
    }

    /// Changes the config of a home in one go: two programs that do this at once both succeed.
    pub fn update(
        home: &Home,
        edit: impl FnOnce(&mut ConfigFile) -> Result<(), StoreError>,
    ) -> Result<Change, StoreError> {
        let _lock = disk::lock(&home.config())?;
        let mut file = ConfigFile::open(home)?;
        edit(&mut file)?;
        file.write()
    }

    fn of(path: &Path, text: String) -> Result<ConfigFile, StoreError> {
        tree::parse(path, &text, Duplicates::Refuse)?;
        Ok(ConfigFile { path: path.to_owned(), before: text.clone(), text })
    }

    /// The text with all changes made so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The changes made so far, for showing without writing.
    pub fn change(&self) -> Change {
        Change { path: self.path.clone(), before: self.before.clone(), after: self.text.clone() }
    }

    /// The value at a place, as the file has it: `${NAME}` is not replaced.
    pub fn get(&self, path: &KeyPath) -> Result<Option<Value>, StoreError> {
        Ok(path.find(&self.values()?).cloned())
    }

    /// Sets a value, making missing maps on the way. Says whether anything changed.
    pub fn set(&mut self, path: &KeyPath, value: &Value) -> Result<bool, StoreError> {
        let before = self.values()?;
        let old = path.find(&before);
        if old == Some(value) {
            return Ok(false);
        }
        let comments = match old {
            Some(Value::Object(_) | Value::Array(_)) => Comments::MayGo,
            _ => Comments::Stay,
        };
        let wanted = with_value(before, path.keys(), value).map_err(|why| self.refused(path, why))?;
        self.apply(path, wanted, comments, |root| set_in(root, path.keys(), value))
    }

    /// Removes a key and its value. Says whether it was there.
    pub fn unset(&mut self, path: &KeyPath) -> Result<bool, StoreError> {
        let mut wanted = self.values()?;
        if path.find(&wanted).is_none() {
            return Ok(false);
        }
        let (last, parents) = split(path);
        let parent = parents.iter().try_fold(&mut wanted, |value, key| value.get_mut(key));
        let Some(Value::Object(map)) = parent else {
            return Err(self.refused(path, "only a key of a map can be removed".to_owned()));
        };
        map.shift_remove(last);
        self.apply(path, wanted, Comments::MayGo, |root| {
            let map = descend(root, parents)?;
            let key = key_in(&map, last).ok_or_else(|| "the key comes from an alias".to_owned())?;
            map.remove(key).map(drop).ok_or_else(|| "the key cannot be removed".to_owned())
        })
    }

    /// Adds a text to a list unless it is there, making the list if needed. Says whether it was added.
    pub fn add_to_list(&mut self, path: &KeyPath, item: &str) -> Result<bool, StoreError> {
        let before = self.values()?;
        let mut items = match path.find(&before) {
            None | Some(Value::Null) => {
                return self.set(path, &Value::Array(vec![item.into()]));
            }
            Some(Value::Array(items)) => items.clone(),
            Some(_) => return Err(self.refused(path, "it is not a list".to_owned())),
        };
        if items.iter().any(|known| known == item) {
            return Ok(false);
        }
        items.push(item.into());
        let wanted =
            with_value(before, path.keys(), &Value::Array(items)).map_err(|why| self.refused(path, why))?;
        self.apply(path, wanted, Comments::Stay, |root| {
            list_in(root, path)?.push(text_value(item));
            Ok(())
        })
    }

    /// Removes a text from a list, as often as it is there. Says whether it was.
    pub fn remove_from_list(&mut self, path: &KeyPath, item: &str) -> Result<bool, StoreError> {
        let before = self.values()?;
        let items = match path.find(&before) {
            None | Some(Value::Null) => return Ok(false),
            Some(Value::Array(items)) => items.clone(),
            Some(_) => return Err(self.refused(path, "it is not a list".to_owned())),
        };
        let doomed: Vec<usize> =
            items.iter().enumerate().filter(|(_, known)| *known == item).map(|(i, _)| i).collect();
        if doomed.is_empty() {
            return Ok(false);
        }
        let kept: Vec<Value> = items.into_iter().filter(|known| known != item).collect();
        let wanted =
            with_value(before, path.keys(), &Value::Array(kept)).map_err(|why| self.refused(path, why))?;
        self.apply(path, wanted, Comments::MayGo, |root| {
            let list = list_in(root, path)?;
            for index in doomed.into_iter().rev() {
                list.remove(index);
            }
            Ok(())
        })
    }

    /// Writes the changes, whole or not at all. Refuses if the file was changed by somebody else
    /// since it was opened.
    pub fn save(self) -> Result<Change, StoreError> {
        let _lock = disk::lock(&self.path)?;
        let now = disk::read(&self.path, tree::MAX_BYTES)?.unwrap_or_default();
        if now != self.before {
            return Err(StoreError::Changed { path: self.path });
        }
        self.write()
    }

    fn write(self) -> Result<Change, StoreError> {
        let change = Change { path: self.path, before: self.before, after: self.text };
        if !change.is_empty() {
            disk::write(&change.path, &change.after, Mode::Keep)?;
        }
        Ok(change)
    }

    fn values(&self) -> Result<Value, StoreError> {
        Ok(tree::parse(&self.path, &self.text, Duplicates::Refuse)?.0.value())
    }

    /// Edits, proves the edit harmless, and only then takes it over.
    fn apply(
        &mut self,
        path: &KeyPath,
        wanted: Value,
        comments: Comments,
        edit: impl FnOnce(&Mapping) -> Result<(), String>,
    ) -> Result<bool, StoreError> {
        let after = edited(&self.text, edit).map_err(|why| self.refused(path, why))?;
        let proof = Edit { file: &self.path, before: &self.text, after: &after, key: path, wanted, comments };
        verify::check(&proof).map_err(|why| self.refused(path, why))?;
        self.text = after;
        Ok(true)
    }

    fn refused(&self, path: &KeyPath, why: String) -> StoreError {
        StoreError::Edit { path: self.path.clone(), key: path.to_string(), why }
    }
}

/// Leaves out the text, which may hold keys.
impl fmt::Debug for ConfigFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The text after an edit of its root map.
fn edited(text: &str, edit: impl FnOnce(&Mapping) -> Result<(), String>) -> Result<String, String> {
    let file = YamlFile::from_str(text).map_err(|e| format!("the file cannot be edited safely: {e}"))?;
    let document = file.ensure_document();
    if let Some(root) = document.as_mapping() {
        edit(&root)?;
        return Ok(file.to_string());
    }
    // Nothing but comments, or nothing at all: there is no map to edit yet. Make one beside it.
    let fresh = Document::new_mapping();
    let root = fresh.as_mapping().ok_or("the file cannot be edited safely")?;
    edit(&root)?;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    let added = fresh.to_string();
    let added = added.trim_end_matches('\n').replace('\n', newline);
    Ok(format!("{text}{gap}{added}{newline}"))
}

/// Sets a value below `map`; missing maps on the way are made together with it.
fn set_in(map: &Mapping, keys: &[String], value: &Value) -> Result<(), String> {
    let Some((key, rest)) = keys.split_first() else { return Ok(()) };
    let known = key_in(map, key);
    if !rest.is_empty() {
        if let Some(inner) = known.as_ref().and_then(|known| map.get_mapping(known)) {
            return set_in(&inner, rest, value);
        }
        if let Some(node) = known.as_ref().and_then(|known| map.get(known)).filter(YamlNode::is_alias) {
            return Err(format!("`{key}` is an alias ({node}); edit the place it points to"));
        }
    }
    let whole = rest.iter().rev().fold(value.clone(), |inner, key| {
        let mut outer = Map::new();
        outer.insert(key.clone(), inner);
        Value::Object(outer)
    });
    match known {
        Some(known) => map.set(known, yaml(&whole)?),
        None => map.set(key.as_str(), yaml(&whole)?),
    }
    Ok(())
}

/// The key as the file writes it: `123` and `on` without quotes are found by their text too.
fn key_in(map: &Mapping, key: &str) -> Option<YamlNode> {
    let entry = map.find_entry_by_key(key);
    entry
        .and_then(|entry| entry.key_node())
        .or_else(|| map.keys().find(|node| node.to_string().trim() == key))
}

fn descend(root: &Mapping, keys: &[String]) -> Result<Mapping, String> {
    keys.iter().try_fold(root.clone(), |map, key| {
        let inner = key_in(&map, key).and_then(|known| map.get_mapping(known));
        inner.ok_or_else(|| format!("`{key}` is not a plain map in the file"))
    })
}

fn list_in(root: &Mapping, path: &KeyPath) -> Result<yaml_edit::Sequence, String> {
    let (last, parents) = split(path);
    let map = descend(root, parents)?;
    key_in(&map, last)
        .and_then(|known| map.get_sequence(known))
        .ok_or_else(|| format!("`{last}` is not a plain list in the file"))
}

/// The last key, and those before it.
fn split(path: &KeyPath) -> (&str, &[String]) {
    path.keys().split_last().map_or(("", &[]), |(last, parents)| (last.as_str(), parents))
}

/// The values with one of them replaced, or why that makes no sense.
fn with_value(mut root: Value, keys: &[String], value: &Value) -> Result<Value, String> {
    let mut at = &mut root;
    for key in keys {
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(map) = at else {
            return Err(format!("`{key}` would have to be inside something that is not a map"));
        };
        at = map.entry(key.as_str()).or_insert(Value::Null);
    }
    *at = value.clone();
    Ok(root)
}

/// A value in the terms of the editor.
fn yaml(value: &Value) -> Result<YamlValue, String> {
    Ok(match value {
        Value::Null => YamlValue::Scalar(ScalarValue::null()),
        Value::Bool(b) => YamlValue::from(*b),
        Value::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(n), _) => YamlValue::from(n),
            (None, Some(n)) if n.is_finite() => YamlValue::from(n),
            _ => return Err(format!("{n} cannot be written")),
        },
        Value::String(text) => text_value(text),
        Value::Array(items) => YamlValue::Sequence(items.iter().map(yaml).collect::<Result<_, _>>()?),
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, value)| Ok((key.clone(), yaml(value)?)));
            YamlValue::Mapping(pairs.collect::<Result<_, String>>()?)
        }
    })
}

/// A text in the terms of the editor, which quotes what needs it, except for the two letters that
/// only some readers take for booleans.
fn text_value(text: &str) -> YamlValue {
    if matches!(text, "y" | "Y" | "n" | "N") {
        return YamlValue::Scalar(ScalarValue::single_quoted(text));
    }
    YamlValue::from(text)
}
