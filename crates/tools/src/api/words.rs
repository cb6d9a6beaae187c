//! Small things that every service needs: arguments, ids, settings, fields.

use hermes_core::error::ToolError;
use hermes_core::keys::Keys;
use serde_json::Value;

/// No more than so many characters, with a sign that there was more.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Where a service is: where the variable points, or at its usual address.
pub(crate) fn address(keys: &dyn Keys, variable: &str, usual: &str) -> String {
    keys.key(variable).unwrap_or_else(|| usual.to_owned())
}

/// The value of a variable that has to be there.
pub(crate) fn key(keys: &dyn Keys, variable: &str) -> Result<String, ToolError> {
    let value = keys.key(variable).map(|value| value.trim().to_owned());
    value.ok_or_else(|| ToolError::Failed(format!("{variable} is not set; `hermes setup` asks for it")))
}

/// An argument that this action needs.
pub(crate) fn needed<'a>(value: Option<&'a str>, name: &str, action: &str) -> Result<&'a str, ToolError> {
    let value = value.map(str::trim).filter(|value| !value.is_empty());
    value.ok_or_else(|| ToolError::Arguments(format!("{action} needs {name}")))
}

/// An id as services hand them out, which is safe wherever it is written.
pub(crate) fn id<'a>(value: &'a str, name: &str) -> Result<&'a str, ToolError> {
    let value = value.trim();
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if (1..=128).contains(&value.len()) && value.chars().all(usual) {
        return Ok(value);
    }
    Err(ToolError::Arguments(format!("{name}: {:?} is no id", shortened(value, 60))))
}

/// Sets a field of an object.
pub(crate) fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

/// The fields of an object that are there and say something, under their own names.
pub(crate) fn picked(value: &Value, fields: &[&str]) -> serde_json::Map<String, Value> {
    let there =
        |field: &&str| Some(((*field).to_owned(), value.get(field).filter(|it| !it.is_null())?.clone()));
    fields.iter().filter_map(there).collect()
}
