//! Definitions and toolsets, as the program prints them, against the recorded contract.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::home::Home;

fn fixture(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn tools() -> Value {
    fixture(include_str!("../../../../fixtures/tools.json"))
}

fn documented() -> Value {
    fixture(include_str!("../../../../fixtures/documented.json"))
}

fn toolsets() -> Value {
    fixture(include_str!("../../../../fixtures/toolsets.json"))
}

fn words(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
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
fn the_printed_definitions_are_those_of_the_contract() {
    let home = Home::new();
    let (contract, documented) = (tools(), documented());
    let all = [&contract, &documented].into_iter().flat_map(|fixture| fixture["tools"].as_array().unwrap());
    let theirs: BTreeMap<&str, &Value> =
        all.map(|tool| (tool["name"].as_str().unwrap(), &tool["parameters"])).collect();

    let printed = home.json(&["tools", "schema", "--toolsets", "all", "--all"]);

    let printed = printed.as_array().unwrap();
    assert!(printed.len() >= 3);
    for definition in printed {
        let function = &definition["function"];
        let name = function["name"].as_str().unwrap();
        let theirs = theirs.get(name).unwrap_or_else(|| panic!("{name} is not in the contract"));
        assert_eq!(bare(&function["parameters"]), bare(theirs), "{name}");
        assert_eq!(definition["type"], "function", "{name}");
    }
}

#[test]
fn the_search_bridge_is_that_of_the_contract() {
    let home = Home::configured("tools:\n  tool_search:\n    enabled: on\n    include_core: true\n");
    let contract = tools();

    let printed = home.json(&["tools", "schema"]);

    let bridge = contract["tool_search_bridge"].as_array().unwrap();
    assert_eq!(printed.as_array().unwrap().len(), bridge.len());
    for (ours, theirs) in printed.as_array().unwrap().iter().zip(bridge) {
        assert_eq!(ours["function"]["name"], theirs["name"]);
        assert_eq!(bare(&ours["function"]["parameters"]), bare(&theirs["parameters"]), "{}", theirs["name"]);
    }
}

/// The tools a toolset names, itself and through what it includes, and those that name it.
fn closure<'a>(contract: &'a Value, name: &str) -> BTreeSet<&'a str> {
    let toolset = &contract["toolsets"][name];
    let named =
        contract["registry_toolsets"][name].as_array().into_iter().flatten().filter_map(Value::as_str);
    let own = words(&toolset["tools"]).into_iter().chain(named);
    own.chain(words(&toolset["includes"]).into_iter().flat_map(|inner| closure(contract, inner))).collect()
}

#[test]
fn every_toolset_resolves_to_what_the_contract_says() {
    let home = Home::new();
    let contract = toolsets();
    let names: Vec<&str> = contract["toolsets"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names.len(), 57);

    let resolved = home.json(&[&["toolsets", "resolve"], names.as_slice()].concat());

    for (name, ours) in names.iter().zip(resolved.as_array().unwrap()) {
        assert_eq!(ours["name"], **name);
        assert_eq!(words(&ours["tools"]), Vec::from_iter(closure(&contract, name)), "{name}");
        assert_eq!(ours["includes"], contract["toolsets"][name]["includes"], "{name}");
        let mut parts = [words(&ours["built"]), words(&ours["missing"])].concat();
        parts.sort_unstable();
        assert_eq!(parts, words(&ours["tools"]), "{name}");
    }
}

#[test]
fn one_toolset_resolves_alone_as_among_others() {
    let home = Home::new();

    let alone = home.json(&["toolsets", "resolve", "coding"]);

    assert_eq!(home.json(&["toolsets", "resolve", "web", "coding"])[1], alone);
}
