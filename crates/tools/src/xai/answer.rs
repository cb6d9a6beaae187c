//! What came back: the words, the posts they rest on, and where in the words each is cited.

use serde_json::{Value, json};

/// An answer.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) citations: Vec<String>,
    pub(crate) inline: Vec<Value>,
}

/// Reads a response.
pub(crate) fn read(response: &Value) -> Answer {
    let list =
        |value: &Value, field: &str| value.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    let texts: Vec<Value> = list(response, "output")
        .iter()
        .filter(|item| item.get("type").is_some_and(|kind| kind == "message"))
        .flat_map(|item| list(item, "content"))
        .filter(|part| part.get("type").is_some_and(|kind| kind == "output_text"))
        .collect();
    let words: Vec<&str> =
        texts.iter().filter_map(|part| part.get("text")?.as_str()).map(str::trim).collect();
    let inline: Vec<Value> = texts
        .iter()
        .flat_map(|part| list(part, "annotations"))
        .filter(|note| note.get("type").is_some_and(|kind| kind == "url_citation"))
        .map(|note| json!(crate::api::picked(&note, &["url", "title", "start_index", "end_index"])))
        .collect();
    let mut citations: Vec<String> = Vec::new();
    let whole = list(response, "citations");
    let named = whole.iter().filter_map(|one| one.as_str().or_else(|| one.get("url")?.as_str()));
    for url in named.chain(inline.iter().filter_map(|note| note.get("url")?.as_str())) {
        if !citations.iter().any(|known| known == url) {
            citations.push(url.to_owned());
        }
    }
    Answer { text: words.join("\n\n"), citations, inline }
}

/// Why a response has no answer in it.
pub(crate) fn trouble(response: &Value) -> Option<String> {
    let said = |place: &str| response.pointer(place).and_then(Value::as_str).map(str::to_owned);
    match response.get("status").and_then(Value::as_str) {
        Some("failed") => Some(said("/error/message").unwrap_or_else(|| "no reason was given".to_owned())),
        Some("incomplete") => {
            Some(said("/incomplete_details/reason").unwrap_or_else(|| "it broke off".to_owned()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_what_they_rest_on_are_found() {
        let response = json!({
            "status": "completed",
            "citations": ["https://x.com/i/status/1"],
            "output": [
                { "type": "reasoning", "summary": [] },
                { "type": "custom_tool_call", "name": "x_keyword_search" },
                { "type": "message", "role": "assistant", "content": [{
                    "type": "output_text", "text": "They like it.[[1]](https://x.com/i/status/1)",
                    "annotations": [
                        { "type": "url_citation", "url": "https://x.com/i/status/1", "title": "1", "start_index": 13, "end_index": 44 },
                        { "type": "url_citation", "url": "https://x.com/i/status/2", "title": "2", "start_index": 0, "end_index": 1 },
                    ],
                }]},
            ],
        });

        let answer = read(&response);

        assert_eq!(answer.text, "They like it.[[1]](https://x.com/i/status/1)");
        assert_eq!(answer.citations, ["https://x.com/i/status/1", "https://x.com/i/status/2"]);
        assert_eq!(
            answer.inline[0],
            json!({ "url": "https://x.com/i/status/1", "title": "1", "start_index": 13, "end_index": 44 })
        );
        assert_eq!(trouble(&response), None);
    }

    #[test]
    fn an_answer_that_failed_says_why() {
        let failed = json!({ "status": "failed", "error": { "code": "x", "message": "no such model" } });

        assert_eq!(trouble(&failed).as_deref(), Some("no such model"));
        assert_eq!(read(&failed), Answer::default());
        assert_eq!(read(&json!("?")), Answer::default());
    }
}
