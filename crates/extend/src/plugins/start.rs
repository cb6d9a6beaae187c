//! A plugin as a process of its own: Python in our host, or any executable that speaks the protocol.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::desk::Desk;
use super::manifest::Manifest;
use super::subject::{Living, Subject};
use crate::launch::{Consent, Program};
use crate::python::{python, surroundings};
use crate::worker::{Doors, Worker};

/// What is needed to start a plugin.
#[derive(Debug, Clone)]
pub struct Plugin {
    /// Its key: the name, or `category/folder`.
    pub key: String,
    /// What it says about itself.
    pub manifest: Manifest,
    /// Where its code is.
    pub code: Code,
    /// Why it may run.
    pub consent: Consent,
    /// The variables it asked for, with values.
    pub variables: Vec<(String, String)>,
    /// The state folder.
    pub home: PathBuf,
    /// The profile's name.
    pub profile: String,
}

/// Where the code of a plugin is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// A folder with a manifest.
    Folder(PathBuf),
    /// `module:attribute` of an installed Python package.
    EntryPoint(String),
}

/// A plugin in its process, which is started when it is first needed. What that takes is asked for then.
pub fn plugin(
    key: &str,
    doors: &Doors,
    desk: &Arc<Desk>,
    made: impl FnOnce() -> Plugin + Send + 'static,
) -> Arc<Subject> {
    let (doors, desk) = (doors.clone(), Arc::clone(desk));
    Subject::late(key, move || living(&made(), doors, &desk))
}

fn living(plugin: &Plugin, doors: Doors, desk: &Arc<Desk>) -> Living {
    let Plugin { key, manifest, code, consent, variables, home, profile } = plugin;
    let callee = desk.seat(key);
    match code {
        Code::Folder(folder) if !manifest.run.is_empty() => {
            // Also a program may be Python, and what it compiled before is not what was accepted.
            let own = surroundings(home);
            let mut words = manifest.run.iter().cloned();
            let program = Program {
                program: words.next().map(|word| found(&word, folder)).unwrap_or_default(),
                arguments: words.map(Into::into).collect(),
                variables: own.into_iter().chain(variables.iter().cloned()).collect(),
                directory: Some(folder.clone()),
                consent: consent.clone(),
            };
            let hello = json!({ "protocol": 1, "plugin": manifest.told(key), "profile": profile });
            let worker = Worker::new(program, hello, doors, callee);
            Living { worker, key: String::new(), load: None, is_shared: false }
        }
        _ => {
            let program = python(consent.clone(), home, variables);
            let hello = json!({ "protocol": 1, "folders": [], "paths": [] });
            let worker = Worker::new(program, hello, doors, callee);
            let load = Some(load(key, manifest, code, profile));
            Living { worker, key: key.clone(), load, is_shared: false }
        }
    }
}

fn load(key: &str, manifest: &Manifest, code: &Code, profile: &str) -> Value {
    let mut load = json!({ "key": key, "manifest": manifest.told(key), "profile": profile });
    let (kind, place, value) = match code {
        Code::Folder(folder) => ("plugin", "path", folder.display().to_string()),
        Code::EntryPoint(target) => ("entry_point", "target", target.clone()),
    };
    if let Some(fields) = load.as_object_mut() {
        fields.insert("path".to_owned(), Value::Null);
        fields.insert("kind".to_owned(), json!(kind));
        fields.insert("module".to_owned(), json!(module_name(key)));
        fields.insert(place.to_owned(), json!(value));
    }
    load
}

/// A Python name for a plugin.
fn module_name(key: &str) -> String {
    key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// A program with a path is looked for in the plugin's folder.
fn found(word: &str, folder: &Path) -> String {
    if word.contains('/') { folder.join(word).display().to_string() } else { word.to_owned() }
}
