//! What a tool needs to know of the person's settings: keys of services, and values of the
//! configuration. The composition root hands it out; nothing here reads the environment.

use serde_json::Value;

/// Keys and settings.
pub trait Keys: Send + Sync {
    /// The value of a variable such as `EXA_API_KEY`, unless it is empty.
    fn key(&self, name: &str) -> Option<String>;

    /// The value at a dotted key of the configuration.
    fn setting(&self, key: &str) -> Option<Value>;

    /// A text of the configuration, unless it is empty.
    fn text(&self, key: &str) -> Option<String> {
        self.setting(key)?.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
    }
}
