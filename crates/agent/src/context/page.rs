//! What stands for a text that was paged out: an id, a glimpse, and how to read the rest.

use hermes_core::model::{Message, ModelCall};
use serde_json::{Map, Value, json};

use super::{head, line, tail};

/// Longest string in the arguments of an old call.
const ARGUMENT: usize = 160;

/// What stands for a long result: one JSON document.
pub(crate) fn stand_in(id: &str, text: &str, glimpse: usize, reread: &str) -> String {
    let glimpse = if glimpse <= 200 {
        line(text, glimpse)
    } else {
        let (first, last) = (glimpse * 3 / 4, glimpse / 4);
        format!("{} […] {}", head(text, first), tail(text, last))
    };
    let note = reread.replace("{id}", id);
    json!({ "paged_out": id, "chars": text.chars().count(), "glimpse": glimpse, "note": note }).to_string()
}

/// The id of a result that was paged out before.
pub(crate) fn paged_before(content: &str) -> Option<String> {
    if !content.starts_with(r#"{"paged_out":"#) {
        return None;
    }
    let value: Value = serde_json::from_str(content).ok()?;
    value.get("paged_out")?.as_str().map(str::to_owned)
}

/// What stands for a result that came again later.
pub(crate) fn same_as(later: &Message) -> String {
    let id = match later {
        Message::Tool { call_id, .. } => call_id.as_str(),
        _ => "",
    };
    json!({ "same_as": id, "note": "The same result came again later in this conversation." }).to_string()
}

/// A long message of the person, cut in the middle.
pub(crate) fn cut_words(id: &str, text: &str, most: usize, reread: &str) -> String {
    let (first, last) = (head(text, most * 3 / 4), tail(text, most / 4));
    let left_out = text.chars().count().saturating_sub(most);
    format!("{first}\n[… {left_out} characters left out. {} …]\n{last}", reread.replace("{id}", id))
}

/// The call with its long arguments cut; it stays an object with the same fields.
pub(crate) fn short_call(call: &ModelCall) -> ModelCall {
    if call.arguments.len() <= ARGUMENT * 3 {
        return call.clone();
    }
    let arguments = match serde_json::from_str::<Map<String, Value>>(&call.arguments) {
        Ok(fields) => Value::Object(fields.into_iter().map(|(name, value)| (name, short(value))).collect()),
        Err(_) => json!({ "cut": line(&call.arguments, ARGUMENT) }),
    };
    ModelCall { arguments: arguments.to_string(), ..call.clone() }
}

fn short(value: Value) -> Value {
    let text = match &value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let count = text.chars().count();
    if count <= ARGUMENT {
        return value;
    }
    Value::String(format!("{}… [{} characters left out]", head(&text, ARGUMENT), count - ARGUMENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_is_json_and_knows_its_id() {
        let text = format!("{{\"quote\": \"\\\"\"}}{}", "é".repeat(5_000));
        for glimpse in [80, 800] {
            let stand_in = stand_in("p-1", &text, glimpse, "Read {id}.");
            let value: Value = serde_json::from_str(&stand_in).unwrap();

            assert_eq!(value["note"], "Read p-1.");
            assert_eq!(paged_before(&stand_in), Some("p-1".to_owned()));
            assert!(stand_in.len() < 3_000);
        }
        assert_eq!(paged_before(&text), None);
    }

    #[test]
    fn a_shortened_call_is_still_an_object_with_its_fields() {
        let long = json!({ "path": "a", "content": "x".repeat(9_000), "list": vec![1; 900] }).to_string();
        let call = ModelCall { id: "1".to_owned(), name: "w".to_owned(), arguments: long };
        let short = short_call(&call);
        let value: Value = serde_json::from_str(&short.arguments).unwrap();

        assert_eq!(value["path"], "a");
        assert!(short.arguments.len() < 600, "{}", short.arguments.len());
        let broken = ModelCall { arguments: "{".repeat(900), ..call };
        assert!(short_call(&broken).arguments.len() < 300);
    }
}
