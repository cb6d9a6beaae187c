use proptest::prelude::*;
use serde_json::json;

use super::super::validate;
use super::*;

/// Coerces one value by one schema.
#[expect(clippy::needless_pass_by_value, reason = "calls read better without a borrow on every literal")]
fn one(schema: Value, value: Value) -> Value {
    let schema = json!({"type": "object", "properties": {"v": schema}, "required": ["v"]});
    let mut args = Map::from_iter([("v".to_owned(), value)]);
    coerce(&schema, &mut args);
    args.remove("v").unwrap_or_else(|| panic!("v was dropped"))
}

#[expect(clippy::needless_pass_by_value, reason = "calls read better without a borrow on every literal")]
fn kept(schema: Value, value: Value) {
    assert_eq!(one(schema, value.clone()).to_string(), value.to_string());
}

#[test]
fn text_becomes_an_integer_only_when_exact() {
    let integer = || json!({"type": "integer"});
    for (text, wanted) in [("42", 42), (" 7 ", 7), ("42.0", 42), ("1e3", 1000), ("-3", -3)] {
        assert_eq!(one(integer(), json!(text)).to_string(), wanted.to_string());
    }
    assert_eq!(one(integer(), json!("9007199254740993")), json!(9_007_199_254_740_993_u64));
    for text in ["4.5", "inf", "nan", "", "forty", "0x10", "99999999999999999999"] {
        kept(integer(), json!(text));
    }
}

#[test]
fn whole_floats_become_integers_where_only_integers_are_wanted() {
    assert_eq!(one(json!({"type": "integer"}), json!(5.0)).to_string(), "5");
    kept(json!({"type": "number"}), json!(5.0));
    kept(json!({"type": "integer"}), json!(1e17));
    kept(json!({"type": "integer"}), json!(4.5));
}

#[test]
fn text_becomes_a_number_or_a_boolean_only_when_it_is_one() {
    assert_eq!(one(json!({"type": "number"}), json!(" 2.5 ")), json!(2.5));
    assert_eq!(one(json!({"type": "number"}), json!("3")).to_string(), "3");
    kept(json!({"type": "number"}), json!("nan"));
    assert_eq!(one(json!({"type": "boolean"}), json!(" TRUE ")), json!(true));
    assert_eq!(one(json!({"type": "boolean"}), json!("False")), json!(false));
    for other in [json!("yes"), json!("1"), json!(1), json!(0)] {
        kept(json!({"type": "boolean"}), other);
    }
}

#[test]
fn lists_are_read_from_text_or_made_of_one_value() {
    let strings = || json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(one(strings(), json!("[\"a\", \"b\"]")), json!(["a", "b"]));
    assert_eq!(one(strings(), json!("['a', 'b']")), json!(["a", "b"]));
    assert_eq!(one(strings(), json!("a.txt")), json!(["a.txt"]));
    assert_eq!(one(strings(), json!("[draft] a.txt")), json!(["[draft] a.txt"]));
    kept(strings(), json!("[\"a\", \"b"));
    kept(strings(), json!("[a, b]"));
    kept(strings(), json!(null));
    let integers = || json!({"type": "array", "items": {"type": "integer"}});
    assert_eq!(one(integers(), json!("7")), json!([7]));
    assert_eq!(one(integers(), json!(["1", 2.0, "x"])).to_string(), "[1,2,\"x\"]");
    kept(integers(), json!("seven"));
    let objects = json!({"type": "array", "items": {"type": "object", "required": ["id"]}});
    assert_eq!(one(objects.clone(), json!({"id": 1})), json!([{"id": 1}]));
    assert_eq!(one(objects, json!(["{\"id\": 1}"])), json!([{"id": 1}]));
    assert_eq!(one(json!({"type": "array"}), json!(3)), json!([3]));
}

#[test]
fn objects_are_read_from_text_and_coerced_inside() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    assert_eq!(one(schema.clone(), json!("{\"n\": \"5\"}")), json!({"n": 5}));
    assert_eq!(one(schema.clone(), json!({"n": "5", "other": "5"})), json!({"n": 5, "other": "5"}));
    kept(schema, json!("{\"n\": "));
    let map = json!({"type": "object", "additionalProperties": {"type": "boolean"}});
    assert_eq!(one(map, json!({"a": "true"})), json!({"a": true}));
}

#[test]
fn the_word_null_is_null_only_where_text_is_not_allowed() {
    assert_eq!(one(json!({"type": ["integer", "null"]}), json!("null")), json!(null));
    assert_eq!(one(json!({"type": "integer", "nullable": true}), json!("null")), json!(null));
    assert_eq!(one(json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!("null")), json!(null));
    kept(json!({"type": ["string", "null"]}), json!("null"));
    kept(json!({"type": "integer"}), json!("null"));
}

#[test]
fn a_value_any_branch_allows_is_never_touched() {
    kept(json!({"type": ["integer", "string"]}), json!("42"));
    kept(json!({"oneOf": [{"type": "boolean"}, {"type": "string"}]}), json!("true"));
    kept(json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), json!("7"));
    kept(json!({}), json!("7"));
    kept(json!(true), json!("7"));
}

#[test]
fn unions_take_the_first_branch_that_fits_and_wrap_last() {
    let union = json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "integer"}]});
    assert_eq!(one(union.clone(), json!("42")), json!(42));
    assert_eq!(one(union, json!("x")), json!(["x"]));
    let nested = json!({"oneOf": [
        {"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]},
        {"type": "boolean"},
    ]});
    assert_eq!(one(nested, json!({"at": "3"})), json!({"at": 3}));
}

#[test]
fn enums_forgive_case_and_space_when_one_choice_is_meant() {
    let colours = || json!({"type": "string", "enum": ["red", "Green", "GREEN"]});
    assert_eq!(one(colours(), json!(" Red ")), json!("red"));
    kept(colours(), json!("green"));
    kept(colours(), json!("GREEN"));
    kept(colours(), json!("blue"));
    assert_eq!(one(json!({"type": "integer", "enum": [60, 1440]}), json!("60")), json!(60));
    assert_eq!(one(json!({"enum": [60, "auto"]}), json!("60")), json!(60));
}

#[test]
fn integers_become_text_where_only_text_is_wanted() {
    assert_eq!(one(json!({"type": "string"}), json!(9_007_199_254_740_993_u64)), json!("9007199254740993"));
    kept(json!({"type": "string"}), json!(3.1));
    kept(json!({"type": "string"}), json!(true));
}

#[test]
fn null_for_an_absent_option_is_dropped_and_order_stays() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": ["string", "null"]},
            "d": {}, "e": {"type": "string"}, "f": {"type": "object", "properties": {"g": {"type": "integer"}}},
        },
        "required": ["b"],
    });
    let mut args = json!({"a": null, "z": null, "b": null, "c": null, "d": null, "f": {"g": null}, "e": "x"});
    let args = args.as_object_mut().unwrap();
    coerce(&schema, args);
    let wanted = r#"{"z":null,"b":null,"c":null,"d":null,"f":{},"e":"x"}"#;
    assert_eq!(serde_json::to_string(args).unwrap(), wanted);
}

#[test]
fn references_are_followed_and_cycles_end() {
    let schema = json!({
        "properties": {"tree": {"$ref": "#/$defs/tree"}, "loop": {"$ref": "#/$defs/loop"}},
        "$defs": {
            "tree": {"type": "object", "properties": {
                "n": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
            "loop": {"anyOf": [{"$ref": "#/$defs/loop"}, {"$ref": "#/$defs/loop"}]},
        },
    });
    let mut args = json!({"tree": {"n": "1", "kids": [{"n": "2"}]}}).as_object().unwrap().clone();
    coerce(&schema, &mut args);
    assert_eq!(Value::Object(args), json!({"tree": {"n": 1, "kids": [{"n": 2}]}}));
    let mut args = json!({"loop": "x"}).as_object().unwrap().clone();
    coerce(&schema, &mut args);
    assert_eq!(Value::Object(args), json!({"loop": "x"}));
}

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "integer", "nullable": true})),
        Just(json!({"type": ["number", "null"]})),
        Just(json!({"type": "boolean"})),
        Just(json!({"enum": ["a", "B", 1]})),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            (inner.clone(), inner.clone()).prop_map(|(x, y)| json!({"anyOf": [x, y]})),
            (inner.clone(), inner).prop_map(|(x, y)| json!({
                "type": "object", "properties": {"x": x, "y": y}, "required": ["x"]})),
        ]
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5_i64..5).prop_map(Value::from),
        prop_oneof![Just(5.0), Just(0.5)].prop_map(Value::from),
        "(true|[0-9]{1,3}|null|a|b|\\[1\\]|\\{\"x\":1\\})".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[xyz]", inner), 0..3)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_valid_stays_equal(schema in any_schema(), value in any_value()) {
        let schema = json!({"properties": {"v": schema}, "required": ["v"]});
        let args = Map::from_iter([("v".to_owned(), value)]);
        let mut after = args.clone();
        coerce(&schema, &mut after);
        if validate(&schema, &args).is_ok() {
            prop_assert!(View::Object(&after).equals(&Value::Object(args)));
        }
    }

    #[test]
    fn a_second_time_changes_nothing(schema in any_schema(), value in any_value()) {
        let schema = json!({"properties": {"v": schema}, "required": ["v"]});
        let mut once = Map::from_iter([("v".to_owned(), value)]);
        coerce(&schema, &mut once);
        let mut twice = once.clone();
        coerce(&schema, &mut twice);
        prop_assert_eq!(once, twice);
    }
}
