//! The Python module a script finds its tools in: a function per tool, with the tool's own arguments.
//!
//! What is the same for all is in `hermes_tools.py`; the functions are made from the schemas.

use std::fmt::Write as _;

use hermes_core::definitions::Offered;
use serde_json::Value;

use super::NOT_IN_SCRIPTS;

/// The module's file.
pub(crate) const FILE: &str = "hermes_tools.py";

const COMMON: &str = include_str!("hermes_tools.py");

/// Words of the language that cannot name an argument.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The module for these tools.
pub(crate) fn module<'a>(tools: impl Iterator<Item = &'a Offered>) -> String {
    let mut text = COMMON.to_owned();
    let mut names = vec!["json_parse".to_owned(), "retry".to_owned(), "shell_quote".to_owned()];
    for tool in tools {
        text.push_str("\n\n");
        text.push_str(&function(tool.name(), tool.description(), tool.parameters()));
        names.push(tool.name().to_string());
    }
    let names: Vec<String> = names.iter().map(|name| literal(&Value::from(name.as_str()))).collect();
    // Writing into a string cannot fail.
    let _ = write!(text, "\n\n__all__ = [{}]\n", names.join(", "));
    text
}

/// One argument of a function.
struct Argument<'a> {
    /// Its name on the wire, and in Python.
    name: &'a str,
    python: String,
    kind: &'static str,
    description: &'a str,
    default: Option<&'a Value>,
    needed: bool,
}

fn function(name: &str, description: &str, parameters: &Value) -> String {
    let arguments = arguments(name, parameters);
    let mut signature: Vec<String> = Vec::new();
    for argument in arguments.iter().filter(|argument| argument.needed) {
        signature.push(format!("{}: {}", argument.python, argument.kind));
    }
    for argument in arguments.iter().filter(|argument| !argument.needed) {
        let default = argument.default.map_or_else(|| "None".to_owned(), literal);
        signature.push(format!("{}: {} = {default}", argument.python, argument.kind));
    }
    let passed = arguments.iter().map(|it| format!("{}: {}", literal(&Value::from(it.name)), it.python));
    let passed: Vec<String> = passed.collect();
    let mut words = description.trim().to_owned();
    for argument in arguments.iter().filter(|argument| !argument.description.is_empty()) {
        let _ = write!(words, "\n\n{}: {}", argument.python, argument.description);
    }
    format!(
        "def {name}({}):\n    {}\n    return _call({}, **{{{}}})\n",
        signature.join(", "),
        literal(&Value::from(words)),
        literal(&Value::from(name)),
        passed.join(", "),
    )
}

fn arguments<'a>(tool: &str, parameters: &'a Value) -> Vec<Argument<'a>> {
    let required = parameters.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let left_out = |name: &str| tool == "terminal" && NOT_IN_SCRIPTS.contains(&name);
    let properties = parameters.get("properties").and_then(Value::as_object).into_iter().flatten();
    let argument = |(name, schema): (&'a String, &'a Value)| {
        let default = schema.get("default").filter(|value| !value.is_null());
        Argument {
            name,
            python: python_name(name),
            kind: kind(schema),
            description: schema.get("description").and_then(Value::as_str).unwrap_or_default(),
            default,
            needed: is_required(name) && default.is_none(),
        }
    };
    properties.filter(|(name, _)| !left_out(name)).map(argument).collect()
}

fn python_name(name: &str) -> String {
    let mut python: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if python.starts_with(|c: char| c.is_ascii_digit()) || python.is_empty() {
        python.insert(0, '_');
    }
    if KEYWORDS.contains(&python.as_str()) {
        python.push('_');
    }
    python
}

/// The Python type of a schema, where one says it.
fn kind(schema: &Value) -> &'static str {
    let named = match schema.get("type") {
        Some(Value::Array(several)) => several.iter().find(|it| *it != "null").and_then(Value::as_str),
        Some(one) => one.as_str(),
        None => None,
    };
    match named {
        Some("string") => "str",
        Some("integer") => "int",
        Some("number") => "float",
        Some("boolean") => "bool",
        Some("array") => "list",
        Some("object") => "dict",
        _ => "object",
    }
}

/// A JSON value as Python writes it.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        // What JSON writes between quotes Python reads as the same text.
        Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| format!("{}: {}", literal(&Value::from(key.as_str())), literal(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_function_has_the_arguments_of_its_tool_needed_ones_first() {
        let schema = json!({
            "type": "object",
            "properties": {
                "limit": { "type": "integer", "default": 5, "description": "Most \"lines\"" },
                "path": { "type": "string" },
                "in": { "type": ["array", "null"] },
                "on": { "type": "boolean", "default": true },
            },
            "required": ["path"],
        });

        assert_eq!(
            function("look", "Looks.\nOnce.", &schema),
            "def look(path: str, limit: int = 5, in_: list = None, on: bool = True):\n    \
             \"Looks.\\nOnce.\\n\\nlimit: Most \\\"lines\\\"\"\n    \
             return _call(\"look\", **{\"limit\": limit, \"path\": path, \"in\": in_, \"on\": on})\n"
        );
    }

    #[test]
    fn a_terminal_in_a_script_has_no_background() {
        let schema = json!({ "properties": { "command": { "type": "string" }, "background": {} }, "required": ["command"] });

        assert!(function("terminal", "x", &schema).starts_with("def terminal(command: str):"));
    }

    #[test]
    fn values_are_written_as_python_reads_them() {
        let value = json!({ "a": [null, true, 1.5, "é\"\n"] });

        assert_eq!(literal(&value), "{\"a\": [None, True, 1.5, \"é\\\"\\n\"]}");
    }
}
