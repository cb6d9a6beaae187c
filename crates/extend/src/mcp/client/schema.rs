//! Whether a definition can be shown to a model. Providers refuse a whole request for one schema that
//! makes no sense, so a tool with such a one is left out alone.
//!
//! What is merely unusual is mended later, for every tool alike; here is only what cannot be.

use hermes_core::json::keywords::{LIST, NAMED, ONE, TYPES};
use hermes_core::json::referred;
use serde_json::{Map, Value};

/// Most bytes of one definition; more would crowd everything else out of a prompt.
const MAX_DEFINITION: usize = 128 * 1024;

/// How deep a schema may be.
const MAX_DEPTH: usize = 64;

/// Raised when the rules change, so that what was judged by older ones is judged again.
pub(super) const RULES: u32 = 1;

/// What is wrong with a definition, if something is.
pub(super) fn fault(name: &str, description: &str, schema: &Value) -> Option<String> {
    if name.trim().is_empty() {
        return Some("it has no name".to_owned());
    }
    match schema.get("type") {
        None => {}
        Some(Value::String(kind)) if kind == "object" => {}
        Some(_) => return Some("its schema does not describe an object".to_owned()),
    }
    let size = description.len() + schema.to_string().len();
    if size > MAX_DEFINITION {
        return Some(format!("its definition takes {size} bytes, more than {MAX_DEFINITION}"));
    }
    broken(schema)
}

/// What is wrong with a schema of whatever it may be, if something is.
pub(super) fn broken(schema: &Value) -> Option<String> {
    let Value::Object(map) = schema else { return Some("its schema is not an object".to_owned()) };
    if map.get("properties").is_some_and(|it| !it.is_object()) {
        return Some("`properties` of its schema is not a map".to_owned());
    }
    if map.get("required").is_some_and(|it| !it.is_array()) {
        return Some("`required` of its schema is not a list".to_owned());
    }
    if depth(schema, 0) > MAX_DEPTH {
        return Some(format!("its schema is more than {MAX_DEPTH} levels deep"));
    }
    let mut at = Vec::new();
    node_fault(map, schema, &mut at).map(|why| match at.as_slice() {
        [] => format!("in its schema, {why}"),
        at => format!("in its schema, at `{}`, {why}", at.join(".")),
    })
}

/// What is wrong with one part of a schema or with what is in it; `at` says where that is.
fn node_fault<'a>(node: &'a Map<String, Value>, root: &Value, at: &mut Vec<&'a str>) -> Option<String> {
    let own = own_fault(node, root);
    if own.is_some() {
        return own;
    }
    for (word, value) in node {
        let (key, before) = (word.as_str(), at.len());
        let found = match value {
            Value::Object(named) if NAMED.contains(&key) => named.iter().find_map(|(name, inner)| {
                at.truncate(before);
                at.push(name);
                node_fault(inner.as_object()?, root, at)
            }),
            Value::Array(list) if LIST.contains(&key) => {
                at.push(key);
                list.iter().find_map(|inner| node_fault(inner.as_object()?, root, at))
            }
            Value::Object(inner) if ONE.contains(&key) => {
                at.push(key);
                node_fault(inner, root, at)
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        at.truncate(before);
    }
    None
}

/// What is wrong with the keywords of one part.
fn own_fault(node: &Map<String, Value>, root: &Value) -> Option<String> {
    let is_type = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match node.get("type") {
        None => {}
        Some(Value::Array(names)) if names.iter().all(is_type) => {}
        Some(name) if is_type(name) => {}
        Some(other) => return Some(format!("{other} is no type")),
    }
    if let Some(Value::String(reference)) = node.get("$ref")
        && let Some(inside) = reference.strip_prefix('#')
        && referred(root, reference).is_none()
        && (inside.starts_with('/') || !anchored(root, inside))
    {
        return Some(format!("`{reference}` refers to nothing"));
    }
    if let Some(Value::String(pattern)) = node.get("pattern")
        && !is_pattern(pattern)
    {
        return Some(format!("`{pattern}` is no regular expression"));
    }
    let listed = ["enum", "allOf", "anyOf", "oneOf"].into_iter().find(|word| match node.get(*word) {
        None => false,
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => true,
    });
    listed.map(|word| format!("`{word}` is no list, or an empty one"))
}

/// Whether something in the schema goes by this name.
fn anchored(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(map) => {
            let here = ["$anchor", "$dynamicAnchor", "$id"].iter().any(|word| {
                let found = map.get(*word).and_then(Value::as_str);
                found.is_some_and(|found| found.trim_start_matches('#') == name)
            });
            here || map.values().any(|inner| anchored(inner, name))
        }
        Value::Array(items) => items.iter().any(|inner| anchored(inner, name)),
        _ => false,
    }
}

/// Whether a regular expression is whole: what is opened is closed, and what is repeated is there. Which
/// of the many dialects it is written in is not asked.
fn is_pattern(pattern: &str) -> bool {
    let mut letters = pattern.chars().peekable();
    let (mut open, mut repeatable) = (0_usize, false);
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next().is_none() => return false,
            '[' => {
                if !class_ends(&mut letters) {
                    return false;
                }
                repeatable = true;
            }
            '(' => {
                open += 1;
                repeatable = false;
                if letters.next_if_eq(&'?').is_some() {
                    // What kind of group it is.
                    letters.next();
                }
            }
            ')' if open == 0 => return false,
            ')' => {
                open -= 1;
                repeatable = true;
            }
            '|' => repeatable = false,
            '*' | '+' | '?' if !repeatable => return false,
            // After a count, `?` and `+` say how greedy it is.
            _ => repeatable = true,
        }
    }
    open == 0
}

/// Goes on to the end of a set of letters; whether there is one.
fn class_ends(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    letters.next_if_eq(&'^');
    let mut depth = 1_usize;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            // Some dialects know sets within sets, and names of sets.
            '[' if letters.next_if_eq(&':').is_some() => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return true;
        }
    }
    false
}

/// How deep a value is, as far as is of interest.
fn depth(value: &Value, at: usize) -> usize {
    if at > MAX_DEPTH {
        return at;
    }
    let deepest =
        |inner: &mut dyn Iterator<Item = &Value>| inner.map(|it| depth(it, at + 1)).max().unwrap_or(at);
    match value {
        Value::Array(items) => deepest(&mut items.iter()),
        Value::Object(map) => deepest(&mut map.values()),
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong(schema: &Value) -> Option<String> {
        fault("t", "", schema)
    }

    #[test]
    fn what_is_no_schema_of_arguments_is_told() {
        let mut deep = json!({});
        for _ in 0..100 {
            deep = json!({ "type": "object", "properties": { "x": deep } });
        }
        for (schema, word) in [
            (json!(null), "not an object"),
            (json!({ "type": "string" }), "describe"),
            (json!({ "properties": [] }), "map"),
            (json!({ "required": "x" }), "list"),
            (deep, "deep"),
            (json!({ "type": "object", "x": "y".repeat(200_000) }), "bytes"),
        ] {
            assert!(wrong(&schema).unwrap().contains(word), "{word}");
        }
        assert_eq!(wrong(&json!({})), None);
        assert_eq!(fault(" ", "", &json!({})).as_deref(), Some("it has no name"));
    }

    #[test]
    fn what_is_wrong_further_down_is_told_with_its_place() {
        let of = |inner: Value| wrong(&json!({ "properties": { "a": { "items": inner } } }));

        assert_eq!(
            of(json!({ "type": "strang" })).as_deref(),
            Some("in its schema, at `a.items`, \"strang\" is no type")
        );
        assert_eq!(
            of(json!({ "$ref": "#/definitions/none" })).as_deref(),
            Some("in its schema, at `a.items`, `#/definitions/none` refers to nothing")
        );
        assert_eq!(
            of(json!({ "pattern": "([" })).as_deref(),
            Some("in its schema, at `a.items`, `([` is no regular expression")
        );
        for inner in [json!({ "type": ["string", 3] }), json!({ "enum": [] }), json!({ "anyOf": {} })] {
            assert!(of(inner.clone()).is_some(), "{inner}");
        }
    }

    #[test]
    fn names_of_properties_are_no_keywords_and_what_is_right_stays() {
        let schema = json!({
            "$defs": { "a/b": { "type": ["string", "null"] }, "c": { "$anchor": "here" } },
            "properties": {
                "type": { "type": "string", "enum": ["strang"] }, "$ref": { "$ref": "#/$defs/a~1b" },
                "pattern": { "$ref": "#/%24defs/c" }, "enum": { "$ref": "#here" }, "whole": { "$ref": "#" },
                "other": { "$ref": "https://example.org/s.json" }, "bare": "string", "any": true,
                "default": { "default": { "type": "strang", "pattern": "([" } },
            },
        });

        assert_eq!(wrong(&schema), None);
    }

    #[test]
    fn patterns_of_all_dialects_pass_and_broken_ones_do_not() {
        let whole = [
            "",
            "^a$",
            r"^\d{3}-[A-Z\]]+?$",
            "(?<year>[0-9]{4})",
            "(?=.*x)(?!y)a",
            "[^)(]*",
            "a|b",
            r"\(",
            "a{,3}",
            "[[:alpha:]]+",
            "(?:a|b)*",
            "]",
            "(?i)x",
        ];
        let broken = ["([", "(", ")", "[a", "a)", "*a", "(*a)", "a|+", "\\", "[\\]"];

        assert_eq!(
            whole.iter().filter(|pattern| !is_pattern(pattern)).collect::<Vec<_>>(),
            [""; 0].iter().collect::<Vec<_>>()
        );
        assert_eq!(
            broken.iter().filter(|pattern| is_pattern(pattern)).collect::<Vec<_>>(),
            [""; 0].iter().collect::<Vec<_>>()
        );
    }
}
