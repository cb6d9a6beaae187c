//! Requests that are not as the protocol writes them: what is wrong, in words. Pure.
//!
//! A request of a known method whose parameters do not fit arrives as one of an unknown method, and
//! would be answered so. Here it is read again for what does not fit.

#![expect(deprecated, reason = "logging is on its way out of the protocol, but clients of today use it")]

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, CompleteRequestParams, CustomRequest,
    ErrorCode, GetMeta as _, GetPromptRequestParams, InitializeRequestParams, JsonRpcMessage,
    PaginatedRequestParams, ReadResourceRequestParams, RequestId, SetLevelRequestParams,
    SubscribeRequestParams, UnsubscribeRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Methods that the protocol without sessions has no more.
const REMOVED: [&str; 5] =
    ["initialize", "logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"];

/// What is wrong with a request that was not understood; `sessionless` in the protocol without sessions.
pub(super) fn not_understood(request: &CustomRequest, sessionless: bool) -> ErrorData {
    let CustomRequest { method, params, .. } = request;
    let removed = sessionless && REMOVED.contains(&method.as_str());
    if !removed && let Some(why) = misfit(method, params.as_ref()) {
        return ErrorData::invalid_params(format!("the parameters of {method} are wrong: {why}"), None);
    }
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}` here"), None)
}

/// What is wrong with the first request of a session, which nobody else could say: there is none yet.
pub(super) fn wrong_beginning(message: &ClientJsonRpcMessage) -> Option<(RequestId, ErrorData)> {
    match message {
        JsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::CustomRequest(custom) if custom.method == "initialize" => {
                let version = custom.get_meta().protocol_version();
                let sessionless = version.is_some_and(|version| !version.has_initialize());
                Some((request.id.clone(), not_understood(custom, sessionless)))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Why the parameters do not fit the method; nothing for a method that is not known.
fn misfit(method: &str, params: Option<&Value>) -> Option<String> {
    let why = match method {
        "initialize" => read::<InitializeRequestParams>(params),
        "tools/call" => read::<CallToolRequestParams>(params),
        "logging/setLevel" => read::<SetLevelRequestParams>(params),
        "resources/read" => read::<ReadResourceRequestParams>(params),
        "resources/subscribe" => read::<SubscribeRequestParams>(params),
        "resources/unsubscribe" => read::<UnsubscribeRequestParams>(params),
        "prompts/get" => read::<GetPromptRequestParams>(params),
        "completion/complete" => read::<CompleteRequestParams>(params),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            read::<Option<PaginatedRequestParams>>(params)
        }
        "ping" | "server/discover" | "subscriptions/listen" => None,
        _ => return None,
    };
    Some(why.unwrap_or_else(|| "they are not what the protocol says".to_owned()))
}

fn read<T: DeserializeOwned>(params: Option<&Value>) -> Option<String> {
    match params {
        None => Some("there are none".to_owned()),
        Some(params) if !params.is_object() => Some(format!("they are {}, not an object", kind(params))),
        Some(params) => {
            let wrong = serde_json::from_value::<T>(params.clone()).err()?;
            Some(named(params, &wrong))
        }
    }
}

/// The words of the parser, with the field that they are about where that can be told.
fn named(params: &Value, wrong: &serde_json::Error) -> String {
    match params.get("arguments") {
        Some(arguments) if !arguments.is_object() && !arguments.is_null() => {
            format!("`arguments` is {}, not an object", kind(arguments))
        }
        _ => wrong.to_string(),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(method: &str, params: Option<Value>) -> (i32, String) {
        let error = not_understood(&CustomRequest::new(method, params), false);
        (error.code.0, error.message.into_owned())
    }

    #[test]
    fn parameters_that_do_not_fit_are_named() {
        let call = |params: Value| told("tools/call", Some(params));
        let wrong = |why: &str| (-32602, format!("the parameters of tools/call are wrong: {why}"));

        assert_eq!(
            call(json!({ "name": "x", "arguments": "y" })),
            wrong("`arguments` is a string, not an object")
        );
        assert_eq!(
            call(json!({ "name": "x", "arguments": [1] })),
            wrong("`arguments` is an array, not an object")
        );
        assert_eq!(call(json!({ "arguments": {} })), wrong("missing field `name`"));
        assert_eq!(call(json!("x")), wrong("they are a string, not an object"));
        assert_eq!(told("tools/call", None), wrong("there are none"));
    }

    #[test]
    fn a_level_that_there_is_not_is_told_with_those_that_there_are() {
        let (code, why) = told("logging/setLevel", Some(json!({ "level": "loud" })));

        assert_eq!(code, -32602);
        assert!(why.contains("`loud`") && why.contains("`warning`"), "{why}");
    }

    #[test]
    fn what_the_protocol_without_sessions_has_no_more_is_no_method_there() {
        let level = CustomRequest::new("logging/setLevel", Some(json!({})));
        let call = CustomRequest::new("tools/call", Some(json!({})));

        assert_eq!(not_understood(&level, true).code, ErrorCode::METHOD_NOT_FOUND);
        assert_eq!(not_understood(&level, false).code, ErrorCode::INVALID_PARAMS);
        assert_eq!(not_understood(&call, true).code, ErrorCode::INVALID_PARAMS);
    }

    #[test]
    fn a_method_that_there_is_not_is_named() {
        assert_eq!(told("tools/clal", None), (-32601, "there is no method `tools/clal` here".to_owned()));
    }
}
