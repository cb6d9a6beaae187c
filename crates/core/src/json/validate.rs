//! Checks arguments against a tool's schema, and says what is wrong and where.
//!
//! Understood: `type`, `nullable`, `enum`, `const`, the limits of numbers, strings, arrays and
//! objects, `properties`, `required`, `additionalProperties`, `items`, `prefixItems`,
//! `uniqueItems`, `anyOf`, `oneOf`, `allOf`, `not`, boolean schemas, and `$ref` inside the
//! document. Everything else says nothing here. That holds for `pattern` and `format` too: what
//! they mean differs between dialects, and the tool checks its own strings. So that an
//! unchecked keyword never makes a value look wrong, `not` and the "only one" of `oneOf` count
//! only where every keyword involved is understood, and `additionalProperties` only where there
//! are no `patternProperties`.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use super::number;
use super::schema::{self, MAX_DEPTH, MAX_STEPS, View};
use super::violation::{self, Path, Violation, counted, shown};

/// Checks the arguments of a call.
///
/// # Errors
/// The first violation found.
pub fn validate(schema: &Value, args: &Map<String, Value>) -> Result<(), Violation> {
    Check::new(schema).node(schema, View::Object(args), &Path::Root, 0)
}

/// Where a value that somebody made does not follow a schema; nothing where it does, and where that is too much
/// to find out.
pub fn misfit(schema: &Value, value: &Value) -> Option<Violation> {
    let check = Check::new(schema);
    let found = check.node(schema, View::of(value), &Path::Root, 0).err()?;
    (!check.gave_up.get()).then_some(found)
}

/// One walk over one set of arguments.
pub(super) struct Check<'a> {
    root: &'a Value,
    steps: Cell<u32>,
    /// Something was too deep, or too much, to be looked at.
    gave_up: Cell<bool>,
}

type Verdict = Result<(), Violation>;

impl<'a> Check<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root, steps: Cell::new(0), gave_up: Cell::new(false) }
    }

    /// Counts one step; false when there have been too many.
    pub(super) fn spend(&self) -> bool {
        let steps = self.steps.get().saturating_add(1);
        self.steps.set(steps);
        steps <= MAX_STEPS
    }

    /// Whether a value follows a node of the schema.
    pub(super) fn fits(&self, schema: &Value, value: &Value) -> bool {
        self.node(schema, View::of(value), &Path::Root, 0).is_ok()
    }

    fn node(&self, schema: &Value, view: View<'_>, path: &Path<'_>, depth: u32) -> Verdict {
        let schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(false) => return Err(path.violation("no value is allowed here")),
            _ => return Ok(()),
        };
        if depth > MAX_DEPTH || !self.spend() {
            self.gave_up.set(true);
            return Err(path.violation("too deep or too much to check; the schema may refer to itself"));
        }
        if schema::is_plain(schema) {
            return kind(schema, view, path);
        }
        if matches!(view, View::Null) && schema::member(schema, "nullable") == Some(&Value::Bool(true)) {
            return Ok(());
        }
        kind(schema, view, path)?;
        choice(schema, view, path)?;
        match view {
            View::Number(number) => limits(schema, number, path)?,
            View::String(text) => length(schema, text, path)?,
            View::Array(items) => self.array(schema, items, path, depth)?,
            View::Object(members) => self.object(schema, members, path, depth)?,
            View::Null | View::Bool(_) => {}
        }
        if let Some(target) = schema::target(self.root, schema) {
            self.node(target, view, path, depth + 1)?;
        }
        for part in schema::branches(schema, "allOf") {
            self.node(part, view, path, depth + 1)?;
        }
        self.union(schema, "anyOf", view, path, depth)?;
        self.union(schema, "oneOf", view, path, depth)?;
        match schema::member(schema, "not") {
            Some(not) if self.node(not, view, path, depth + 1).is_ok() && self.understands(not, 0) => {
                Err(path.violation(format!("{} is not allowed here", shown(view))))
            }
            _ => Ok(()),
        }
    }

    fn union(
        &self,
        schema: &Map<String, Value>,
        word: &str,
        view: View<'_>,
        path: &Path<'_>,
        depth: u32,
    ) -> Verdict {
        let branches = schema::branches(schema, word);
        if branches.is_empty() {
            return Ok(());
        }
        let mut fitting = Vec::new();
        let mut deepest: Option<Violation> = None;
        for branch in branches {
            match self.node(branch, view, path, depth + 1) {
                Ok(()) if word == "anyOf" => return Ok(()),
                Ok(()) => fitting.push(branch),
                Err(found) if deepest.as_ref().is_none_or(|best| found.path.len() > best.path.len()) => {
                    deepest = Some(found);
                }
                Err(_) => {}
            }
        }
        if fitting.len() > 1 && fitting.iter().all(|branch| self.understands(branch, 0)) {
            return Err(path.violation(format!("{} fits several forms, only one is allowed", shown(view))));
        }
        match deepest {
            _ if !fitting.is_empty() => Ok(()),
            // One branch was meant, as its outside fitted: what is wrong inside says more.
            Some(inside) if branches.len() == 1 || inside.path.len() > path.to_string().len() => Err(inside),
            _ => Err(path.violation(format!("expected {}, got {}", self.forms(branches), shown(view)))),
        }
    }

    fn forms(&self, branches: &[Value]) -> String {
        let mut forms: Vec<String> = Vec::new();
        for branch in branches {
            let node =
                branch.as_object().and_then(|schema| schema::target(self.root, schema)).unwrap_or(branch);
            let form = violation::wanted(node);
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        forms.join(" or ")
    }

    fn array(&self, schema: &Map<String, Value>, items: &[Value], path: &Path<'_>, depth: u32) -> Verdict {
        size(schema, ["minItems", "maxItems"], items.len(), "item", path)?;
        if schema::member(schema, "items").is_some() || schema::member(schema, "prefixItems").is_some() {
            for (index, item) in items.iter().enumerate() {
                if let Some(wanted) = schema::element(schema, index) {
                    self.node(wanted, View::of(item), &Path::Index(path, index), depth + 1)?;
                }
            }
        }
        if schema::member(schema, "uniqueItems") == Some(&Value::Bool(true)) {
            let mut seen = HashSet::new();
            for (index, item) in items.iter().enumerate() {
                let mut form = String::new();
                canonical(item, &mut form);
                if !seen.insert(form) {
                    return Err(
                        Path::Index(path, index).violation("the same item came before, each may come once")
                    );
                }
            }
        }
        Ok(())
    }

    fn object(
        &self,
        schema: &Map<String, Value>,
        members: &Map<String, Value>,
        path: &Path<'_>,
        depth: u32,
    ) -> Verdict {
        let properties = schema::member(schema, "properties").and_then(Value::as_object);
        for name in schema::required(schema) {
            if schema::member(members, name).is_none() {
                let property = properties.and_then(|known| schema::member(known, name));
                // A default says what is meant when the model forgets the key.
                if property.is_some_and(|property| property.get("default").is_some()) {
                    continue;
                }
                let wanted = property.map(violation::wanted);
                let wanted =
                    wanted.filter(|wanted| wanted != "another value").map(|wanted| format!(" ({wanted})"));
                let message = format!("required, but missing{}", wanted.unwrap_or_default());
                return Err(Path::Key(path, name).violation(message));
            }
        }
        let others = schema::member(schema, "additionalProperties")
            .filter(|_| schema::member(schema, "patternProperties").is_none());
        for (key, value) in members {
            let here = Path::Key(path, key);
            match (properties.and_then(|known| schema::member(known, key)), others) {
                (Some(wanted), _) | (None, Some(wanted @ (Value::Object(_) | Value::Bool(true)))) => {
                    self.node(wanted, View::of(value), &here, depth + 1)?;
                }
                (None, Some(Value::Bool(false))) => {
                    let none = Map::new();
                    let message = violation::unknown_key(key, properties.unwrap_or(&none), members);
                    return Err(here.violation(message));
                }
                (None, _) => {}
            }
        }
        size(schema, ["minProperties", "maxProperties"], members.len(), "key", path)
    }

    /// Whether every keyword of a schema is checked here, so that a fit means a fit.
    fn understands(&self, schema: &Value, depth: u32) -> bool {
        const PLAIN: [&str; 24] = [
            "$comment",
            "$defs",
            "const",
            "default",
            "definitions",
            "deprecated",
            "description",
            "enum",
            "examples",
            "exclusiveMaximum",
            "exclusiveMinimum",
            "maxItems",
            "maxLength",
            "maxProperties",
            "maximum",
            "minItems",
            "minLength",
            "minProperties",
            "minimum",
            "multipleOf",
            "nullable",
            "required",
            "title",
            "type",
        ];
        let Value::Object(schema) = schema else { return true };
        depth < 16
            && schema.iter().all(|(word, value)| match word.as_str() {
                "uniqueItems" => true,
                "$ref" => schema::target(self.root, schema).is_some_and(|to| self.understands(to, depth + 1)),
                "properties" => value
                    .as_object()
                    .is_some_and(|named| named.values().all(|part| self.understands(part, depth + 1))),
                "allOf" | "anyOf" | "oneOf" | "prefixItems" => value
                    .as_array()
                    .is_some_and(|list| list.iter().all(|part| self.understands(part, depth + 1))),
                "additionalProperties" | "items" | "not" => self.understands(value, depth + 1),
                word => PLAIN.contains(&word),
            })
    }
}

fn kind(schema: &Map<String, Value>, view: View<'_>, path: &Path<'_>) -> Verdict {
    let mut names = schema::types(schema).peekable();
    if names.peek().is_none() || names.any(|name| view.is(name)) {
        return Ok(());
    }
    let wanted = violation::joined(schema::types(schema));
    Err(path.violation(format!("expected {wanted}, got {}", shown(view))))
}

fn choice(schema: &Map<String, Value>, view: View<'_>, path: &Path<'_>) -> Verdict {
    if let Some(Value::Array(choices)) = schema::member(schema, "enum")
        && !choices.iter().any(|choice| view.equals(choice))
    {
        return Err(path.violation(format!(
            "expected one of {}, got {}",
            violation::listed(choices),
            shown(view)
        )));
    }
    match schema::member(schema, "const") {
        Some(only) if !view.equals(only) => {
            let only = violation::listed(std::slice::from_ref(only));
            Err(path.violation(format!("expected {only}, got {}", shown(view))))
        }
        _ => Ok(()),
    }
}

fn limits(schema: &Map<String, Value>, number: &Number, path: &Path<'_>) -> Verdict {
    let bound = |word: &str| match schema::member(schema, word) {
        Some(Value::Number(limit)) => number::compare(number, limit).map(|order| (order, limit)),
        _ => None,
    };
    // In older drafts the exclusive words are flags beside the plain ones.
    let flag = |word: &str| schema::member(schema, word) == Some(&Value::Bool(true));
    let (low, high) = (flag("exclusiveMinimum"), flag("exclusiveMaximum"));
    let checks = [
        ("minimum", "at least", low, Ordering::Less),
        ("exclusiveMinimum", "more than", true, Ordering::Less),
        ("maximum", "at most", high, Ordering::Greater),
        ("exclusiveMaximum", "less than", true, Ordering::Greater),
    ];
    for (word, words, excludes, beyond) in checks {
        if let Some((order, limit)) = bound(word)
            && (order == beyond || (excludes && order == Ordering::Equal))
        {
            let words = match (word, excludes) {
                ("minimum", true) => "more than",
                ("maximum", true) => "less than",
                _ => words,
            };
            return Err(path.violation(format!("expected {words} {limit}, got {number}")));
        }
    }
    match schema::member(schema, "multipleOf") {
        Some(Value::Number(step)) if !number::is_multiple(number, step) => {
            Err(path.violation(format!("expected a multiple of {step}, got {number}")))
        }
        _ => Ok(()),
    }
}

fn length(schema: &Map<String, Value>, text: &str, path: &Path<'_>) -> Verdict {
    if schema::member(schema, "minLength").is_none() && schema::member(schema, "maxLength").is_none() {
        return Ok(());
    }
    size(schema, ["minLength", "maxLength"], text.chars().count(), "character", path)
}

fn size(
    schema: &Map<String, Value>,
    words: [&str; 2],
    count: usize,
    thing: &str,
    path: &Path<'_>,
) -> Verdict {
    let limit = |word: &str| match schema::member(schema, word) {
        Some(Value::Number(limit)) => number::compare(&count.into(), limit).map(|order| (order, limit)),
        _ => None,
    };
    let [least, most] = words;
    if let Some((Ordering::Less, limit)) = limit(least) {
        return Err(
            path.violation(format!("expected at least {limit} {thing}s, got {}", counted(count, thing)))
        );
    }
    match limit(most) {
        Some((Ordering::Greater, limit)) => {
            Err(path.violation(format!("expected at most {limit} {thing}s, got {}", counted(count, thing))))
        }
        _ => Ok(()),
    }
}

/// Writes a value so that equal values have equal text.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Number(number) => {
            let whole = number::integer_of_float(number);
            out.push_str(&whole.as_ref().unwrap_or(number).to_string());
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (key, member) in sorted {
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                canonical(member, out);
                out.push(',');
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
#[path = "validate_tests.rs"]
mod tests;
