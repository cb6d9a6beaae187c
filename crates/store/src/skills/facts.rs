//! Single facts out of the map at the top of a `SKILL.md`, in each of the shapes that people write them in. Pure.
//!
//! What has another shape is told. A condition of such a shape does not count as met: nobody knows what it asks for.

use serde_json::Value;

/// Longest list of anything.
pub(super) const MAX_LIST: usize = 64;

/// Reads facts and keeps what is wrong with them.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// What is odd, in words.
    pub(super) problems: Vec<String>,
    /// Conditions that cannot be understood.
    pub(super) unclear: Vec<String>,
}

impl Facts {
    /// A list of texts; one text with commas is such a list too.
    pub(super) fn texts(&mut self, key: &str, value: Option<&Value>) -> Vec<String> {
        let (found, whole) = texts(value);
        self.tell(key, whole);
        found
    }

    /// The same, of a condition: one that is not understood is not met.
    pub(super) fn condition(&mut self, key: &str, value: Option<&Value>) -> Vec<String> {
        let (found, whole) = texts(value);
        if !whole {
            self.unclear.push(key.to_owned());
        }
        self.tell(key, whole);
        found
    }

    /// The entries of a list; people who have one entry leave the list away.
    pub(super) fn several(&mut self, key: &str, value: Option<&Value>) -> Vec<Value> {
        match value {
            Some(Value::Array(entries)) => entries.clone(),
            Some(one @ Value::Object(_)) => vec![one.clone()],
            _ => self.texts(key, value).into_iter().map(Value::from).collect(),
        }
    }

    /// Files, by name or as maps with a `path`.
    pub(super) fn files(&mut self, key: &str, value: Option<&Value>) -> Vec<String> {
        let entries = self.several(key, value);
        let one = |entry: &Value| text(entry.get("path").or(Some(entry)));
        let found: Vec<String> = entries.iter().filter_map(one).take(MAX_LIST).collect();
        self.tell(key, found.len() == entries.len().min(MAX_LIST));
        found
    }

    /// A map with facts in it. Conditions that are written into a text there are not understood.
    pub(super) fn map(&mut self, key: &str, value: Option<&Value>) {
        let Some(value) = value.filter(|value| !value.is_null() && !value.is_object()) else { return };
        self.problems.push(format!("its `{key}` is no map of facts"));
        if value.as_str().is_some_and(|text| text.contains("requires_") || text.contains("fallback_for_")) {
            self.unclear.push(key.to_owned());
        }
    }

    fn tell(&mut self, key: &str, whole: bool) {
        if !whole && self.problems.len() < MAX_LIST {
            self.problems.push(format!("its `{key}` cannot be understood: write a list of words"));
        }
    }
}

/// A text, or a number that was meant as one.
pub(super) fn text(value: Option<&Value>) -> Option<String> {
    let text = match value? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// A list of texts, and whether that is all there was; one text with commas is such a list too.
fn texts(value: Option<&Value>) -> (Vec<String>, bool) {
    let (mut all, whole) = match value {
        Some(Value::Array(items)) => {
            let is_one = |item: &Value| item.is_string() || item.is_number() || item.is_null();
            (items.iter().filter_map(|item| text(Some(item))).collect(), items.iter().all(is_one))
        }
        Some(Value::String(text)) => (words(text), true),
        None | Some(Value::Null) => (Vec::new(), true),
        Some(_) => (Vec::new(), false),
    };
    let whole = whole && all.len() <= MAX_LIST;
    all.truncate(MAX_LIST);
    (all, whole)
}

/// The words of a text with commas between them, in brackets and quotes or not.
pub(super) fn words(text: &str) -> Vec<String> {
    let parts = text.trim_matches(['[', ']']).split(',');
    parts
        .map(|part| part.trim().trim_matches(['"', '\'']).to_owned())
        .filter(|part| !part.is_empty())
        .take(MAX_LIST + 1)
        .collect()
}
