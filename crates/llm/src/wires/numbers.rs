//! Token counts, wherever a provider puts them.

use serde_json::Value;

/// The first of these paths (`a.b`) that holds a number.
pub(super) fn tokens(usage: &Value, paths: &[&str]) -> Option<u64> {
    paths.iter().find_map(|path| path.split('.').try_fold(usage, |value, key| value.get(key))?.as_u64())
}
