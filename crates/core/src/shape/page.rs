//! Lays a large result out as lines, so that it can be read in pages.
//!
//! JSON on one line cannot be paged. If one text makes up most of the result (the output of a
//! command, the body of a page) that text is the page, as it is; otherwise the result is
//! indented JSON. What else there is and is too large to stay visible follows behind the text, so
//! that nothing is lost. Very long lines are folded.

use serde_json::Value;

use super::kept::kept;

/// Longest line of a page, in characters. Readers of files commonly cut lines at 2000.
pub const MAX_LINE: usize = 1900;
/// Stands between the text and what else the result had.
const REST: &str = "--- rest of the result ---";

/// A result as lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pageable {
    /// What to write to the file.
    pub text: String,
    /// The path of the field whose text this is (`stdout`, `results.0.content`). None if it is the
    /// whole result.
    pub field: Option<String>,
    /// How many lines the text has.
    pub lines: usize,
    /// Whether long lines were broken.
    pub folded: bool,
}

/// Lays out a result.
pub fn pageable(value: &Value) -> Pageable {
    let (text, field) = match value {
        Value::String(text) => (text.clone(), None),
        _ => match main_text(value) {
            Some(text) => around(value, text),
            None => (format!("{value:#}"), None),
        },
    };
    let (text, folded) = match fold(&text) {
        Some(folded) => (folded, true),
        None => (text, false),
    };
    Pageable { lines: text.lines().count(), text, field, folded }
}

/// The text inside `value` that makes up more than half of it.
fn main_text(value: &Value) -> Option<&str> {
    let mut all = 0;
    let mut largest = "";
    weigh(value, &mut all, &mut largest);
    (largest.len() > all / 2).then_some(largest)
}

fn weigh<'a>(value: &'a Value, all: &mut usize, largest: &mut &'a str) {
    match value {
        Value::String(text) => {
            *all += text.len();
            if text.len() > largest.len() {
                *largest = text;
            }
        }
        Value::Array(items) => items.iter().for_each(|item| weigh(item, all, largest)),
        Value::Object(fields) => {
            for (name, field) in fields {
                *all += name.len();
                weigh(field, all, largest);
            }
        }
        _ => *all += 4,
    }
}

/// The page made of one text of the result, and the path to it.
fn around(value: &Value, text: &str) -> (String, Option<String>) {
    let mut path = Vec::new();
    let alone = trace(value, text, &mut path);
    let shown: Vec<String> = path.iter().rev().map(|step| readable(step)).collect();
    let visible = match value {
        Value::Object(_) => kept(value, path.last().map(String::as_str)).whole,
        _ => true,
    };
    let page = if alone == Some(true) && visible {
        text.to_owned()
    } else {
        let gap = if text.ends_with('\n') { "\n" } else { "\n\n" };
        format!("{text}{gap}{REST}\n{:#}\n", without(value, text))
    };
    (page, Some(shown.join(".")))
}

/// Finds the way to `text`, last step first. Answers whether nothing else hangs on that way; what
/// lies beside it in an outermost object is not asked about.
fn trace(value: &Value, text: &str, path: &mut Vec<String>) -> Option<bool> {
    match value {
        Value::String(candidate) => std::ptr::eq(candidate.as_str(), text).then_some(true),
        Value::Array(items) => items.iter().enumerate().find_map(|(at, item)| {
            let alone = trace(item, text, path)?;
            path.push(at.to_string());
            Some(alone && items.len() == 1)
        }),
        Value::Object(fields) => fields.iter().find_map(|(name, field)| {
            let alone = trace(field, text, path)? && field.as_object().is_none_or(|inner| inner.len() == 1);
            path.push(name.clone());
            Some(alone)
        }),
        _ => None,
    }
}

/// A step of a path; names that would be misread are quoted.
fn readable(step: &str) -> String {
    if step.is_empty() || step.contains(['.', '"', '\n']) { format!("{step:?}") } else { step.to_owned() }
}

/// The result with a note where the text was.
fn without(value: &Value, text: &str) -> Value {
    match value {
        Value::String(candidate) if std::ptr::eq(candidate.as_str(), text) => "(the text above)".into(),
        Value::Array(items) => items.iter().map(|item| without(item, text)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), without(field, text))).collect()
        }
        other => other.clone(),
    }
}

/// Breaks lines that are too long; None if there are none.
fn fold(text: &str) -> Option<String> {
    let is_long = |line: &str| line.len() > MAX_LINE && line.chars().nth(MAX_LINE).is_some();
    if !text.lines().any(is_long) {
        return None;
    }
    let mut out = String::with_capacity(text.len() + text.len() / MAX_LINE + 1);
    for line in text.split_inclusive('\n') {
        let body = line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n')).unwrap_or(line);
        let mut rest = body;
        while let Some((head, tail)) =
            rest.char_indices().nth(MAX_LINE).and_then(|(at, _)| rest.split_at_checked(at))
        {
            out.push_str(head);
            out.push('\n');
            rest = tail;
        }
        out.push_str(rest);
        out.push_str(line.get(body.len()..).unwrap_or_default());
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn page(text: &str, field: &str, lines: usize) -> Pageable {
        Pageable { text: text.to_owned(), field: Some(field.to_owned()), lines, folded: false }
    }

    #[test]
    fn the_output_of_a_command_is_paged_as_it_is() {
        let output = "line\n".repeat(500);

        let result = json!({ "output": output, "exit_code": 0, "error": null });

        assert_eq!(pageable(&result), page(&output, "output", 500));
    }

    #[test]
    fn a_text_alone_deep_inside_is_paged_as_it_is() {
        let body = "line\n".repeat(50);

        assert_eq!(
            pageable(&json!({ "ok": true, "data": [{ "a.b": body }] })),
            page(&body, "data.0.\"a.b\"", 50)
        );
        assert_eq!(pageable(&json!([[body]])), page(&body, "0.0", 50));
    }

    #[test]
    fn what_else_is_large_follows_the_text() {
        let (out, err) = ("o".repeat(1000), "e".repeat(300));

        let paged = pageable(&json!({ "stdout": out, "stderr": err, "code": 1 }));

        let rest = json!({ "stdout": "(the text above)", "stderr": err, "code": 1 });
        assert_eq!(paged, page(&format!("{out}\n\n{REST}\n{rest:#}\n"), "stdout", 8));
    }

    #[test]
    fn siblings_deep_inside_are_not_lost() {
        let paged = pageable(&json!({ "result": { "content": "c".repeat(500), "status": 404 } }));

        assert!(paged.text.contains("\"status\": 404"));
        assert_eq!(paged.field.as_deref(), Some("result.content"));
    }

    #[test]
    fn many_parts_are_paged_as_indented_json() {
        let list: Vec<_> = (0..100).map(|n| json!({ "id": n })).collect();

        let paged = pageable(&json!({ "items": list }));

        assert_eq!(serde_json::from_str::<Value>(&paged.text).unwrap(), json!({ "items": list }));
        assert_eq!((paged.field, paged.lines > 100), (None, true));
    }

    #[test]
    fn long_lines_are_folded_between_characters() {
        let paged = pageable(&json!("ä".repeat(MAX_LINE * 2 + 1)));

        assert_eq!(
            paged.text.lines().map(|line| line.chars().count()).collect::<Vec<_>>(),
            [MAX_LINE, MAX_LINE, 1]
        );
        assert_eq!((paged.lines, paged.folded), (3, true));
        assert!(!pageable(&json!("a".repeat(MAX_LINE))).folded);
        assert!(!pageable(&json!(format!("{}\r\nb", "a".repeat(MAX_LINE)))).folded);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn folding_only_adds_line_ends(text in "[aä\r\n]{0,40}", times in 1_usize..200) {
            let text = text.repeat(times);
            let paged = pageable(&json!(text));
            prop_assert_eq!(paged.text.replace('\n', ""), text.replace('\n', ""));
            prop_assert!(paged.folded || paged.text == text);
            prop_assert!(paged.text.lines().all(|line| line.chars().count() <= MAX_LINE));
        }

        #[test]
        fn every_text_of_the_result_is_on_the_page_or_kept(
            fields in prop::collection::btree_map("[a-z]{1,5}", "[a-z]{0,300}", 1..6),
        ) {
            let result = json!(fields);
            let paged = pageable(&result);
            let kept = kept(&result, None).fields;
            for (name, text) in &fields {
                prop_assert!(paged.text.contains(text) || kept.get(name) == Some(&json!(text)), "{name}");
            }
        }
    }
}
