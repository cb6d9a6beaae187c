use proptest::prelude::*;
use serde_json::json;

use super::*;

fn mended_to(raw: &str, wanted: &Value) {
    let parsed = parse_arguments(raw).unwrap_or_else(|error| panic!("{raw}: {error}"));
    assert_eq!(&Value::Object(parsed.value), wanted, "{raw}");
    assert!(parsed.mended, "{raw}");
    assert!(!parsed.truncated, "{raw}");
}

fn cut_to(raw: &str, wanted: &Value) {
    let parsed = parse_arguments(raw).unwrap_or_else(|error| panic!("{raw}: {error}"));
    assert_eq!(&Value::Object(parsed.value), wanted, "{raw}");
    assert!(parsed.mended && parsed.truncated, "{raw}");
}

fn refusal(raw: &str) -> String {
    match parse_arguments(raw) {
        Ok(parsed) => panic!("{raw} was read as {parsed:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn blank_text_is_an_empty_object() {
    for raw in ["", "  \n\t"] {
        let parsed = parse_arguments(raw).unwrap();
        assert_eq!(parsed, Parsed { value: Map::new(), mended: false, truncated: false });
    }
}

#[test]
fn commas_too_many_or_missing_are_mended() {
    mended_to(r#"{"a": 1, "b": [1, 2,],}"#, &json!({"a": 1, "b": [1, 2]}));
    mended_to(r#"{"a": 1,, "b": 2}"#, &json!({"a": 1, "b": 2}));
    mended_to(r#"{"a": "x" "b": 2}"#, &json!({"a": "x", "b": 2}));
    mended_to("{\n a: 1\n b: 2\n}", &json!({"a": 1, "b": 2}));
    mended_to(r#"{"a": [{"b": 1} {"b": 2}]}"#, &json!({"a": [{"b": 1}, {"b": 2}]}));
    mended_to("{\"a\": [\"x\"\n\"y\"]}", &json!({"a": ["x", "y"]}));
}

#[test]
fn other_quotes_bare_keys_and_python_literals_are_mended() {
    mended_to(r"{'a': True, 'b': None, 'c': 'it\'s'}", &json!({"a": true, "b": null, "c": "it's"}));
    mended_to(r"{'esc': '\x1b[0m'}", &json!({"esc": "\u{1b}[0m"}));
    mended_to("{path: \"x\", $k-1: false}", &json!({"path": "x", "$k-1": false}));
    mended_to("{“a”: “say \"hi\"”, ‘b’: 1}", &json!({"a": "say \"hi\"", "b": 1}));
    mended_to(
        "{\"a\": .5, \"b\": 5., \"c\": +7, \"d\": -.5}",
        &json!({"a": 0.5, "b": 5.0, "c": 7, "d": -0.5}),
    );
}

#[test]
fn what_stands_around_the_object_is_dropped() {
    mended_to("```json\n{\"a\": 1}\n```", &json!({"a": 1}));
    mended_to("Sure, here it is: {\"a\": \"```\"} Hope it helps!", &json!({"a": "```"}));
    mended_to("{\"a\": 1}}", &json!({"a": 1}));
    mended_to("\u{feff}{\"a\": 1}", &json!({"a": 1}));
    mended_to("{\"a\": 1}</tool_call>", &json!({"a": 1}));
    mended_to("{ // one\n \"a\": 1, # two\n /* three */ \"b\": 2 }", &json!({"a": 1, "b": 2}));
}

#[test]
fn wrapped_objects_are_unwrapped_three_times_at_most() {
    let mut raw = json!({"a": "x\ny"}).to_string();
    for _ in 0..3 {
        raw = Value::String(raw).to_string();
        mended_to(&raw, &json!({"a": "x\ny"}));
    }
    assert!(refusal(&Value::String(raw).to_string()).contains("this is a string"));
    mended_to(r#""{\"a\": 1,}""#, &json!({"a": 1}));
    mended_to("\"{\\\"a\\\":\n1}\"", &json!({"a": 1}));
    cut_to(r#""{\"a\": 1"#, &json!({"a": 1}));
}

#[test]
fn raw_control_characters_stay_in_their_strings() {
    mended_to("{\"a\": \"x\n\ty\u{1}\"}", &json!({"a": "x\n\ty\u{1}"}));
}

#[test]
fn stray_backslashes_are_kept_unless_other_escapes_make_them_doubtful() {
    mended_to(r#"{"pattern": "\d+\.rs"}"#, &json!({"pattern": r"\d+\.rs"}));
    mended_to("{\"cmd\": \"ls \\\n -l\"}", &json!({"cmd": "ls \\\n -l"}));
    assert_eq!(
        refusal(r#"{"path": "C:\Users\new"}"#),
        r"invalid escape \U in a string; write \\ for a backslash (line 1, column 13)"
    );
    assert!(refusal(r#"{"a": "\uD800x"}"#).contains("lone surrogate"));
    assert!(refusal(r#"{"a": "\u12G4"}"#).contains(r"\u"));
    mended_to(r#"{"a": "\ud83d\ude00",}"#, &json!({"a": "😀"}));
}

#[test]
fn a_bracket_closed_by_the_one_around_it_is_mended() {
    mended_to(r#"{"a": [1, 2}"#, &json!({"a": [1, 2]}));
    mended_to(r#"{"a": [{"b": 1], "c": 2}"#, &json!({"a": [{"b": 1}], "c": 2}));
}

#[test]
fn text_that_ends_early_is_told_apart() {
    cut_to("{", &json!({}));
    cut_to(r#"{"a": "hel"#, &json!({"a": "hel"}));
    cut_to(r#"{"a": "hel\"#, &json!({"a": "hel"}));
    cut_to(r#"{"a": "hel\u00"#, &json!({"a": "hel"}));
    cut_to(r#"{"a": "hel\ud83d\u"#, &json!({"a": "hel"}));
    cut_to(r#"{"a": 1, "b"#, &json!({"a": 1}));
    cut_to(r#"{"a": 1, "b":"#, &json!({"a": 1}));
    cut_to(r#"{"a": 1, "b": tr"#, &json!({"a": 1}));
    cut_to(r#"{"a": 1, "b": -"#, &json!({"a": 1}));
    cut_to(r#"{"a": 1, "b": [1, {"c": 2"#, &json!({"a": 1, "b": [1, {"c": 2}]}));
    cut_to(r#"{"a": 1 /* and"#, &json!({"a": 1}));
    cut_to("```json\n{\"a\": 1", &json!({"a": 1}));
}

#[test]
fn integers_keep_every_digit() {
    let exact =
        parse_arguments(r#"{"a": 9007199254740993, "b": 18446744073709551615, "c": -9223372036854775808}"#);
    let exact = exact.unwrap();
    assert!(!exact.mended);
    let wanted = json!({"a": 9_007_199_254_740_993_u64, "b": u64::MAX, "c": i64::MIN});
    assert_eq!(Value::Object(exact.value), wanted);
    mended_to(r#"{"a": 18446744073709551616}"#, &json!({"a": "18446744073709551616"}));
    mended_to(r#"{"a": [-9223372036854775809]}"#, &json!({"a": ["-9223372036854775809"]}));
    let float = parse_arguments(r#"{"a": 1e30, "b": -0}"#).unwrap();
    assert!(!float.mended);
    assert_eq!(Value::Object(float.value), json!({"a": 1e30, "b": -0.0}));
}

#[test]
fn what_would_need_a_guess_is_refused_with_its_place() {
    assert_eq!(refusal("{\n  \"a\": NaN}"), "NaN is not a JSON number (line 2, column 8)");
    assert!(refusal(r#"{"a": -Infinity}"#).starts_with("-Infinity is not a JSON number"));
    assert!(refusal(r#"{"a": 1e999}"#).starts_with("1e999 is not a JSON number"));
    assert!(refusal(r#"{"a": 007}"#).starts_with("007 is not a JSON number"));
    assert_eq!(refusal(r#"{"a": hello}"#), "expected a value, found `hello}` (line 1, column 7)");
    assert!(refusal(r#"{"a": "he said "hi" to me"}"#).starts_with("expected `,` or `}`, found `hi"));
    assert!(refusal(r#"{"a": ["x" "y"]}"#).starts_with("expected `,` or `]`"));
    assert!(refusal(r#"{"a": , "b": 1}"#).starts_with("expected a value"));
    assert!(refusal(r#"{"a" 1}"#).starts_with("expected `:` after the key"));
    assert!(refusal(r#"{"a": 1} {"a": 2}"#).starts_with("more follows"));
    assert!(refusal("use {x} here").starts_with("expected `:`"));
}

#[test]
fn what_is_no_object_is_named() {
    for (raw, name) in [
        ("[1]", "an array"),
        ("[1,", "an array"),
        ("null", "null"),
        ("true", "a boolean"),
        ("42", "a number"),
        ("\"hi\"", "a string"),
        ("hello", "text without any object"),
    ] {
        assert!(refusal(raw).contains(&format!("this is {name} (")), "{raw}: {}", refusal(raw));
    }
}

#[test]
fn the_last_of_two_equal_keys_wins() {
    let parsed = parse_arguments(r#"{"a": 1, "a": 2}"#).unwrap();
    assert_eq!((parsed.value, parsed.mended), (json!({"a": 2}).as_object().unwrap().clone(), false));
    mended_to(r#"{"a": 1, "a": 2,}"#, &json!({"a": 2}));
}

#[test]
fn depth_and_size_are_bounded() {
    assert!(refusal(&format!("{{\"a\": {}", "[".repeat(1_000_000))).starts_with("nested deeper"));
    assert!(refusal(&"{\"a\":".repeat(100_000)).starts_with("nested deeper"));
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(127), "]".repeat(127));
    assert!(!parse_arguments(&deep).unwrap().mended);
    assert!(refusal(&" ".repeat(MAX_BYTES + 1)).contains("16 MiB"));
}

#[test]
fn containers_in_text_are_read_whole_or_not_at_all() {
    assert_eq!(container(" ['a', 'b'] "), Some(json!(["a", "b"])));
    assert_eq!(container("{\"a\": 1}"), Some(json!({"a": 1})));
    for text in ["[1, 2", "[1] x", "x [1]", "12", "[draft] notes"] {
        assert_eq!(container(text), None, "{text}");
    }
}

/// Any JSON value, not too large.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Value> {
    prop::collection::vec((any::<String>(), any_value()), 0..6)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

proptest! {
    #[test]
    fn arbitrary_text_is_no_trouble(raw: String) {
        let _ = parse_arguments(&raw);
    }

    #[test]
    fn arbitrary_bytes_are_no_trouble(raw: Vec<u8>) {
        let _ = parse_arguments(&String::from_utf8_lossy(&raw));
    }

    #[test]
    fn text_made_of_json_parts_is_no_trouble(raw in "([{}\\[\\]:,\"'“”\\\\/*#\n ux0-9a-f.eE+-]|True|NaN|```|\\\\u[dD][89a-f]0){0,60}") {
        if let Ok(parsed) = parse_arguments(&raw) {
            prop_assert!(parsed.mended || !parsed.truncated);
        }
    }

    #[test]
    fn valid_objects_come_back_unchanged(object in any_object(), pretty: bool) {
        let raw = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) }.unwrap();
        let plainly: Value = serde_json::from_str(&raw).unwrap();
        let parsed = parse_arguments(&raw).unwrap();
        prop_assert!(!parsed.mended);
        prop_assert_eq!(Value::Object(parsed.value), plainly);
    }

    #[test]
    fn the_forgiving_reader_agrees_with_the_plain_one(object in any_object()) {
        let raw = object.to_string();
        let plainly: Value = serde_json::from_str(&raw).unwrap();
        let mut reader = Reader::new(&raw);
        let value = reader.value().ok().flatten();
        prop_assert!(!reader.mended && !reader.truncated);
        prop_assert_eq!(value, Some(plainly));
    }

    #[test]
    fn a_prefix_is_truncated_or_the_whole(object in any_object(), cut: prop::sample::Index) {
        let raw = serde_json::to_string_pretty(&object).unwrap();
        let end = raw.floor_char_boundary(cut.index(raw.len() + 1));
        if let Ok(parsed) = parse_arguments(raw.get(..end).unwrap()) && parsed.mended {
            let plainly: Value = serde_json::from_str(&raw).unwrap();
            prop_assert!(parsed.truncated || Value::Object(parsed.value) == plainly);
        }
    }
}

#[test]
fn an_integer_that_no_number_can_hold_is_read_as_its_digits() {
    let text = r#"{"id": 123456789012345678901234567890, "all": [-9223372036854775809, 18446744073709551615, 1e30, 0.5]}"#;

    let wanted = json!({
        "id": "123456789012345678901234567890",
        "all": ["-9223372036854775809", 18_446_744_073_709_551_615_u64, 1e30, 0.5],
    });
    assert_eq!(exact(text), Some(wanted));
    assert_eq!((exact("{oops}"), exact("{\"a\": 1,}")), (None, None), "nothing is mended");
}
