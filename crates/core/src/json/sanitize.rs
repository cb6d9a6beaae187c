//! Makes a tool's schema fit for a provider, whoever wrote it.
//!
//! Always ([`Dialect::Lenient`]):
//! - The top level is an object with `properties`. A reference there is replaced by what it
//!   refers to. `allOf`, `anyOf`, `oneOf`, `enum` and `not` are not accepted there by providers:
//!   the properties of the branches are taken in, required where every reading requires them.
//! - A bare type name or a boolean in the place of a schema becomes the schema it stands for.
//! - `type: [X, null]` and a union of X and null become X with `nullable`; several types become
//!   `anyOf`, each taking its own keywords along.
//! - Objects have `properties`; `required` lists known names only and is left out when empty;
//!   `default` beside `$ref` is removed.
//!
//! [`Dialect::Strict`], for validators in the manner of `OpenAI`'s strict mode, also:
//! - removes `pattern`, `format`, and every `enum` with a `/` in a choice;
//! - writes `const` as an `enum` of one, `oneOf` as `anyOf`;
//! - closes objects that list properties and do not say whether others may follow.
//!
//! It does not make every property required, as that would change what may be left out.
//! Arguments are checked against the original schema, so what is removed here is still enforced.
//! Names inside `properties` are never taken for keywords. Doing it twice changes nothing.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::keywords::{LIST, NAMED, ONE};
use super::schema;

/// How much a provider accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Common JSON Schema.
    Lenient,
    /// The subset that strict validators accept.
    Strict,
}

/// The JSON Schema types.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Keywords that providers do not accept at the top level.
const NOT_AT_TOP: [&str; 6] = ["allOf", "anyOf", "oneOf", "enum", "not", "nullable"];

/// Keywords that belong to one type and move with it.
const OF_ARRAY: [&str; 5] = ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"];
const OF_OBJECT: [&str; 3] = ["properties", "required", "additionalProperties"];

/// A schema the provider accepts for the parameters of a tool.
pub fn sanitize(schema: &Value, dialect: Dialect) -> Cow<'_, Value> {
    match dialect {
        // Most are as they should be, and there are many.
        Dialect::Lenient if is_fit(schema) => Cow::Borrowed(schema),
        _ => Cow::Owned(made_fit(schema, dialect)),
    }
}

/// Changes with what [`is_fit`] says.
pub const FIT_RULES: u32 = 1;

/// Whether [`sanitize`] leaves a schema as it is in the lenient dialect, where that is quickly seen.
pub fn is_fit(schema: &Value) -> bool {
    let Value::Object(node) = schema else { return false };
    let mut first = node.iter();
    first.next().is_some_and(|(word, value)| word == "type" && value == "object")
        && first.next().is_some_and(|(word, _)| word == "properties")
        && !node.contains_key("enum")
        && is_plain(schema)
}

/// The same below the top.
fn is_plain(schema: &Value) -> bool {
    let Value::Object(node) = schema else { return false };
    let nested = |(word, value): (&String, &Value)| match (word.as_str(), value) {
        ("type", value) => value.is_string(),
        ("properties", Value::Object(named)) => named.values().all(is_plain),
        ("items" | "additionalProperties", value) => value.is_boolean() || is_plain(value),
        ("nullable" | "$ref", _) => false,
        (word, _) => !(NAMED.contains(&word) || LIST.contains(&word) || ONE.contains(&word)),
    };
    let is_object = node.get("type").is_some_and(|name| name == "object");
    let properties = node.get("properties");
    (properties.is_some() || !is_object)
        && node.iter().all(nested)
        && node.get("required").is_none_or(|required| names_known(required, properties))
}

/// Whether `required` lists known names, each once; without `properties` it is left as it is.
fn names_known(required: &Value, properties: Option<&Value>) -> bool {
    let Some(properties) = properties else { return true };
    let Some(names) = required.as_array().filter(|names| !names.is_empty()) else { return false };
    let known = |name: &Value| name.as_str().is_some_and(|name| properties.get(name).is_some());
    let repeated = |(at, name): (usize, &Value)| names.iter().take(at).any(|before| before == name);
    names.iter().all(known) && !names.iter().enumerate().any(repeated)
}

fn made_fit(schema: &Value, dialect: Dialect) -> Value {
    let top = top_level(schema);
    let mut node = cleaned_node(top, dialect);
    // A list of types or a null beside them cannot be meant at the top, where arguments stand.
    node.retain(|word, _| !NOT_AT_TOP.contains(&word.as_str()));
    Value::Object(node)
}

/// The schema as one plain object node.
fn top_level(schema: &Value) -> Map<String, Value> {
    let Value::Object(given) = schema else { return object_node() };
    let mut top = given.clone();
    // A reference to the whole, or a ring of references, has nothing to add.
    for _ in 0..8 {
        let Some(target) = schema::target(schema, &top).and_then(Value::as_object).cloned() else { break };
        top.shift_remove("$ref");
        for (word, value) in target {
            top.entry(word).or_insert(value);
        }
    }
    top.retain(|word, _| word != "$ref");
    for part in schema::branches(&top, "allOf").to_vec() {
        absorb(&mut top, schema, &[part]);
    }
    for union in ["anyOf", "oneOf"] {
        let branches = schema::branches(&top, union).to_vec();
        absorb(&mut top, schema, &branches);
    }
    top.retain(|word, _| !NOT_AT_TOP.contains(&word.as_str()));
    let mut node = object_node();
    node.append(&mut top);
    node.insert("type".to_owned(), "object".into());
    node
}

/// Takes in the properties of all branches, and requires what each of them requires.
fn absorb(top: &mut Map<String, Value>, root: &Value, branches: &[Value]) {
    let branches: Vec<&Map<String, Value>> = branches
        .iter()
        .filter_map(Value::as_object)
        .map(|branch| schema::target(root, branch).and_then(Value::as_object).unwrap_or(branch))
        .collect();
    let Some(first) = branches.first() else { return };
    let shared: Vec<Value> = schema::required(first)
        .filter(|name| branches.iter().all(|branch| schema::required(branch).any(|other| other == *name)))
        .map(Value::from)
        .collect();
    let properties = top.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        let named = branches.iter().filter_map(|branch| branch.get("properties")?.as_object()).flatten();
        for (name, property) in named {
            properties.entry(name.clone()).or_insert_with(|| property.clone());
        }
    }
    if let (false, Value::Array(required)) =
        (shared.is_empty(), top.entry("required").or_insert_with(|| json!([])))
    {
        required.extend(shared);
    }
}

fn object_node() -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), "object".into()), ("properties".to_owned(), json!({}))])
}

/// Cleans what stands where a schema must stand.
fn cleaned(value: Value, dialect: Dialect) -> Value {
    match value {
        Value::Object(node) => Value::Object(cleaned_node(node, dialect)),
        Value::String(name) if name == "object" => Value::Object(object_node()),
        Value::String(name) if TYPES.contains(&name.as_str()) => json!({ "type": name }),
        Value::String(_) => Value::Object(object_node()),
        Value::Bool(false) => json!({"not": {}}),
        _ => json!({}),
    }
}

fn cleaned_node(mut node: Map<String, Value>, dialect: Dialect) -> Map<String, Value> {
    split_types(&mut node);
    clean_children(&mut node, dialect);
    let mut node = collapse_null(node);
    settle_object(&mut node);
    settle_nullable_enum(&mut node);
    if schema::member(&node, "$ref").is_some() {
        node.shift_remove("default");
    }
    if dialect == Dialect::Strict {
        tighten(&mut node);
    }
    node
}

fn clean_children(node: &mut Map<String, Value>, dialect: Dialect) {
    for (word, value) in node.iter_mut() {
        let word = word.as_str();
        match value {
            Value::Object(named) if NAMED.contains(&word) => {
                for schema in named.values_mut() {
                    *schema = cleaned(schema.take(), dialect);
                }
            }
            Value::Array(list) if LIST.contains(&word) => {
                for schema in list {
                    *schema = cleaned(schema.take(), dialect);
                }
            }
            // Closed and open are said with booleans here, which every provider understands.
            Value::Bool(_) if matches!(word, "additionalProperties" | "unevaluatedProperties" | "items") => {}
            other if ONE.contains(&word) => *other = cleaned(other.take(), dialect),
            _ => {}
        }
    }
}

/// Writes a list of types as one type, or as a union of them.
fn split_types(node: &mut Map<String, Value>) {
    let Some(Value::Array(listed)) = schema::member(node, "type") else { return };
    let mut names: Vec<String> = Vec::new();
    for name in listed.iter().filter_map(Value::as_str) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    let was_empty = names.is_empty();
    let before = names.len();
    names.retain(|name| name != "null");
    if names.len() < before && !names.is_empty() {
        node.insert("nullable".to_owned(), true.into());
    }
    match names.as_slice() {
        [] => {
            let only = if was_empty { "object" } else { "null" };
            node.insert("type".to_owned(), only.into());
        }
        [only] => {
            node.insert("type".to_owned(), only.as_str().into());
        }
        _ => {
            node.shift_remove("type");
            // A union that is there already says more than the list of types.
            if !node.contains_key("anyOf") {
                let branches = names.iter().map(|name| branch(node, name)).collect::<Vec<_>>();
                for word in OF_ARRAY.iter().chain(&OF_OBJECT) {
                    node.shift_remove(*word);
                }
                node.insert("anyOf".to_owned(), Value::Array(branches));
            }
        }
    }
}

/// One branch of a union of types, with the keywords that only this type has.
fn branch(node: &Map<String, Value>, name: &str) -> Value {
    let own: &[&str] = match name {
        "array" => &OF_ARRAY,
        "object" => &OF_OBJECT,
        _ => &[],
    };
    let mut branch = Map::from_iter([("type".to_owned(), Value::from(name))]);
    for word in own {
        if let Some(value) = node.get(*word) {
            branch.insert((*word).to_owned(), value.clone());
        }
    }
    Value::Object(branch)
}

/// Replaces a union of null and one other branch by that branch, made nullable.
fn collapse_null(mut node: Map<String, Value>) -> Map<String, Value> {
    for union in ["anyOf", "oneOf"] {
        let branches = schema::branches(&node, union);
        let others: Vec<_> = branches.iter().filter(|branch| !is_null(branch)).collect();
        let [Value::Object(only)] = others.as_slice() else { continue };
        if branches.len() == 1 {
            continue;
        }
        let mut merged = only.clone();
        node.shift_remove(union);
        for (word, value) in node {
            let about = matches!(word.as_str(), "title" | "description" | "default" | "examples");
            if about || !merged.contains_key(&word) {
                merged.insert(word, value);
            }
        }
        merged.insert("nullable".to_owned(), true.into());
        return collapse_null(merged);
    }
    node
}

fn is_null(schema: &Value) -> bool {
    let Value::Object(schema) = schema else { return false };
    schema.get("type").is_some_and(|name| name == "null")
        || schema.get("const").is_some_and(Value::is_null)
        || schema.get("enum").is_some_and(|choices| *choices == json!([null]))
}

fn settle_object(node: &mut Map<String, Value>) {
    if schema::member(node, "properties").is_some_and(|properties| !properties.is_object()) {
        node.insert("properties".to_owned(), json!({}));
    }
    if schema::member(node, "type").is_some_and(|name| name == "object") {
        node.entry("properties").or_insert_with(|| json!({}));
    }
    let Some(Value::Object(properties)) = schema::member(node, "properties") else { return };
    let Some(required) = schema::member(node, "required") else { return };
    let mut known: Vec<Value> = Vec::new();
    for name in required.as_array().into_iter().flatten() {
        if name.as_str().is_some_and(|text| properties.contains_key(text)) && !known.contains(name) {
            known.push(name.clone());
        }
    }
    if known.is_empty() {
        node.shift_remove("required");
    } else {
        node.insert("required".to_owned(), Value::Array(known));
    }
}

/// `nullable` says it already; a null among strings is refused by some providers.
fn settle_nullable_enum(node: &mut Map<String, Value>) {
    let nullable = schema::member(node, "nullable") == Some(&Value::Bool(true))
        && schema::member(node, "type").is_some();
    if nullable
        && let Some(Value::Array(choices)) = node.get_mut("enum")
        && choices.iter().any(|choice| !choice.is_null())
    {
        choices.retain(|choice| !choice.is_null());
    }
}

fn tighten(node: &mut Map<String, Value>) {
    node.shift_remove("pattern");
    node.shift_remove("format");
    if let Some(only) = node.shift_remove("const") {
        node.entry("enum").or_insert_with(|| json!([only]));
    }
    let slashed = |choice: &Value| choice.as_str().is_some_and(|text| text.contains('/'));
    if node.get("enum").and_then(Value::as_array).is_some_and(|choices| choices.iter().any(slashed)) {
        node.shift_remove("enum");
    }
    if !node.contains_key("anyOf")
        && let Some(union) = node.shift_remove("oneOf")
    {
        node.insert("anyOf".to_owned(), union);
    }
    let listed = node.get("properties").and_then(Value::as_object).is_some_and(|named| !named.is_empty());
    let object = node.get("type").is_some_and(|name| name == "object");
    if object && listed && !node.contains_key("patternProperties") {
        node.entry("additionalProperties").or_insert(Value::Bool(false));
    }
}

#[cfg(test)]
#[path = "sanitize_tests.rs"]
mod tests;
