#![expect(clippy::disallowed_methods, reason = "a test reads the contract fixtures")]

use proptest::prelude::*;

use super::*;

fn sanitize(schema: &Value, dialect: Dialect) -> Value {
    super::sanitize(schema, dialect).into_owned()
}

/// Sanitizes one property.
#[expect(clippy::needless_pass_by_value, reason = "calls read better without a borrow on every literal")]
fn one(schema: Value, dialect: Dialect) -> Value {
    let whole = sanitize(&json!({"type": "object", "properties": {"v": schema}}), dialect);
    whole["properties"]["v"].clone()
}

fn lenient(schema: Value, wanted: &Value) {
    assert_eq!(one(schema, Dialect::Lenient), *wanted);
}

#[test]
fn the_top_level_is_always_an_object_with_properties() {
    let empty = json!({"type": "object", "properties": {}});
    for odd in [
        json!(null),
        json!("string"),
        json!([]),
        json!({}),
        json!({"type": "string"}),
        json!({"properties": 3}),
    ] {
        assert_eq!(sanitize(&odd, Dialect::Lenient), empty, "{odd}");
    }
    assert_eq!(sanitize(&json!({"type": ["object", "null"], "enum": [{}]}), Dialect::Lenient), empty);
}

#[test]
fn branches_at_the_top_give_their_properties() {
    let schema = json!({
        "oneOf": [
            {"properties": {"a": {"type": "string"}, "id": {"type": "string"}}, "required": ["a", "id"]},
            {"$ref": "#/$defs/other"},
        ],
        "allOf": [{"properties": {"c": {"type": "boolean"}}, "required": ["c"]}],
        "$defs": {"other": {"properties": {"b": {"type": "string"}, "id": {"type": "string"}}, "required": ["id"]}},
    });
    let clean = sanitize(&schema, Dialect::Lenient);
    let names: Vec<_> = clean["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["c", "a", "id", "b"]);
    assert_eq!(clean["required"], json!(["c", "id"]));
    assert!(clean.get("oneOf").is_none() && clean.get("allOf").is_none());
}

#[test]
fn a_reference_at_the_top_is_replaced() {
    let schema =
        json!({"$ref": "#/$defs/x", "$defs": {"x": {"type": "object", "properties": {"a": "string"}}}});
    assert_eq!(sanitize(&schema, Dialect::Lenient)["properties"], json!({"a": {"type": "string"}}));
    let ring = json!({"$ref": "#"});
    assert_eq!(sanitize(&ring, Dialect::Lenient), json!({"type": "object", "properties": {}}));
}

#[test]
fn bare_words_and_booleans_become_schemas() {
    lenient(json!("integer"), &json!({"type": "integer"}));
    lenient(json!("whatever"), &json!({"type": "object", "properties": {}}));
    lenient(json!(true), &json!({}));
    lenient(json!(false), &json!({"not": {}}));
    lenient(
        json!({"type": "array", "items": "string"}),
        &json!({"type": "array", "items": {"type": "string"}}),
    );
    let open = json!({"type": "object", "properties": {}, "additionalProperties": true});
    lenient(open.clone(), &open);
}

#[test]
fn lists_of_types_become_one_type_or_a_union() {
    lenient(json!({"type": ["string", "null"]}), &json!({"type": "string", "nullable": true}));
    lenient(json!({"type": ["null"]}), &json!({"type": "null"}));
    lenient(json!({"type": []}), &json!({"type": "object", "properties": {}}));
    lenient(
        json!({"type": ["array", "string", "null"], "items": {"type": "string"}, "description": "d"}),
        &json!({"description": "d", "nullable": true,
            "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}),
    );
    lenient(
        json!({"type": ["string", "null"], "enum": ["a", null]}),
        &json!({"type": "string", "enum": ["a"], "nullable": true}),
    );
}

#[test]
fn a_union_with_null_collapses_and_keeps_what_was_said_about_it() {
    lenient(
        json!({"anyOf": [{"type": "string", "title": "inner"}, {"type": "null"}],
            "title": "T", "description": "D", "default": null, "examples": ["x"]}),
        &json!({"type": "string", "title": "T", "description": "D", "default": null, "examples": ["x"], "nullable": true}),
    );
    let union = json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]});
    lenient(union.clone(), &union);
}

#[test]
fn objects_list_their_properties_and_only_known_ones_are_required() {
    lenient(json!({"type": "object"}), &json!({"type": "object", "properties": {}}));
    lenient(
        json!({"type": "object", "properties": {"a": {}}, "required": ["a", "b", 3, "a"]}),
        &json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
    );
    lenient(json!({"type": "object", "required": ["b"]}), &json!({"type": "object", "properties": {}}));
    lenient(json!({"anyOf": [{"required": ["a"]}]}), &json!({"anyOf": [{"required": ["a"]}]}));
    lenient(json!({"$ref": "#/$defs/x", "default": 1}), &json!({"$ref": "#/$defs/x"}));
}

#[test]
fn names_of_properties_are_never_taken_for_keywords() {
    let properties = json!({
        "pattern": {"type": "string"}, "default": {"type": "string"}, "type": {"type": "string"},
        "format": {"type": "string"}, "enum": {"type": "string"}, "$ref": {"type": "string"},
        "anyOf": {"type": "string"}, "required": {"type": "string"}, "properties": {"type": "string"},
        "const": {"type": "string"}, "items": {"type": "string"},
    });
    let schema = json!({"type": "object", "properties": properties});
    for dialect in [Dialect::Lenient, Dialect::Strict] {
        assert_eq!(sanitize(&schema, dialect)["properties"], properties);
    }
    let data =
        json!({"type": "object", "properties": {}, "default": {"type": ["string", "null"], "pattern": "x"}});
    lenient(data.clone(), &data);
}

#[test]
fn strict_removes_what_strict_validators_refuse() {
    let strict = |schema, wanted: Value| assert_eq!(one(schema, Dialect::Strict), wanted);
    strict(json!({"type": "string", "pattern": "^a", "format": "uri"}), json!({"type": "string"}));
    strict(json!({"type": "string", "enum": ["a/b", "c"]}), json!({"type": "string"}));
    strict(json!({"type": "string", "const": "a"}), json!({"type": "string", "enum": ["a"]}));
    strict(
        json!({"oneOf": [{"type": "string"}, {"type": "boolean"}]}),
        json!({"anyOf": [{"type": "string"}, {"type": "boolean"}]}),
    );
    strict(
        json!({"type": "object", "properties": {"a": {}}}),
        json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false}),
    );
    let open = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": true});
    strict(open.clone(), open);
    strict(json!({"type": "object"}), json!({"type": "object", "properties": {}}));
}

#[test]
fn recorded_contracts_keep_their_properties() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/tools.json");
    let fixture: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for tool in fixture["tools"].as_array().unwrap() {
        let clean = sanitize(&tool["parameters"], Dialect::Lenient);
        let names =
            |schema: &Value| schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&clean), names(&tool["parameters"]), "{}", tool["name"]);
    }
}

#[test]
fn a_plain_schema_is_left_as_it_is() {
    let plain = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string", "description": "What to say", "enum": ["a", "b"] },
            "more": { "type": "array", "items": { "type": "integer", "minimum": 1 } },
            "deep": { "type": "object", "properties": { "x": {} }, "required": ["x"], "additionalProperties": false },
        },
        "required": ["text", "deep"],
    });
    assert!(matches!(super::sanitize(&plain, Dialect::Lenient), Cow::Borrowed(_)));
    assert!(matches!(super::sanitize(&plain, Dialect::Strict), Cow::Owned(_)));
}

/// JSON that looks like a schema more often than not.
fn any_schema() -> impl Strategy<Value = Value> {
    let word = "(type|properties|required|items|anyOf|oneOf|allOf|enum|const|not|nullable|pattern|format|default|\\$ref|additionalProperties|title|a)";
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        "(string|object|null|array|integer|a|a/b|#|#/properties/a)".prop_map(Value::from),
        Just(json!(1)),
        Just(json!(["string", "null"])),
        Just(json!(["array", "object"])),
        Just(json!({"type": "null"})),
    ];
    leaf.prop_recursive(5, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word, inner), 0..5).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn a_second_time_changes_nothing(schema in any_schema()) {
        for dialect in [Dialect::Lenient, Dialect::Strict] {
            let once = sanitize(&schema, dialect);
            let twice = sanitize(&once, dialect);
            prop_assert_eq!(twice.to_string(), once.to_string());
        }
    }

    #[test]
    fn what_is_left_as_it_is_would_not_be_changed(
        inner in any_schema(),
        mut node in prop::collection::vec(("(type|properties|required|items|description|enum|a)", any_schema()), 0..4),
        required in prop::collection::vec("(a|b|c)", 0..3),
    ) {
        node.insert(0, ("required".to_owned(), json!(required)));
        let node: Map<String, Value> = node.into_iter().collect();
        for properties in [json!({ "a": inner, "b": { "type": "string" } }), json!({ "a": node.clone(), "b": inner })] {
            let mut schema = json!({ "type": "object", "properties": properties });
            for more in [Value::Null, Value::Object(node.clone())] {
                let extra = more.as_object().cloned().unwrap_or_default();
                schema.as_object_mut().unwrap().extend(extra);
                let fit = made_fit(&schema, Dialect::Lenient);
                prop_assert_eq!(sanitize(&schema, Dialect::Lenient).to_string(), fit.to_string());
            }
        }
    }
}
