//! Manifests of plugins as they were read before, with the dates they had then: a start that finds nothing
//! new opens and parses none of them.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::foreign::{self, Stamp};
use crate::home::Home;

/// Most manifests that are kept; the oldest go first.
const MAX_KEPT: usize = 1_000;

/// Manifests that are kept in the home's cache.
#[derive(Default)]
pub struct KeptManifests {
    /// By path: the stamp, and what the file said.
    kept: Map<String, Value>,
    changed: bool,
}

impl KeptManifests {
    /// What was kept under this name.
    pub fn read(home: &Home, name: &str) -> Self {
        let kept = foreign::learnt(home, name).and_then(|text| serde_json::from_str(&text).ok());
        Self { kept: kept.unwrap_or_default(), changed: false }
    }

    /// What the YAML file says, which has this stamp; nothing when it went away meanwhile.
    pub fn yaml(&mut self, path: &Path, stamp: Stamp) -> Option<Result<Value, String>> {
        let (key, stamp) = (path.to_string_lossy().into_owned(), json!(stamp.words()));
        if let Some(Value::Array(pair)) = self.kept.get(&key)
            && let [before, value] = pair.as_slice()
            && *before == stamp
        {
            return Some(Ok(value.clone()));
        }
        let text = match foreign::text(path).transpose()? {
            Ok(text) => text,
            Err(wrong) => return Some(Err(wrong.to_string())),
        };
        let read = foreign::yaml(&text);
        if let Ok(value) = &read {
            self.kept.shift_remove(&key);
            self.kept.insert(key, json!([stamp, value]));
            self.changed = true;
        }
        Some(read)
    }

    /// Writes down what is new. What cannot be written is read again.
    pub fn keep(&mut self, home: &Home, name: &str) {
        if !std::mem::take(&mut self.changed) {
            return;
        }
        while self.kept.len() > MAX_KEPT {
            let Some(oldest) = self.kept.keys().next().cloned() else { break };
            self.kept.shift_remove(&oldest);
        }
        let _ = foreign::learn(home, name, &json!(self.kept).to_string());
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test sets up files of its own")]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_read_once_and_again_when_it_changes() {
        let dir = tempfile::tempdir().unwrap();
        let (home, path) = (Home::at(dir.path()), dir.path().join("plugin.yaml"));
        let now = |text: &str| {
            std::fs::write(&path, text).unwrap();
            foreign::stamp(&path).unwrap()
        };
        let stamp = now("name: one\n");
        let mut first = KeptManifests::read(&home, "m.json");
        assert_eq!(first.yaml(&path, stamp), Some(Ok(json!({ "name": "one" }))));
        first.keep(&home, "m.json");

        let mut second = KeptManifests::read(&home, "m.json");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(second.yaml(&path, stamp), Some(Ok(json!({ "name": "one" }))), "the file is not opened");
        let changed = now("name: another\n");
        assert_eq!(second.yaml(&path, changed), Some(Ok(json!({ "name": "another" }))));
        let broken = now("name: [\n");
        assert!(matches!(second.yaml(&path, broken), Some(Err(_))));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(second.yaml(&path, broken), None);
    }
}
