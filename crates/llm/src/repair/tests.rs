use hermes_core::model::ModelCall;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Piece, TextFilter, unique_ids};
use crate::tools_json::Offered;

fn offered() -> Offered {
    let tool = |name: &str, parameters: Value| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
    let tools = json!([
        tool(
            "weather",
            json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}})
        ),
        tool(
            "write_file",
            json!({"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}})
        ),
        tool("now", json!({"type": "object", "properties": {}})),
    ]);
    Offered::new(&tools.to_string().into())
}

/// What came of a text in pieces: words, thoughts, calls, and whether one was cut off.
#[derive(Debug, Default, PartialEq)]
struct Sorted {
    text: String,
    thoughts: String,
    calls: Vec<(String, String)>,
    cut_off: bool,
}

fn sort<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Sorted {
    let mut filter = TextFilter::new(Some(offered()));
    let mut out = Vec::new();
    for piece in pieces {
        filter.push(piece, &mut out);
    }
    filter.end(&mut out);
    let mut sorted = Sorted::default();
    for piece in out {
        match piece {
            Piece::Text(text) => sorted.text.push_str(&text),
            Piece::Thought(text) => sorted.thoughts.push_str(&text),
            Piece::AllWasThought => sorted.thoughts.push_str(&std::mem::take(&mut sorted.text)),
            Piece::Call { call, cut_off } => {
                sorted.cut_off |= cut_off;
                sorted.calls.push((call.name, call.arguments));
            }
        }
    }
    sorted
}

/// The same, however the text is cut.
#[track_caller]
fn sorted(text: &str) -> Sorted {
    let whole = sort([text]);
    let mut buffers = [0; 4];
    let chars: Vec<String> = text.chars().map(|c| c.encode_utf8(&mut buffers).to_owned()).collect();
    let one_by_one = sort(chars.iter().map(String::as_str));
    assert_eq!(one_by_one, whole, "cut into characters");
    whole
}

#[track_caller]
fn called(text: &str, calls: &[(&str, Value)], words: &str) {
    let sorted = sorted(text);
    let found: Vec<(String, Value)> = sorted
        .calls
        .iter()
        .map(|(name, arguments)| {
            (name.clone(), serde_json::from_str(arguments).unwrap_or_else(|_| panic!("{arguments}")))
        })
        .collect();
    let wanted: Vec<(String, Value)> =
        calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.clone())).collect();

    assert_eq!((found, sorted.text.trim(), sorted.cut_off), (wanted, words, false), "{text}");
}

#[track_caller]
fn stays(text: &str) {
    assert_eq!(sorted(text), Sorted { text: text.to_owned(), ..Sorted::default() });
}

fn london() -> Value {
    json!({"city": "London"})
}

#[test]
fn hermes_calls_are_found() {
    let call = r#"<tool_call>{"name": "weather", "arguments": {"city": "London"}}</tool_call>"#;

    called(call, &[("weather", london())], "");
    called(&format!("I look.\n{call}\n{call}\n"), &[("weather", london()), ("weather", london())], "I look.");
    called(
        "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call> done",
        &[("now", json!({})), ("now", json!({}))],
        "done",
    );
    called("<tool_call>\n```json\n{\"name\":\"now\",\"arguments\":{}}", &[("now", json!({}))], "");
}

#[test]
fn a_call_without_its_closing_tag_is_whole() {
    let sorted = sorted(r#"<tool_call>{"name": "weather", "arguments": {"city": "London"}}"#);

    assert_eq!(sorted.calls.len(), 1);
}

#[test]
fn nested_braces_and_quotes_stay_inside_the_arguments() {
    let content = "fn main() { println!(\"{}\", \"</tool_call>\"); }";
    let arguments = json!({"path": "a.rs", "content": content});
    let call = json!({"name": "write_file", "arguments": arguments});

    called(&format!("<tool_call>{call}</tool_call>"), &[("write_file", arguments.clone())], "");
    called(&call.to_string(), &[("write_file", arguments)], "");
}

#[test]
fn parameters_in_tags_are_read_by_the_schema() {
    let wanted = json!({"city": "42", "days": 3});

    called(
        "<tool_call>\n<function=weather>\n<parameter=city>\n42\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
        &[("weather", wanted.clone())],
        "",
    );
    called(
        "<function=weather><parameter=city>42</parameter><parameter=days>3</parameter></function>",
        &[("weather", wanted.clone())],
        "",
    );
    called(
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>42</arg_value>\n<arg_key>days</arg_key><arg_value>3</arg_value></tool_call>",
        &[("weather", wanted.clone())],
        "",
    );
    called(
        "<minimax:tool_call>\n<invoke name=\"weather\">\n<parameter name=\"city\">42</parameter>\n<parameter name=\"days\">3</parameter>\n</invoke>\n</minimax:tool_call>",
        &[("weather", wanted.clone())],
        "",
    );
    called(
        "<｜DSML｜function_calls><｜DSML｜invoke name=\"weather\"><｜DSML｜parameter name=\"city\" string=\"true\">42</｜DSML｜parameter><｜DSML｜parameter name=\"days\" string=\"false\">3</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
        &[("weather", wanted)],
        "",
    );
}

#[test]
fn llama_calls_are_found() {
    called(
        r#"<|python_tag|>{"name": "weather", "parameters": {"city": "London"}}; {"name": "now", "parameters": {}}<|eom_id|>"#,
        &[("weather", london()), ("now", json!({}))],
        "",
    );
    called(r#"<function=weather>{"city": "London"}</function>"#, &[("weather", london())], "");
    called(r#"{"name": "weather", "parameters": {"city": "London"}}"#, &[("weather", london())], "");
    called("[weather(city=\"London\"), now()]", &[("weather", london()), ("now", json!({}))], "");
    called("[weather(city='it\\'s', days=2)]", &[("weather", json!({"city": "it's", "days": 2}))], "");
}

#[test]
fn mistral_calls_are_found() {
    called(
        r#"[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "London"}}, {"name": "now", "arguments": {}}]"#,
        &[("weather", london()), ("now", json!({}))],
        "",
    );
    called(
        r#"Sure.[TOOL_CALLS]weather[ARGS]{"city": "London"}[TOOL_CALLS]now[CALL_ID]abc[ARGS]{}"#,
        &[("weather", london()), ("now", json!({}))],
        "Sure.",
    );
}

#[test]
fn deepseek_and_kimi_calls_are_found() {
    called(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{\"city\": \"London\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        &[("weather", london())],
        "",
    );
    called(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{\"city\": \"London\"}<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        &[("weather", london()), ("now", json!({}))],
        "",
    );
    called(
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{\"city\": \"London\"}<|tool_call_end|><|tool_calls_section_end|>",
        &[("weather", london())],
        "",
    );
}

#[test]
fn fenced_and_bare_json_is_a_call_when_it_names_an_offered_tool() {
    called(
        "I will check:\n```json\n{\"name\": \"weather\", \"arguments\": {\"city\": \"London\"}}\n```\nOne moment.",
        &[("weather", london())],
        "I will check:\nOne moment.",
    );
    called("```\n[{\"name\": \"now\", \"arguments\": {}}]\n```", &[("now", json!({}))], "");
    called(
        "{\"tool_calls\": [{\"id\": \"x\", \"type\": \"function\", \"function\": {\"name\": \"now\", \"arguments\": \"{}\"}}]}",
        &[("now", json!({}))],
        "",
    );
    called(
        "{\"function\": \"weather\", \"arguments\": {\"city\": \"London\"}}",
        &[("weather", london())],
        "",
    );
}

#[test]
fn what_names_no_offered_tool_stays_text() {
    stays(
        "An example:\n```json\n{\"name\": \"get_stock\", \"arguments\": {\"symbol\": \"X\"}}\n```\nThat is all.",
    );
    stays("```xml\n<tool_call>{\"name\": \"get_stock\", \"arguments\": {}}</tool_call>\n```\n");
    stays("{\"name\": \"Alice\", \"arguments\": {\"a\": 1}}");
    stays("{\"name\": \"weather\", \"age\": 3}");
    stays("[1, 2, 3] and [link](http://x) and `weather` and {not json}\n[x] done\n");
    stays("if a < b { c[0] } // <tool");
    stays("```rust\nfn main() { let x = [1]; }\n```\n");
}

#[test]
fn ordinary_text_streams_without_waiting() {
    let mut filter = TextFilter::new(Some(offered()));
    let mut out = Vec::new();

    filter.push("Here is code:\n```rust\nfn main() {}\n", &mut out);
    filter.push("a < b", &mut out);

    let shown: String =
        out.iter().map(|piece| if let Piece::Text(text) = piece { text.as_str() } else { "" }).collect();
    assert_eq!(shown, "Here is code:\n```rust\nfn main() {}\na < b");
}

#[test]
fn a_call_is_never_shown_while_it_is_written() {
    let mut filter = TextFilter::new(Some(offered()));
    let mut out = Vec::new();

    for piece in ["Look: ", "<tool", "_call>{\"na", "me\": \"weather\", \"argum"] {
        filter.push(piece, &mut out);
    }

    assert_eq!(out, [Piece::Text("Look: ".into())]);
}

#[test]
fn a_call_that_was_cut_off_is_said_to_be() {
    for text in [
        r#"<tool_call>{"name": "weather", "arguments": {"city": "Lon"#,
        r#"{"name": "weather", "arguments": {"city": "Lon"#,
        r#"[TOOL_CALLS]weather[ARGS]{"city": "Lon"#,
        "<function=weather><parameter=city>Lon",
        "<｜tool▁call▁begin｜>weather<｜tool▁sep｜>{\"city\": \"Lon",
    ] {
        let sorted = sorted(text);

        assert!(sorted.cut_off, "{text}: {sorted:?}");
        assert_eq!(sorted.calls[0].0, "weather", "{text}");
        assert!(serde_json::from_str::<Value>(&sorted.calls[0].1).is_err(), "not completed: {text}");
    }
}

#[test]
fn thoughts_are_split_off() {
    let thought = |text: &str, thoughts: &str, words: &str| {
        let sorted = sorted(text);
        assert_eq!((sorted.thoughts.as_str(), sorted.text.as_str()), (thoughts, words), "{text}");
    };

    thought("<think>hm\nhm</think>\n\nYes.", "hm\nhm", "Yes.");
    thought("hm\n</think>\n\nYes.", "hm\n", "Yes.");
    thought("<think>never ends", "never ends", "");
    thought("A.\n<thinking>b</thinking>\nC.", "b", "A.\nC.");
    thought(
        "Use `<think>` in text, or\n```\n<think>\n```\n",
        "",
        "Use `<think>` in text, or\n```\n<think>\n```\n",
    );
}

#[test]
fn ids_become_unique() {
    let mut calls: Vec<ModelCall> = ["", "a", "a", "call_1", ""]
        .iter()
        .map(|id| ModelCall { id: (*id).into(), name: String::new(), arguments: String::new() })
        .collect();

    unique_ids(calls.iter_mut());

    let ids: Vec<_> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_1", "a", "a_2", "call_1_2", "call_5"]);
}

proptest! {
    #[test]
    fn any_cut_of_any_text_gives_the_same(
        parts in prop::collection::vec(prop::sample::select(vec![
            "<tool_call>", "</tool_call>", "{\"name\": \"weather\", \"arguments\": {", "\"city\": \"x\"}}", "}", "\n", "```", "json",
            "<think>", "</think>", "[TOOL_CALLS]", "weather", "[ARGS]", "{", "[", "<function=weather>", "</function>", "é", " a ",
            "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<|python_tag|>", "(city=\"", "\")]", "<invoke name=\"now\">", "</invoke>",
        ]), 0..14),
    ) {
        let text = parts.concat();
        let whole = sort([text.as_str()]);
        prop_assert_eq!(sort(parts), whole);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,60}") {
        sort([text.as_str()]);
    }
}
