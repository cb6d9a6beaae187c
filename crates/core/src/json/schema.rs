//! What several readers of a schema need: views of values, types, references.

use serde_json::{Map, Number, Value};

use super::number;

/// How far a check may descend, through data and references together.
pub(super) const MAX_DEPTH: u32 = 256;

/// How many schema nodes one check may visit. Hostile schemas can ask for more than any machine
/// can do; honest arguments stay far below.
pub(super) const MAX_STEPS: u32 = 250_000;

/// A borrowed value, so that a whole argument map can be checked like any other value.
#[derive(Clone, Copy)]
pub(super) enum View<'a> {
    Null,
    Bool(bool),
    Number(&'a Number),
    String(&'a str),
    Array(&'a [Value]),
    Object(&'a Map<String, Value>),
}

impl<'a> View<'a> {
    /// The view of a value.
    pub(super) fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::String(text),
            Value::Array(items) => Self::Array(items),
            Value::Object(members) => Self::Object(members),
        }
    }

    /// Whether the value is of the named JSON Schema type. An unknown name says nothing.
    pub(super) fn is(self, name: &str) -> bool {
        match name {
            "null" => matches!(self, Self::Null),
            "boolean" => matches!(self, Self::Bool(_)),
            "integer" => matches!(self, Self::Number(number) if number::is_whole(number)),
            "number" => matches!(self, Self::Number(_)),
            "string" => matches!(self, Self::String(_)),
            "array" => matches!(self, Self::Array(_)),
            "object" => matches!(self, Self::Object(_)),
            _ => true,
        }
    }

    /// Equality by value: `1` and `1.0` are the same, the order of members does not matter.
    pub(super) fn equals(self, other: &Value) -> bool {
        match (self, other) {
            (Self::Null, Value::Null) => true,
            (Self::Bool(left), Value::Bool(right)) => left == *right,
            (Self::Number(left), Value::Number(right)) => {
                number::compare(left, right).is_some_and(std::cmp::Ordering::is_eq)
            }
            (Self::String(left), Value::String(right)) => left == right,
            (Self::Array(left), Value::Array(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(l, r)| View::of(l).equals(r))
            }
            (Self::Object(left), Value::Object(right)) => {
                left.len() == right.len()
                    && left.iter().all(|(key, l)| member(right, key).is_some_and(|r| View::of(l).equals(r)))
            }
            _ => false,
        }
    }
}

/// Up to this many members a look at each is quicker than hashing the name.
const FEW: usize = 16;

/// The member of that name. A check asks a node for some twenty keywords, of which it has three
/// or four: reading past those beats hashing every keyword asked for.
pub(super) fn member<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if members.len() > FEW {
        return members.get(name);
    }
    members.iter().find(|(known, _)| known.as_str() == name).map(|(_, value)| value)
}

/// Whether a node says nothing but the type; the rest is words for readers. Most properties are so.
pub(super) fn is_plain(schema: &Map<String, Value>) -> bool {
    let plain = |word: &str| matches!(word, "type" | "description" | "default" | "title" | "format");
    schema.keys().all(|word| plain(word))
}

/// The type names a schema node lists; none means any type.
pub(super) fn types(schema: &Map<String, Value>) -> impl Iterator<Item = &str> + Clone {
    let names = match member(schema, "type") {
        Some(Value::Array(names)) => names.as_slice(),
        Some(name) => std::slice::from_ref(name),
        None => &[],
    };
    names.iter().filter_map(Value::as_str)
}

/// The branches of a union keyword.
pub(super) fn branches<'a>(schema: &'a Map<String, Value>, keyword: &str) -> &'a [Value] {
    member(schema, keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The names a schema node requires.
pub(super) fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    branches(schema, "required").iter().filter_map(Value::as_str)
}

/// Where a `$ref` into the same document leads. References to other documents lead nowhere.
pub(super) fn target<'a>(root: &'a Value, schema: &Map<String, Value>) -> Option<&'a Value> {
    referred(root, member(schema, "$ref")?.as_str()?)
}

/// What a reference such as `#/$defs/name` means in this document, if it is a path and leads somewhere.
pub fn referred<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.contains('%') { root.pointer(&decoded(pointer)) } else { root.pointer(pointer) }
}

/// Undoes the percent encoding of a reference.
fn decoded(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let byte = after.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        rest = byte.and_then(|_| after.get(2..)).unwrap_or(after);
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The schemas of an array's elements: first those by position, then the one for the rest.
pub(super) fn element(schema: &Map<String, Value>, index: usize) -> Option<&Value> {
    let tuple = branches(schema, "prefixItems");
    match (tuple.get(index), member(schema, "items")) {
        (Some(positional), _) => Some(positional),
        (None, Some(Value::Array(older))) => older.get(index).or_else(|| member(schema, "additionalItems")),
        (None, rest) => rest,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_followed_inside_the_document_only() {
        let root = json!({"$defs": {"a b": {"type": "string"}, "c~d": true}});
        let ask = |to: &str| target(&root, json!({ "$ref": to }).as_object().unwrap()).cloned();
        assert_eq!(ask("#/$defs/a%20b"), Some(json!({"type": "string"})));
        assert_eq!(ask("#/$defs/c~0d"), Some(json!(true)));
        assert_eq!(ask("#"), Some(root.clone()));
        assert_eq!(ask("#/$defs/missing%"), None);
        assert_eq!(ask("other.json#/a"), None);
    }

    #[test]
    fn elements_are_found_by_position_in_both_spellings() {
        let new = json!({"prefixItems": [{"const": 1}], "items": {"const": 2}});
        let old = json!({"items": [{"const": 1}], "additionalItems": {"const": 2}});
        for schema in [new, old] {
            let schema = schema.as_object().unwrap();
            assert_eq!(element(schema, 0), Some(&json!({"const": 1})));
            assert_eq!(element(schema, 5), Some(&json!({"const": 2})));
        }
    }
}
