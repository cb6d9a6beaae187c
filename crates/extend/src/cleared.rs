//! What a program says of itself, without the secrets that it was given. Why something failed, and what is offered, is
//! kept in files and shown to people without taking the road, where results lose theirs.

use serde_json::{Map, Value};

use crate::rpc::{Callee, RpcError};

/// Where an answer says what went wrong.
const COMPLAINTS: [&str; 7] = ["error", "errors", "err", "reason", "raised", "trace", "notes"];

/// Where it says what is offered.
const OFFERS: [&str; 4] = ["tools", "commands", "cli", "skills"];

/// What of an offer is written for people and models.
const WORDS: [&str; 4] = ["description", "help", "usage", "schema"];

/// What in a schema has to be as it is, or arguments would not fit it any more.
const FIXED: [&str; 4] = ["name", "type", "required", "$ref"];

/// An answer whose complaints and offers hold no secrets. What was asked for is as it was.
pub(crate) fn answer(said: Result<Value, RpcError>, callee: &dyn Callee) -> Result<Value, RpcError> {
    match said {
        Ok(mut said) => {
            if let Some(fields) = said.as_object_mut() {
                complaints(fields, callee);
                offers(fields, callee);
            }
            Ok(said)
        }
        Err(RpcError::Answered { code, message }) => {
            Err(RpcError::Answered { code, message: callee.cleared(&message) })
        }
        Err(wrong) => Err(wrong),
    }
}

fn complaints(fields: &mut Map<String, Value>, callee: &dyn Callee) {
    for complaint in COMPLAINTS {
        if let Some(complaint) = fields.get_mut(complaint) {
            texts(complaint, callee);
        }
    }
}

fn offers(fields: &mut Map<String, Value>, callee: &dyn Callee) {
    let lists = OFFERS.iter().filter_map(|key| fields.get(*key)?.as_array().map(|_| *key));
    for key in lists.collect::<Vec<_>>() {
        let offered = fields.get_mut(key).and_then(Value::as_array_mut);
        for offer in offered.into_iter().flatten().filter_map(Value::as_object_mut) {
            for word in WORDS {
                if let Some(words) = offer.get_mut(word) {
                    texts(words, callee);
                }
            }
        }
    }
}

/// Every text in it, but for those that have to be as they are.
fn texts(value: &mut Value, callee: &dyn Callee) {
    match value {
        Value::String(text) if !text.is_empty() => *text = callee.cleared(text),
        Value::Array(items) => items.iter_mut().for_each(|item| texts(item, callee)),
        Value::Object(fields) => {
            let is_fixed = |name: &str, value: &Value| !value.is_object() && FIXED.contains(&name);
            let words = fields.iter_mut().filter(|(name, value)| !is_fixed(name, value));
            words.for_each(|(_, value)| texts(value, callee));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;
    use serde_json::json;

    use super::*;

    /// Takes one word out of every text.
    struct Clears;

    impl Callee for Clears {
        fn request(&self, _: &str, _: Value) -> BoxFuture<'static, Result<Value, String>> {
            Box::pin(std::future::ready(Ok(Value::Null)))
        }

        fn notified(&self, _: &str, _: Value) {}

        fn logged(&self, line: &str) -> String {
            self.cleared(line)
        }

        fn cleared(&self, text: &str) -> String {
            text.replace("hunter2", "***")
        }
    }

    fn cleared(said: Value) -> Value {
        answer(Ok(said), &Clears).unwrap()
    }

    #[test]
    fn what_went_wrong_is_told_without_secrets_in_whatever_shape() {
        for key in COMPLAINTS {
            assert_eq!(cleared(json!({ key: "no hunter2" })), json!({ key: "no ***" }));
        }
        let errors = json!({ "errors": ["hunter2", { "message": "hunter2" }] });
        assert_eq!(cleared(errors), json!({ "errors": ["***", { "message": "***" }] }));
        let failed = RpcError::Answered { code: 3, message: "no hunter2".to_owned() };
        let told = RpcError::Answered { code: 3, message: "no ***".to_owned() };
        assert_eq!(answer(Err(failed), &Clears), Err(told));
    }

    #[test]
    fn what_is_offered_is_described_without_secrets_and_can_still_be_called() {
        let schema = |word: &str| {
            json!({
                "name": "hunter2",
                "parameters": {
                    "type": "object",
                    "properties": { "hunter2": { "type": "string", "default": word, "description": word } },
                    "required": ["hunter2"],
                },
            })
        };
        let offer = |word: &str| {
            json!({
                "tools": [{ "name": "hunter2", "description": word, "schema": schema(word) }],
                "cli": [{ "name": "hunter2", "help": word }],
                "skills": [{ "path": "/hunter2", "description": word }],
            })
        };

        assert_eq!(cleared(offer("key hunter2")), offer("key ***"));
    }

    #[test]
    fn what_was_asked_for_is_as_it_was() {
        for said in
            [json!({ "text": "hunter2" }), json!({ "answers": [{ "args": "hunter2" }] }), json!(["hunter2"])]
        {
            assert_eq!(cleared(said.clone()), said);
        }
    }
}
