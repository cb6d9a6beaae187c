//! Fills a tool's parameters from the words of a request, by its schema.

use serde_json::{Map, Value};

use super::words::Request;
use crate::lenient;
use crate::tools_json::OfferedTool;

/// What came of it.
pub(super) enum Filled {
    /// Everything that is needed.
    All(Map<String, Value>),
    /// These are not known.
    Missing(Vec<String>),
}

pub(super) fn fill(tool: &OfferedTool, request: &Request<'_>) -> Filled {
    let mut arguments = Map::new();
    let mut missing = Vec::new();
    let required = tool.required();
    let mut supply = Supply::new(request, tool);
    for name in tool.parameter_names() {
        let Some(schema) = tool.parameter(name) else { continue };
        let found = supply.told(name, schema);
        if let Some(value) = found {
            arguments.insert(name.to_owned(), value);
        } else if required.contains(&name) {
            match supply.guess(name, schema) {
                Some(value) => {
                    arguments.insert(name.to_owned(), value);
                }
                None => missing.push(name.to_owned()),
            }
        }
    }
    if missing.is_empty() { Filled::All(arguments) } else { Filled::Missing(missing) }
}

/// What a request has to give; what is quoted is given once.
struct Supply<'a> {
    request: &'a Request<'a>,
    quoted: std::vec::IntoIter<&'a str>,
    paths: std::vec::IntoIter<&'a str>,
    tool: &'a OfferedTool,
    rest_taken: bool,
}

impl<'a> Supply<'a> {
    fn new(request: &'a Request<'a>, tool: &'a OfferedTool) -> Self {
        let is_name = |text: &&str| text.eq_ignore_ascii_case(&tool.name);
        let quoted: Vec<&str> =
            request.quoted.iter().chain(&request.code).copied().filter(|text| !is_name(text)).collect();
        Self {
            request,
            quoted: quoted.into_iter(),
            paths: request.paths().into_iter(),
            tool,
            rest_taken: false,
        }
    }

    /// A value given by the parameter's name: `limit=5`, `limit: 5`, `limit 5` for numbers.
    fn told(&mut self, name: &str, schema: &Map<String, Value>) -> Option<Value> {
        let text = self.request.text;
        let kind = kind(schema);
        for mark in ['=', ':'] {
            let key = format!("{name}{mark}");
            let found = text.match_indices(&key).find(|(at, _)| {
                let before = text.get(..*at).and_then(|before| before.chars().next_back());
                before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
            });
            if let Some((at, _)) = found {
                let rest = text.get(at + key.len()..)?.trim_start();
                if rest.starts_with("//") {
                    continue;
                }
                return Some(cast(value_at(rest), kind));
            }
        }
        let number = matches!(kind, "integer" | "number");
        let mut tokens = self.request.tokens().skip_while(|token| !token.eq_ignore_ascii_case(name)).skip(1);
        let next = tokens.next().filter(|_| number)?;
        lenient::parse(next).filter(Value::is_number)
    }

    /// A value for a parameter that must have one.
    fn guess(&mut self, name: &str, schema: &Map<String, Value>) -> Option<Value> {
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            return self.choice(choices, schema);
        }
        match kind(schema) {
            "integer" | "number" => self.request.tokens().filter_map(lenient::parse).find(Value::is_number),
            "boolean" => Some(Value::Bool(!self.request.says(&["not", "no", "without", "false", "off"]))),
            "object" => self.request.object().map(Value::Object),
            "array" => self.list(schema),
            _ => self.string(name).map(Value::String),
        }
    }

    fn choice(&self, choices: &[Value], schema: &Map<String, Value>) -> Option<Value> {
        let said = |choice: &&Value| match choice {
            Value::String(word) => {
                let word = word.to_lowercase();
                self.request.says(&[word.as_str()]) || self.request.says(&[word.replace('_', "-").as_str()])
            }
            other => {
                let word = other.to_string();
                self.request.tokens().any(|token| token == word)
            }
        };
        let only = || choices.first().filter(|_| choices.len() == 1);
        choices.iter().find(said).or_else(|| schema.get("default")).or_else(only).cloned()
    }

    fn list(&mut self, schema: &Map<String, Value>) -> Option<Value> {
        let text = self.request.text;
        let written = text.find('[').and_then(|at| text.get(at..)).and_then(|from| {
            serde_json::Deserializer::from_str(from).into_iter::<Value>().next()?.ok().filter(Value::is_array)
        });
        if written.is_some() {
            return written;
        }
        let of_text =
            schema.get("items").and_then(|items| items.get("type")).is_none_or(|kind| kind == "string");
        if !of_text {
            return None;
        }
        let urls = self.request.urls();
        let values: Vec<&str> = if urls.is_empty() { self.quoted.by_ref().collect() } else { urls };
        (!values.is_empty()).then(|| values.into())
    }

    fn string(&mut self, name: &str) -> Option<String> {
        let name = name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if has(&["url", "link"]) {
            let url = self.request.urls().first().copied();
            return url.or_else(|| self.paths.next()).map(str::to_owned);
        }
        if has(&["path", "file", "dir", "folder"]) {
            return self.paths.next().or_else(|| self.quoted.next()).map(str::to_owned);
        }
        if has(&["command", "code", "script", "expression"])
            && let Some(code) = self.request.code.iter().find(|code| **code != self.tool.name)
        {
            return Some((*code).to_owned());
        }
        if let Some(quoted) = self.quoted.next() {
            return Some(quoted.to_owned());
        }
        if std::mem::replace(&mut self.rest_taken, true) {
            return None;
        }
        self.request
            .after(&["for", "in", "of", "at", "about", "on", "with", "to"])
            .map(|rest| rest.trim_start_matches("the ").to_owned())
            .or_else(|| self.behind_name())
    }

    /// What stands behind the tool's name: `weather London`.
    fn behind_name(&self) -> Option<String> {
        let mut tokens = self.request.text.split_whitespace();
        tokens.by_ref().find(|token| {
            token.trim_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case(&self.tool.name)
        })?;
        let rest: Vec<&str> =
            tokens.skip_while(|token| matches!(token.to_lowercase().as_str(), "tool" | "please")).collect();
        let rest = rest.join(" ");
        let rest = rest.trim_end_matches(['.', '!', '?']);
        (!rest.is_empty()).then(|| rest.to_owned())
    }
}

fn kind(schema: &Map<String, Value>) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        // `["string", "null"]`
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("string")
        }
        _ => "string",
    }
}

/// The value at the beginning of a text: quoted, in brackets, or one word.
fn value_at(text: &str) -> &str {
    let first = text.chars().next().unwrap_or(' ');
    if matches!(first, '"' | '\'' | '`') {
        let inner = text.get(1..).unwrap_or_default();
        return inner.split(first).next().unwrap_or(inner);
    }
    if matches!(first, '[' | '{') {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
        if values.next().is_some_and(|value| value.is_ok()) {
            return text.get(..values.byte_offset()).unwrap_or(text);
        }
    }
    text.split(|c: char| c.is_whitespace() || c == ',').next().unwrap_or(text)
}

fn cast(text: &str, kind: &str) -> Value {
    let read = if kind == "string" { None } else { lenient::parse(text) };
    read.unwrap_or_else(|| Value::String(text.to_owned()))
}
