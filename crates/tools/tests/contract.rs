//! Every built tool against the recorded contract, and one loop over the table: what must be
//! true of any tool is checked here once, for all that are and all that come.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers are part of the tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use hermes_core::tool::{MaxSize, Parallel, ToolEntry};
use serde_json::{Value, json};

static CONTRACT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../fixtures/tools.json")).unwrap());

/// What the documentation lists beyond the recorded contract.
static DOCUMENTED: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../fixtures/documented.json")).unwrap());

/// Shown for a tool whose contract names no emoji.
const NO_EMOJI: &str = "⚡";

/// Shortest description that can tell a model when to use a tool, in characters.
const SHORTEST: usize = 40;

fn built() -> Vec<ToolEntry> {
    hermes_tools::tools().iter().map(|def| ToolEntry::from(*def)).collect()
}

fn contract() -> BTreeMap<&'static str, &'static Value> {
    tools_of(&CONTRACT)
}

fn tools_of(source: &'static Value) -> BTreeMap<&'static str, &'static Value> {
    let tools = source["tools"].as_array().unwrap().iter();
    tools.map(|tool| (tool["name"].as_str().unwrap(), tool)).collect()
}

fn theirs(name: &str) -> &'static Value {
    let found = contract().get(name).or(tools_of(&DOCUMENTED).get(name)).copied();
    found.unwrap_or_else(|| panic!("{name} is not in the contract"))
}

/// What the contract says about a schema: everything but the words for people.
fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let is_words =
                |key: &str, value: &Value| matches!(key, "description" | "title") && value.is_string();
            let kept = fields.iter().filter(|(key, value)| !is_words(key, value));
            let mut kept: BTreeMap<&str, Value> =
                kept.map(|(key, value)| (key.as_str(), bare(value))).collect();
            // Saying that there is nothing is saying nothing.
            kept.retain(|key, value| {
                !(*key == "required" && *value == json!([]) || *key == "properties" && *value == json!({}))
            });
            json!(kept)
        }
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}

#[test]
fn arguments_are_those_of_the_contract() {
    for tool in built() {
        let parameters = &theirs(tool.name())["parameters"];

        assert_eq!(bare(&tool.definition().parameters), bare(parameters), "{}", tool.name());
    }
}

#[test]
fn arguments_come_in_the_order_of_the_contract() {
    for tool in built() {
        let order = |schema: &Value| -> Vec<String> {
            schema["properties"]
                .as_object()
                .map(|fields| fields.keys().cloned().collect())
                .unwrap_or_default()
        };

        assert_eq!(
            order(&tool.definition().parameters),
            order(&theirs(tool.name())["parameters"]),
            "{}",
            tool.name()
        );
    }
}

#[test]
fn what_stands_beside_the_arguments_is_that_of_the_contract() {
    for tool in built() {
        let name = tool.name().as_ref();
        let theirs = theirs(name);

        assert_eq!(theirs["toolset"], tool.toolset().as_ref(), "{name}");
        assert_eq!(theirs["emoji"].as_str().unwrap_or(NO_EMOJI), tool.emoji_text(), "{name}");
        assert_eq!(theirs["core"], hermes_tools::core_tools().contains(&name), "{name}");
        assert_eq!(theirs["requires_env"], json!(tool.required_env().collect::<Vec<_>>()), "{name}");
        // Tools that may work elsewhere lose an argument of ours where there is nowhere else.
        let changes = tool.dynamic_schema().is_some() && !tool.is_placed();
        assert!(theirs["dynamic_schema"] == changes || tool.is_placed(), "{name}");
        // What the contract calls a barrier may be said by running alone, or by effects that conflict.
        let alone = tool.parallel() == Parallel::Never;
        let may_share = theirs["parallel"] == "safe" || theirs["parallel"] == "path-scoped";
        assert!(!(alone && may_share) && (alone || theirs["parallel"] != "never"), "{name}");
    }
}

#[test]
fn results_are_as_large_as_the_contract_says() {
    for tool in built() {
        let theirs = theirs(tool.name());
        let wanted = match (&theirs["result_threshold_pinned"], theirs["max_result_size"].as_u64()) {
            (Value::String(pinned), _) if pinned == "unlimited" => Some(MaxSize::Unlimited),
            (Value::Null, size) => size.map(|chars| MaxSize::Chars(chars.try_into().unwrap())),
            (other, _) => panic!("{}: pinned to {other}", tool.name()),
        };

        assert_eq!(tool.max_result_size(), wanted, "{}", tool.name());
    }
    let pinned = CONTRACT["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["result_threshold_pinned"].is_string());
    assert_eq!(pinned.map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), ["read_file"]);
}

#[test]
fn the_list_of_what_is_not_built_is_true() {
    let listed: Vec<&str> = include_str!("../../../fixtures/not_built_yet.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    let tools = built();
    let ours: BTreeSet<&str> = tools.iter().map(|tool| tool.name().as_ref()).collect();
    let missing: Vec<&str> = contract().into_keys().filter(|name| !ours.contains(name)).collect();
    assert!(tools_of(&DOCUMENTED).keys().all(|name| ours.contains(name)));

    for name in &listed {
        assert!(!ours.contains(name), "{name} is built: take it from fixtures/not_built_yet.txt");
    }
    assert_eq!(
        listed, missing,
        "fixtures/not_built_yet.txt names every tool of the contract that is missing"
    );
    assert_eq!(CONTRACT["count"], contract().len());
}

/// Every description in a schema with the path to it, and the arguments that have none.
fn descriptions(schema: &Value, path: &str, found: &mut Vec<(String, String)>, without: &mut Vec<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        match property["description"].as_str() {
            Some(text) if !text.trim().is_empty() => found.push((path.clone(), text.to_owned())),
            _ => without.push(path.clone()),
        }
        descriptions(property, &path, found, without);
        descriptions(&property["items"], &path, found, without);
    }
}

#[test]
fn every_tool_and_every_argument_is_described() {
    for tool in built() {
        let definition = tool.definition();
        let (mut found, mut without) = (Vec::new(), Vec::new());
        descriptions(&definition.parameters, tool.name(), &mut found, &mut without);

        assert!(
            definition.description.chars().count() >= SHORTEST,
            "{}: {}",
            tool.name(),
            definition.description
        );
        assert_eq!(without, Vec::<String>::new(), "these have no description");
        assert!(!tool.emoji_text().is_empty());
    }
}

/// Whether `text` speaks of the tool `name`. A name that is also a word of English counts only
/// where it is marked as a name.
fn speaks_of(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.contains('_') {
        text.split(|c: char| !is_part(c)).any(|word| word == name)
    } else {
        text.contains(&format!("`{name}`"))
    }
}

#[test]
fn no_description_speaks_of_a_tool_that_may_not_be_there() {
    for tool in built() {
        let definition = tool.definition();
        let mut texts = vec![(tool.name().to_string(), definition.description.clone())];
        descriptions(&definition.parameters, tool.name(), &mut texts, &mut Vec::new());
        let foreign =
            contract().into_iter().filter(|(_, theirs)| theirs["toolset"] != tool.toolset().as_ref());

        for (name, _) in foreign {
            for (at, text) in &texts {
                assert!(!speaks_of(text, name), "{at} speaks of {name}, which is in another toolset: {text}");
            }
        }
    }
    assert!(speaks_of("then call `process`", "process") && !speaks_of("a long process", "process"));
    assert!(speaks_of("see web_search.", "web_search") && !speaks_of("my_web_search", "web_search"));
}

#[test]
fn definitions_are_the_same_bytes_every_time_and_in_order() {
    let text = || -> Vec<String> {
        let one =
            |tool: &ToolEntry| format!("{}{}", tool.definition().description, tool.definition().parameters);
        built().iter().map(one).collect()
    };

    assert_eq!(text(), text());
    assert!(hermes_tools::tools().is_sorted_by(|one, other| one.name() < other.name()));
}

#[test]
fn every_schema_is_a_closed_object_of_known_words() {
    fn check(schema: &Value, at: &str) {
        let known = [
            "type",
            "properties",
            "required",
            "items",
            "enum",
            "default",
            "minimum",
            "maximum",
            "description",
            "anyOf",
            "oneOf",
            "additionalProperties",
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
            "pattern",
        ];
        for key in schema.as_object().unwrap_or_else(|| panic!("{at}: {schema}")).keys() {
            assert!(known.contains(&key.as_str()), "{at}: `{key}` is not understood everywhere");
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            check(property, &format!("{at}.{name}"));
        }
        if schema["items"].is_object() {
            check(&schema["items"], &format!("{at}[]"));
        }
    }
    for tool in built() {
        assert_eq!(tool.definition().parameters["type"], "object", "{}", tool.name());
        check(&tool.definition().parameters, tool.name());
    }
}
