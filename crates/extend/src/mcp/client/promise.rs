//! Whether an answer is what the tool says that it answers with.
//!
//! The call ran, so nothing of its answer is kept from the model: what is not as promised comes with a note. A
//! promise that makes no sense is no promise; that is found out only once an answer does not follow it.

use hermes_core::json::{Violation, misfit};
use rmcp::model::CallToolResult;
use serde_json::Value;

use super::schema::broken;
use super::server::Server;

/// What the model should know about an answer that is not as promised.
pub(super) fn note(server: &Server, tool: &str, result: &CallToolResult) -> Option<String> {
    let known = server.known();
    let schema = known.output(tool)?.value();
    if result.is_error == Some(true) {
        return None;
    }
    let note = unkept(schema, result.structured_content.as_ref())?;
    if let Some(why) = broken(schema) {
        let line = format!("[what tool `{tool}` promises to answer with is not looked at: {why}]");
        server.inner.log.line(&line);
        return None;
    }
    Some(note)
}

/// How the structure of an answer differs from what was promised, in words.
fn unkept(schema: &Value, structured: Option<&Value>) -> Option<String> {
    let Some(structured) = structured else {
        return Some("The tool promises structured content, and the server sent none.".to_owned());
    };
    let Violation { path, message } = misfit(schema, structured)?;
    let place = if path.is_empty() { String::new() } else { format!(" at `{path}`") };
    Some(format!(
        "The structured content is not what the tool promises{place}: {message}. It is shown as it came."
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_as_promised_is_told_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": { "days": { "type": "array", "items": {
                "type": "object", "properties": { "high": { "type": "number" } }, "required": ["high"],
            } } },
        });
        let told = |structured: Value| unkept(&schema, Some(&structured));

        assert_eq!(told(json!({ "days": [{ "high": 21.5 }] })), None);
        assert_eq!(
            told(json!({ "days": [{ "high": 21 }, { "high": "hot" }] })).unwrap(),
            "The structured content is not what the tool promises at `days[1].high`: expected number, got \
             string \"hot\". It is shown as it came."
        );
        assert!(told(json!({ "days": [{}] })).unwrap().contains("at `days[0].high`: required, but missing"));
        assert!(told(json!([])).unwrap().contains("promises: expected object"));
        assert!(unkept(&schema, None).unwrap().contains("sent none"));
    }

    #[test]
    fn what_cannot_be_looked_through_is_not_called_wrong() {
        let endless = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#" } } });

        assert_eq!(unkept(&endless, Some(&json!({}))), None);
    }
}
