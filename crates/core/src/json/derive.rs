//! Turns an argument type into what a model is told: a description and a parameter schema.
//!
//! The schema comes from `schemars` and is brought to the form of the recorded contracts: an
//! object with `properties` and `required`, everything in place (no references), plain types.
//!
//! - An `Option` is a property that may be left out, not one that may be null.
//! - Unit enums are a string with an `enum`, also when variants carry comments; those comments
//!   are for readers of the code. What the model should know belongs to the field. When only
//!   some variants carry comments, `schemars` lists those last.
//! - Limits that only restate the Rust type (`minimum: 0` of a `u32`, the range of an `i8`) and
//!   number formats are dropped. A limit asked for with `#[schemars(range(…))]` stays, unless it
//!   is the same as the implied one and so cannot be told apart.
//! - A type that contains itself is cut at the second round, where only its JSON type is kept.
//! - Keys stand in a fixed order, so that the text of a definition never changes by itself.
//!
//! The argument type should be a struct; an enum has no properties to list.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::keywords::{LIST, NAMED, ONE};
use super::schema;

/// What a model is told about a tool's arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived {
    /// The comment on the type, paragraphs kept, wrapped lines joined.
    pub description: String,
    /// The schema of the arguments.
    pub parameters: Value,
}

/// Order of the keywords of a node; others follow as they came.
const ORDER: [&str; 22] = [
    "type",
    "description",
    "enum",
    "const",
    "default",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
];

/// The number formats of `schemars`, with the limits they imply.
const FORMATS: [(&str, Option<i64>, Option<i64>); 15] = [
    ("int8", Some(-128), Some(127)),
    ("int16", Some(-32_768), Some(32_767)),
    ("int32", None, None),
    ("int64", None, None),
    ("int128", None, None),
    ("int", None, None),
    ("uint8", Some(0), Some(255)),
    ("uint16", Some(0), Some(65_535)),
    ("uint32", Some(0), None),
    ("uint64", Some(0), None),
    ("uint128", Some(0), None),
    ("uint", Some(0), None),
    ("float", None, None),
    ("double", None, None),
    ("duration", None, None),
];

/// The description and parameters of an argument type.
pub fn derived<T: JsonSchema>() -> Derived {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    from_schema(settings.into_generator().into_root_schema_for::<T>().to_value())
}

fn from_schema(schema: Value) -> Derived {
    // Everything stands in place already, except where a type contains itself.
    let root = if refers(&schema) { schema.clone() } else { Value::Null };
    let mut top = match shaped(&root, schema, &mut Vec::new()) {
        Value::Object(top) => top,
        _ => Map::new(),
    };
    let description = match top.shift_remove("description") {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    top.insert("type".to_owned(), "object".into());
    top.entry("properties").or_insert_with(|| json!({}));
    top.entry("required").or_insert_with(|| json!([]));
    Derived { description, parameters: Value::Object(ordered(top)) }
}

/// Whether there is a reference anywhere.
fn refers(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(word, part)| word == "$ref" || refers(part)),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

/// A node in the form of the contracts. `inside` holds the references being followed.
fn shaped(root: &Value, node: Value, inside: &mut Vec<String>) -> Value {
    let Value::Object(mut node) = node else { return node };
    if let Some(name) = schema::member(&node, "$ref").and_then(Value::as_str).map(str::to_owned) {
        if inside.contains(&name) {
            return cut(root, &node);
        }
        let mut target = schema::target(root, &node).and_then(Value::as_object).cloned().unwrap_or_default();
        node.shift_remove("$ref");
        target.extend(node);
        inside.push(name);
        let shaped = shaped(root, Value::Object(target), inside);
        inside.pop();
        return shaped;
    }
    node.retain(|word, _| !matches!(word.as_str(), "$schema" | "$defs" | "definitions" | "title"));
    for (word, value) in &mut node {
        shape_children(root, word, value, inside);
    }
    let mut node = without_null(node);
    fold_variants(&mut node);
    drop_implied(&mut node);
    if schema::member(&node, "default").is_some_and(Value::is_null) {
        node.shift_remove("default");
    }
    if let Some(Value::String(text)) = node.get_mut("description") {
        *text = unwrapped(text);
    }
    Value::Object(ordered(node))
}

fn shape_children(root: &Value, word: &str, value: &mut Value, inside: &mut Vec<String>) {
    match value {
        Value::Object(named) if NAMED.contains(&word) => {
            for part in named.values_mut() {
                *part = shaped(root, part.take(), inside);
            }
        }
        Value::Array(list) if LIST.contains(&word) => {
            for part in list {
                *part = shaped(root, part.take(), inside);
            }
        }
        part if ONE.contains(&word) => *part = shaped(root, part.take(), inside),
        _ => {}
    }
}

/// What is left of a reference to something we are inside of.
fn cut(root: &Value, node: &Map<String, Value>) -> Value {
    let kind = schema::target(root, node).and_then(|target| target.get("type"));
    kind.map_or_else(|| json!({}), |kind| json!({ "type": kind }))
}

/// Removes the null that an `Option` adds.
fn without_null(mut node: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Array(types)) = node.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            node.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = node.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    for union in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = node.get_mut(union) else { continue };
        branches.retain(|branch| branch.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = branches.as_slice() {
            let mut merged = only.clone();
            node.shift_remove(union);
            merged.extend(node);
            return merged;
        }
    }
    node
}

/// Writes a union of string constants as one string with an `enum`.
fn fold_variants(node: &mut Map<String, Value>) {
    let branches = schema::branches(node, "oneOf");
    let mut names = Vec::new();
    for branch in branches {
        if branch.get("type").is_none_or(|name| name != "string") {
            return;
        }
        match (branch.get("const"), branch.get("enum")) {
            (Some(name), None) => names.push(name.clone()),
            (None, Some(Value::Array(listed))) => names.extend(listed.iter().cloned()),
            _ => return,
        }
    }
    if !names.is_empty() {
        node.shift_remove("oneOf");
        node.insert("type".to_owned(), "string".into());
        node.insert("enum".to_owned(), Value::Array(names));
    }
}

/// Drops number formats, and the limits that follow from them.
fn drop_implied(node: &mut Map<String, Value>) {
    let Some(format) = schema::member(node, "format").and_then(Value::as_str) else { return };
    let numeric = schema::types(node).any(|name| matches!(name, "integer" | "number"));
    let Some((_, least, most)) = FORMATS.iter().find(|(name, ..)| numeric && *name == format) else { return };
    node.shift_remove("format");
    for (word, implied) in [("minimum", least), ("maximum", most)] {
        if implied.is_some() && node.get(word).and_then(Value::as_i64) == *implied {
            node.shift_remove(word);
        }
    }
}

/// Joins wrapped lines. Blank lines, list items and fenced code keep their lines.
fn unwrapped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fenced = false;
    let mut fresh = true;
    for line in text.lines() {
        let line = line.trim_end();
        let fence = line.trim_start().starts_with("```");
        let starts_line = fresh || fenced || fence || line.is_empty() || is_item(line);
        if !out.is_empty() {
            out.push(if starts_line { '\n' } else { ' ' });
        }
        out.push_str(if fenced || fence || is_item(line) { line } else { line.trim_start() });
        fenced ^= fence;
        fresh = fence || line.is_empty();
    }
    out.trim().to_owned()
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || (after_number.len() < line.len()
            && (after_number.starts_with(". ") || after_number.starts_with(") ")))
}

fn ordered(node: Map<String, Value>) -> Map<String, Value> {
    let rank = |word: &str| ORDER.iter().position(|known| *known == word).unwrap_or(ORDER.len());
    if node.keys().map(|word| rank(word)).is_sorted() {
        return node;
    }
    let mut members: Vec<(String, Value)> = node.into_iter().collect();
    members.sort_by_key(|(word, _)| rank(word));
    members.into_iter().collect()
}

#[cfg(test)]
#[path = "derive_tests.rs"]
mod tests;
