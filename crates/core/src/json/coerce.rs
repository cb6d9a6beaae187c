//! Brings arguments to the types a tool's schema asks for, without losing information.
//!
//! Models send `"42"` for 42, `"true"` for true, one string where a list is wanted, JSON inside
//! a string, `null` for "left out". Where the schema leaves one reading, it is taken:
//!
//! - A value the schema already allows is never touched, in a union when any branch allows it.
//!   (Except that `5.0` becomes `5` where only integers are wanted: same value, other spelling.)
//! - Text becomes a number only if it is exactly that number, a boolean only if it says `true`
//!   or `false`, null only if it says `null` and null is allowed and text is not.
//! - Text becomes an array or object if it holds one. Any other value becomes a list of one,
//!   if it then fits the list's items.
//! - An integer becomes text where only text is wanted: ids often look like numbers.
//! - A text that differs from exactly one choice of an enum in case or surrounding space
//!   becomes that choice.
//! - Null for an optional property that does not allow it is dropped.
//!
//! Whatever remains wrong is left as it came, for [`validate`](super::validate()) to name.

use serde_json::{Map, Value};

use super::schema::{self, MAX_DEPTH, View};
use super::validate::Check;
use super::{number, repair};

/// Brings arguments to the types of the schema, in place.
pub fn coerce(schema: &Value, args: &mut Map<String, Value>) {
    let walk = Walk { root: schema, check: Check::new(schema) };
    let mut value = Value::Object(std::mem::take(args));
    walk.node(schema, &mut value, Lists::Wrap, 0);
    if let Value::Object(members) = value {
        *args = members;
    }
}

/// Whether a single value may become a list of one.
#[derive(Clone, Copy, PartialEq)]
enum Lists {
    Wrap,
    Keep,
}

struct Walk<'a> {
    root: &'a Value,
    /// Tries values, and counts the steps of both so that no schema can ask for endless trials.
    check: Check<'a>,
}

impl Walk<'_> {
    fn node(&self, schema: &Value, value: &mut Value, lists: Lists, depth: u32) {
        let Value::Object(schema) = schema else { return };
        if depth > MAX_DEPTH || !self.check.spend() {
            return;
        }
        if schema::is_plain(schema) {
            return self.convert(schema, value, lists, depth);
        }
        if let Some(target) = schema::target(self.root, schema) {
            self.node(target, value, lists, depth + 1);
        }
        self.convert(schema, value, lists, depth);
        choose(schema, value);
        match value {
            Value::Object(members) => self.members(schema, members, depth),
            Value::Array(items) => self.items(schema, items, depth),
            _ => {}
        }
        for part in schema::branches(schema, "allOf") {
            self.node(part, value, lists, depth + 1);
        }
        self.union(schema::branches(schema, "anyOf"), value, depth);
        self.union(schema::branches(schema, "oneOf"), value, depth);
    }

    /// Converts the value when its type is not one of those the node lists.
    fn convert(&self, schema: &Map<String, Value>, value: &mut Value, lists: Lists, depth: u32) {
        let names = schema::types(schema);
        if names.clone().next().is_none() || value.is_null() {
            return;
        }
        if names.clone().any(|name| View::of(value).is(name)) {
            if let Value::Number(float) = &*value
                && !names.clone().any(|name| name == "number")
                && let Some(integer) = number::integer_of_float(float)
            {
                *value = Value::Number(integer);
            }
            return;
        }
        let nullable = schema::member(schema, "nullable") == Some(&Value::Bool(true));
        let nulls = nullable.then_some("null");
        if let Some(converted) = names.clone().chain(nulls).find_map(|name| converted(name, value)) {
            *value = converted;
        } else if lists == Lists::Wrap && names.clone().any(|name| name == "array") {
            self.wrap(schema, value, depth);
        }
    }

    /// Makes a list of one, if the value fits as an item.
    fn wrap(&self, schema: &Map<String, Value>, value: &mut Value, depth: u32) {
        if value.as_str().is_some_and(looks_like_broken_list) {
            return;
        }
        let mut item = value.clone();
        if let Some(wanted) = schema::element(schema, 0) {
            self.node(wanted, &mut item, Lists::Keep, depth + 1);
            if !self.check.fits(wanted, &item) {
                return;
            }
        }
        *value = Value::Array(vec![item]);
    }

    /// Takes the first branch the value fits after coercion; a list of one is the last resort.
    fn union(&self, branches: &[Value], value: &mut Value, depth: u32) {
        if branches.is_empty() || branches.iter().any(|branch| self.check.fits(branch, value)) {
            return;
        }
        for lists in [Lists::Keep, Lists::Wrap] {
            for branch in branches {
                let mut trial = value.clone();
                self.node(branch, &mut trial, lists, depth + 1);
                if self.check.fits(branch, &trial) {
                    *value = trial;
                    return;
                }
            }
        }
    }

    fn members(&self, schema: &Map<String, Value>, members: &mut Map<String, Value>, depth: u32) {
        let properties = schema::member(schema, "properties").and_then(Value::as_object);
        let others = schema::member(schema, "additionalProperties")
            .filter(|_| schema::member(schema, "patternProperties").is_none());
        let mut absent = Vec::new();
        for (key, value) in members.iter_mut() {
            let known = properties.and_then(|known| schema::member(known, key));
            let Some(wanted) = known.or(others) else { continue };
            self.node(wanted, value, Lists::Wrap, depth + 1);
            if value.is_null()
                && known.is_some_and(|known| !self.check.fits(known, value))
                && !schema::required(schema).any(|name| name == key)
            {
                absent.push(key.clone());
            }
        }
        for key in absent {
            members.shift_remove(&key);
        }
    }

    fn items(&self, schema: &Map<String, Value>, items: &mut [Value], depth: u32) {
        for (index, item) in items.iter_mut().enumerate() {
            if let Some(wanted) = schema::element(schema, index) {
                self.node(wanted, item, Lists::Wrap, depth + 1);
            }
        }
    }
}

/// The value as the named type, if it is one in other clothes.
fn converted(name: &str, value: &Value) -> Option<Value> {
    let text = match value {
        Value::String(text) => text.trim(),
        Value::Number(number) if name == "string" && !number.is_f64() => {
            return Some(number.to_string().into());
        }
        _ => return None,
    };
    match name {
        "integer" => number::integer_of_text(text).map(Value::Number),
        "number" => number::number_of_text(text).map(Value::Number),
        "boolean" if text.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        "boolean" if text.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        "null" if text == "null" => Some(Value::Null),
        "array" => repair::container(text).filter(Value::is_array),
        "object" => repair::container(text).filter(Value::is_object),
        _ => None,
    }
}

/// Whether text was meant as a list of JSON values and is not one.
fn looks_like_broken_list(text: &str) -> bool {
    let text = text.trim();
    let inside = text.strip_prefix('[').map(str::trim_start);
    inside.is_some_and(|inside| inside.starts_with(['"', '\'', '{', '[']) || inside.ends_with(']'))
}

/// Takes the one choice of an enum that the text spells.
fn choose(schema: &Map<String, Value>, value: &mut Value) {
    let choices = match (schema::member(schema, "enum"), schema::member(schema, "const")) {
        (Some(Value::Array(choices)), _) => choices.as_slice(),
        (None, Some(only)) => std::slice::from_ref(only),
        _ => return,
    };
    let Value::String(text) = &*value else { return };
    if choices.iter().any(|choice| View::of(value).equals(choice)) {
        return;
    }
    let folded = text.trim().to_lowercase();
    let spelled = |choice: &&Value| match choice {
        Value::String(name) => name.trim().to_lowercase() == folded,
        Value::Bool(truth) => truth.to_string() == folded,
        Value::Number(number) => number::number_of_text(&folded)
            .and_then(|given| number::compare(&given, number))
            .is_some_and(std::cmp::Ordering::is_eq),
        _ => false,
    };
    let mut spelled = choices.iter().filter(spelled);
    if let (Some(choice), None) = (spelled.next(), spelled.next()) {
        *value = choice.clone();
    }
}

#[cfg(test)]
#[path = "coerce_tests.rs"]
mod tests;
