#![expect(clippy::disallowed_methods, reason = "a test reads the contract fixtures")]

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn said(schema: &Value, args: &Value) -> String {
    match validate(schema, args.as_object().unwrap()) {
        Ok(()) => "fits".to_owned(),
        Err(violation) => violation.to_string(),
    }
}

/// The verdict on one value by one schema.
#[expect(clippy::needless_pass_by_value, reason = "calls read better without a borrow on every literal")]
fn one(schema: Value, value: Value) -> String {
    said(&json!({"properties": {"v": schema}}), &json!({"v": value}))
}

fn fits(schema: Value, value: Value) {
    assert_eq!(one(schema, value), "fits");
}

#[test]
fn a_required_key_with_a_default_may_be_left_out() {
    let schema = json!({
        "type": "object",
        "properties": { "mode": { "type": "string", "default": "a" }, "x": { "type": "string" } },
        "required": ["mode", "x"],
    });

    assert_eq!(said(&schema, &json!({ "x": "1" })), "fits");
    assert_ne!(said(&schema, &json!({ "mode": "b" })), "fits");
}

#[test]
fn any_value_is_held_to_a_schema_and_what_is_too_much_is_not_called_wrong() {
    let numbers = json!({ "type": "array", "items": { "type": "number" } });
    let many: Value = (0..=MAX_STEPS).collect();

    assert_eq!(misfit(&numbers, &json!([1, 2.5])), None);
    assert_eq!(misfit(&numbers, &json!([1, "x"])).unwrap().path, "[1]");
    assert_eq!(misfit(&numbers, &json!(7)).unwrap().path, "");
    assert_eq!(misfit(&numbers, &many), None);
    assert_eq!(misfit(&json!({ "$ref": "#" }), &json!({})), None);
}

#[test]
fn the_path_leads_to_the_trouble() {
    let schema = json!({"type": "object", "properties": {"todos": {"type": "array", "items": {
        "type": "object",
        "properties": {"status": {"type": "string", "enum": ["pending", "done"]}},
        "required": ["status"],
    }}}});
    let violation = validate(
        &schema,
        json!({"todos": [
        {"status": "done"}, {"status": "done"}, {"status": "later"}]})
        .as_object()
        .unwrap(),
    );
    assert_eq!(
        violation,
        Err(Violation {
            path: "todos[2].status".to_owned(),
            message: "expected one of \"pending\", \"done\", got string \"later\"".to_owned(),
        })
    );
    let missing = said(&schema, &json!({"todos": [{}]}));
    assert_eq!(missing, "todos[0].status: required, but missing (one of \"pending\", \"done\")");
}

#[test]
fn types_are_told_apart() {
    assert_eq!(one(json!({"type": "integer"}), json!("x")), "v: expected integer, got string \"x\"");
    assert_eq!(
        one(json!({"type": ["string", "null"]}), json!(4.5)),
        "v: expected string or null, got number 4.5"
    );
    assert_eq!(one(json!({"type": "object"}), json!([1])), "v: expected object, got array of 1 item");
    assert_eq!(
        one(json!({"type": "string"}), json!({"a": 1, "b": 2})),
        "v: expected string, got object with 2 keys"
    );
    fits(json!({"type": "integer"}), json!(5.0));
    fits(json!({"type": "string", "nullable": true}), json!(null));
    fits(json!({"type": "string", "nullable": true, "enum": ["a"]}), json!(null));
    fits(json!({"type": "mystery"}), json!(1));
    assert_eq!(one(json!(false), json!(1)), "v: no value is allowed here");
    fits(json!(true), json!(1));
    let long = one(json!({"type": "integer"}), json!("é".repeat(500)));
    assert!(long.chars().count() < 120, "{long}");
}

#[test]
fn unknown_keys_get_a_suggestion() {
    let schema = json!({"properties": {"path": {}, "file_glob": {}}, "additionalProperties": false});
    assert_eq!(said(&schema, &json!({"pth": 1})), "pth: unknown key, did you mean \"path\"?");
    assert_eq!(said(&schema, &json!({"fileGlob": 1})), "fileGlob: unknown key, did you mean \"file_glob\"?");
    assert_eq!(said(&schema, &json!({"zzz": 1})), "zzz: unknown key, the known ones are path, file_glob");
    assert_eq!(
        said(&json!({"additionalProperties": false}), &json!({"a": 1})),
        "a: unknown key, none are allowed here"
    );
    let typed = json!({"additionalProperties": {"type": "integer"}});
    assert_eq!(said(&typed, &json!({"a": "x"})), "a: expected integer, got string \"x\"");
    let patterned = json!({"patternProperties": {"^x": {}}, "additionalProperties": false});
    assert_eq!(said(&patterned, &json!({"xa": 1})), "fits");
}

#[test]
fn numbers_are_compared_exactly() {
    let limit = json!({"maximum": 9_007_199_254_740_992_u64});
    assert_eq!(
        one(limit.clone(), json!(9_007_199_254_740_993_u64)),
        "v: expected at most 9007199254740992, got 9007199254740993"
    );
    fits(limit, json!(9_007_199_254_740_992_u64));
    assert_eq!(one(json!({"minimum": 1}), json!(0)), "v: expected at least 1, got 0");
    assert_eq!(one(json!({"exclusiveMinimum": 1}), json!(1)), "v: expected more than 1, got 1");
    assert_eq!(
        one(json!({"minimum": 1, "exclusiveMinimum": true}), json!(1)),
        "v: expected more than 1, got 1"
    );
    assert_eq!(one(json!({"exclusiveMaximum": 1.5}), json!(2)), "v: expected less than 1.5, got 2");
    assert_eq!(one(json!({"multipleOf": 5}), json!(12)), "v: expected a multiple of 5, got 12");
    fits(json!({"multipleOf": 0.1}), json!(0.3));
    fits(json!({"const": 1}), json!(1.0));
    assert_eq!(one(json!({"const": "a"}), json!("b")), "v: expected \"a\", got string \"b\"");
}

#[test]
fn sizes_are_counted_in_characters_items_and_keys() {
    fits(json!({"maxLength": 2}), json!("éé"));
    assert_eq!(
        one(json!({"maxLength": 1}), json!("éé")),
        "v: expected at most 1 characters, got 2 characters"
    );
    assert_eq!(one(json!({"minItems": 2}), json!([1])), "v: expected at least 2 items, got 1 item");
    assert_eq!(one(json!({"maxProperties": 0}), json!({"a": 1})), "v: expected at most 0 keys, got 1 key");
    let twice = one(json!({"uniqueItems": true}), json!([{"a": 1, "b": 2}, 3, {"b": 2.0, "a": 1}]));
    assert_eq!(twice, "v[2]: the same item came before, each may come once");
    fits(json!({"uniqueItems": true}), json!(["1", 1, [1], null]));
}

#[test]
fn tuples_are_checked_by_position() {
    let tuple = json!({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}});
    fits(tuple.clone(), json!(["a", 1, 2]));
    assert_eq!(one(tuple.clone(), json!([1])), "v[0]: expected string, got number 1");
    assert_eq!(one(tuple, json!(["a", "b"])), "v[1]: expected integer, got string \"b\"");
}

#[test]
fn unions_name_their_forms_or_the_trouble_inside_the_meant_one() {
    let union = json!({"anyOf": [{"type": "string"}, {"type": "boolean"}]});
    fits(union.clone(), json!(true));
    assert_eq!(one(union, json!(1)), "v: expected string or boolean, got number 1");
    let nested = json!({"anyOf": [
        {"type": "null"},
        {"type": "object", "properties": {"n": {"type": "integer"}}},
    ]});
    assert_eq!(one(nested, json!({"n": "x"})), "v.n: expected integer, got string \"x\"");
    assert_eq!(
        one(json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}), json!(3)),
        "v: number 3 fits several forms, only one is allowed"
    );
    fits(json!({"oneOf": [{"type": "string", "format": "date"}, {"type": "string"}]}), json!("x"));
    assert_eq!(
        one(json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}), json!(3)),
        "v: expected at most 2, got 3"
    );
    assert_eq!(one(json!({"not": {"type": "string"}}), json!("x")), "v: string \"x\" is not allowed here");
    fits(json!({"not": {"pattern": "^y"}}), json!("x"));
}

#[test]
fn references_are_followed_and_endless_ones_are_refused() {
    let schema = json!({
        "properties": {"tree": {"$ref": "#/$defs/tree"}, "loop": {"$ref": "#/$defs/loop"}, "wide": {"$ref": "#/$defs/wide"}},
        "$defs": {
            "tree": {"type": "object", "properties": {"kids": {"items": {"$ref": "#/$defs/tree"}}}},
            "loop": {"$ref": "#/$defs/loop"},
            "wide": {"allOf": [{"anyOf": [{"$ref": "#/$defs/wide"}, {"$ref": "#/$defs/wide"}]}]},
        },
    });
    assert_eq!(said(&schema, &json!({"tree": {"kids": [{}, {"kids": []}]}})), "fits");
    assert_eq!(
        said(&schema, &json!({"tree": {"kids": [{}, {"kids": [3]}]}})),
        "tree.kids[1].kids[0]: expected object, got number 3"
    );
    assert!(said(&schema, &json!({"loop": 1})).starts_with("loop: too deep"));
    assert!(said(&schema, &json!({"wide": 1})).starts_with("wide: "));
}

#[test]
fn arguments_of_the_recorded_contracts_can_be_checked() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/tools.json");
    let fixture: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for tool in fixture["tools"].as_array().unwrap() {
        let schema = &tool["parameters"];
        let verdict = validate(schema, &Map::new());
        let has_default =
            |name: &Value| schema["properties"][name.as_str().unwrap()].get("default").is_some();
        let needs = schema["required"].as_array().is_some_and(|names| !names.iter().all(has_default));
        assert_eq!(verdict.is_err(), needs, "{}", tool["name"]);
    }
}

proptest! {
    #[test]
    fn arbitrary_schemas_are_no_trouble(word in "(type|enum|items|anyOf|not|\\$ref|required|minimum|properties|pattern)", text: String, number: f64) {
        for junk in [json!(text), json!(number), json!([text, number]), json!({text.clone(): number})] {
            let _ = one(json!({word.clone(): junk.clone()}), json!({"a": [1, "x", null]}));
            let _ = said(&json!({word.clone(): junk}), &json!({"a": 1}));
        }
    }
}
