//! Dotted paths such as `agent.disabled_tools` or `mcp_servers."my.server".url`.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

/// A place in the config: keys from the root down, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPath(Vec<String>);

/// A text is not a dotted path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    /// Two dots in a row, a dot at an end, or nothing at all.
    #[error("a part of the path is empty")]
    EmptyPart,
    /// A `"` without its partner, or text right after a closing `"`.
    #[error("the path has a quote in the wrong place")]
    Quote,
}

impl KeyPath {
    /// A path of these keys, taken as they are; `None` without any.
    pub fn new(keys: impl IntoIterator<Item = impl Into<String>>) -> Option<KeyPath> {
        let keys: Vec<String> = keys.into_iter().map(Into::into).collect();
        (!keys.is_empty()).then_some(KeyPath(keys))
    }

    /// The keys from the root down.
    pub fn keys(&self) -> &[String] {
        &self.0
    }

    /// The value at this place; a number steps into a list.
    pub fn find<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(root, |value, key| match value {
            Value::Object(map) => map.get(key),
            Value::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        })
    }
}

impl FromStr for KeyPath {
    type Err = BadPath;

    fn from_str(text: &str) -> Result<KeyPath, BadPath> {
        let mut keys = Vec::new();
        let mut rest = text;
        loop {
            let (key, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').ok_or(BadPath::Quote)?,
                None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
            };
            if key.is_empty() {
                return Err(BadPath::EmptyPart);
            }
            keys.push(key.to_owned());
            match after.strip_prefix('.') {
                Some(next) => rest = next,
                None if after.is_empty() => return Ok(KeyPath(keys)),
                None => return Err(BadPath::Quote),
            }
        }
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, key) in self.0.iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            if key.contains('.') { write!(f, "{dot}\"{key}\"")? } else { write!(f, "{dot}{key}")? }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_reads_back_as_it_was_written() {
        for text in ["a", "a.b.c", "mcp_servers.\"my.server\".url", "list.0"] {
            assert_eq!(text.parse::<KeyPath>().unwrap().to_string(), text);
        }
        assert_eq!("a.\"b.c\"".parse::<KeyPath>().unwrap().keys(), ["a", "b.c"]);
    }

    #[test]
    fn a_broken_path_is_refused() {
        for text in ["", ".", "a.", ".a", "a..b", "\"\""] {
            assert_eq!(text.parse::<KeyPath>(), Err(BadPath::EmptyPart), "{text}");
        }
        for text in ["\"a", "\"a\"b", "a.\"b"] {
            assert_eq!(text.parse::<KeyPath>(), Err(BadPath::Quote), "{text}");
        }
    }

    #[test]
    fn a_path_finds_values_in_maps_and_lists() {
        let root = json!({"a": {"b.c": [10, {"d": 20}]}});
        let find = |text: &str| text.parse::<KeyPath>().unwrap().find(&root).cloned();

        assert_eq!(find("a.\"b.c\".1.d"), Some(json!(20)));
        assert_eq!(find("a.\"b.c\".0"), Some(json!(10)));
        assert_eq!(find("a.\"b.c\".2"), None);
        assert_eq!(find("a.b.c"), None);
    }
}
