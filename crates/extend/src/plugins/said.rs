//! What a plugin answers to an event, read so that nothing is taken for silence that may have been meant as a no.

use hermes_core::hook::HookFailure;
use serde_json::{Value, json};

/// What came back from the callbacks of one event.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Said {
    pub(super) answers: Vec<Value>,
    pub(super) errors: Vec<String>,
}

impl Said {
    /// `{answers: […], errors: […]}`, or nothing at all from a plugin without a say in what may run (`policy`).
    /// Anything else may have been meant as a no, and is not taken for silence.
    pub(super) fn of(said: Value, policy: bool) -> Result<Self, HookFailure> {
        let Value::Object(mut fields) = said else {
            let is_silent = said.is_null() && !policy;
            return if is_silent { Ok(Self::default()) } else { Err(odd(&said)) };
        };
        let is_known = fields.is_empty() || ["answers", "errors"].iter().any(|key| fields.contains_key(*key));
        if !is_known {
            return Err(odd(&Value::Object(fields)));
        }
        let mut list = |key: &str| match fields.remove(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(odd(&json!({ key: other }))),
        };
        let (answers, errors) = (list("answers")?, list("errors")?);
        let words = |error: Value| match error {
            Value::String(text) => text,
            other => other.to_string(),
        };
        Ok(Self { answers, errors: errors.into_iter().map(words).collect() })
    }
}

/// So much of what was not understood is told.
const MAX_ODD: usize = 200;

fn odd(said: &Value) -> HookFailure {
    let said: String = said.to_string().chars().take(MAX_ODD).collect();
    HookFailure(format!("it did not answer with a list of `answers`, but with {said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_of_answers_is_not_taken_for_silence() {
        let said = |answers: Value, errors: &[&str]| Said {
            answers: serde_json::from_value(answers).unwrap(),
            errors: errors.iter().map(|it| (*it).to_owned()).collect(),
        };
        let no = json!({ "action": "block", "message": "no" });

        for nothing in [json!({}), json!({ "answers": [] }), json!({ "answers": null })] {
            assert_eq!(Said::of(nothing.clone(), true), Ok(Said::default()), "{nothing}");
        }
        assert_eq!(Said::of(Value::Null, false), Ok(Said::default()));
        assert_eq!(Said::of(json!({ "answers": [no] }), true), Ok(said(json!([no]), &[])));
        assert_eq!(
            Said::of(json!({ "errors": ["down", { "message": "x" }] }), true),
            Ok(said(json!([]), &["down", "{\"message\":\"x\"}"]))
        );
        for odd in [
            Value::Null,
            no.clone(),
            json!([no]),
            json!("block"),
            json!(false),
            json!({ "answers": no, "errors": [] }),
        ] {
            let failed = Said::of(odd.clone(), true).unwrap_err().0;
            assert!(failed.contains("it did not answer with a list of `answers`"), "{odd}: {failed}");
        }
    }
}
