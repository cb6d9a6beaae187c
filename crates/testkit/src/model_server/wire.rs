//! An answer in the words of each wire.

#![expect(clippy::indexing_slicing, reason = "a JSON value answers null for what it does not hold")]

use serde_json::{Value, json};

use super::Answer;

/// Characters in one piece of a stream.
const PIECE: usize = 12;

/// One of the three languages.
#[derive(Clone, Copy)]
pub(super) enum Language {
    Chat,
    Responses,
    Messages,
}

impl Language {
    pub(super) fn of_path(path: &str) -> Self {
        if path.ends_with("/messages") {
            Self::Messages
        } else if path.ends_with("/responses") {
            Self::Responses
        } else {
            Self::Chat
        }
    }

    /// The whole answer as one document.
    pub(super) fn whole(self, answer: &Answer, question: &Value) -> Value {
        let model = &question["model"];
        let (input, output) = answer.usage;
        match self {
            Self::Chat => {
                let mut message = json!({ "role": "assistant", "content": answer.text });
                if !answer.reasoning.is_empty() {
                    message["reasoning_content"] = json!(answer.reasoning);
                }
                if !answer.calls.is_empty() {
                    let calls = answer.calls.iter().map(|(id, name, arguments)| {
                        json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
                    });
                    message["tool_calls"] = calls.collect();
                }
                json!({
                    "id": "chat-1", "object": "chat.completion", "model": model,
                    "choices": [{ "index": 0, "message": message, "finish_reason": finish(answer) }],
                    "usage": { "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output },
                })
            }
            Self::Responses => response(answer, model),
            Self::Messages => {
                let mut content = Vec::new();
                if !answer.reasoning.is_empty() {
                    content.push(
                        json!({ "type": "thinking", "thinking": answer.reasoning, "signature": "signed" }),
                    );
                }
                if !answer.text.is_empty() {
                    content.push(json!({ "type": "text", "text": answer.text }));
                }
                for (id, name, arguments) in &answer.calls {
                    content.push(
                        json!({ "type": "tool_use", "id": id, "name": name, "input": object(arguments) }),
                    );
                }
                json!({
                    "id": "msg-1", "type": "message", "role": "assistant", "model": model, "content": content,
                    "stop_reason": stop_reason(answer), "usage": { "input_tokens": input, "output_tokens": output },
                })
            }
        }
    }

    /// The answer as the events of a stream, each written out.
    pub(super) fn stream(self, answer: &Answer, question: &Value) -> Vec<String> {
        match self {
            Self::Chat => chat(answer, question),
            Self::Responses => responses(answer, question),
            Self::Messages => messages(answer, question),
        }
    }
}

fn chat(answer: &Answer, question: &Value) -> Vec<String> {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        let chunk = json!({ "id": "chat-1", "object": "chat.completion.chunk", "model": question["model"], "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    events.extend(
        pieces(&answer.reasoning).map(|piece| chunk(json!({ "reasoning_content": piece }), Value::Null)),
    );
    events.extend(pieces(&answer.text).map(|piece| chunk(json!({ "content": piece }), Value::Null)));
    for (index, (id, name, arguments)) in answer.calls.iter().enumerate() {
        let call = json!({ "index": index, "id": id, "type": "function", "function": { "name": name, "arguments": "" } });
        events.push(chunk(json!({ "tool_calls": [call] }), Value::Null));
        events.extend(pieces(arguments).map(|piece| {
            chunk(
                json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] }),
                Value::Null,
            )
        }));
    }
    events.push(chunk(json!({}), finish(answer).into()));
    let (input, output) = answer.usage;
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": input, "completion_tokens": output } });
    events.push(format!("data: {usage}\n\n"));
    events.push("data: [DONE]\n\n".into());
    events
}

fn responses(answer: &Answer, question: &Value) -> Vec<String> {
    let response = response(answer, &question["model"]);
    let event =
        |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default());
    let mut events =
        vec![event(json!({ "type": "response.created", "response": { "status": "in_progress" } }))];
    for (index, item) in response["output"].as_array().into_iter().flatten().enumerate() {
        let kind = item["type"].as_str().unwrap_or_default();
        let mut begun = item.clone();
        let (delta, text) = match kind {
            "function_call" => {
                begun["arguments"] = json!("");
                ("response.function_call_arguments.delta", item["arguments"].as_str())
            }
            "reasoning" => ("response.reasoning_summary_text.delta", item["summary"][0]["text"].as_str()),
            _ => ("response.output_text.delta", item["content"][0]["text"].as_str()),
        };
        events.push(event(
            json!({ "type": "response.output_item.added", "output_index": index, "item": begun }),
        ));
        events.extend(
            pieces(text.unwrap_or_default())
                .map(|piece| event(json!({ "type": delta, "output_index": index, "delta": piece }))),
        );
        events
            .push(event(json!({ "type": "response.output_item.done", "output_index": index, "item": item })));
    }
    let kind = if response["status"] == "incomplete" { "response.incomplete" } else { "response.completed" };
    events.push(event(json!({ "type": kind, "response": response })));
    events
}

fn messages(answer: &Answer, question: &Value) -> Vec<String> {
    let event =
        |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default());
    let (input, output) = answer.usage;
    let message = json!({ "id": "msg-1", "type": "message", "model": question["model"], "usage": { "input_tokens": input, "output_tokens": 1 } });
    let mut events =
        vec![event(json!({ "type": "message_start", "message": message })), event(json!({ "type": "ping" }))];
    let mut blocks: Vec<(Value, &str, &str, &str)> = Vec::new();
    if !answer.reasoning.is_empty() {
        let block = json!({ "type": "thinking", "thinking": "", "signature": "" });
        blocks.push((block, "thinking_delta", "thinking", &answer.reasoning));
    }
    if !answer.text.is_empty() {
        blocks.push((json!({ "type": "text", "text": "" }), "text_delta", "text", &answer.text));
    }
    for (id, name, arguments) in &answer.calls {
        let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
        blocks.push((block, "input_json_delta", "partial_json", arguments));
    }
    for (index, (block, kind, field, text)) in blocks.into_iter().enumerate() {
        events.push(event(json!({ "type": "content_block_start", "index": index, "content_block": block })));
        events.extend(pieces(text).map(|piece| {
            event(json!({ "type": "content_block_delta", "index": index, "delta": { "type": kind, field: piece } }))
        }));
        if kind == "thinking_delta" {
            let delta = json!({ "type": "signature_delta", "signature": "signed" });
            events.push(event(json!({ "type": "content_block_delta", "index": index, "delta": delta })));
        }
        events.push(event(json!({ "type": "content_block_stop", "index": index })));
    }
    let delta = json!({ "stop_reason": stop_reason(answer) });
    events.push(event(
        json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": output } }),
    ));
    events.push(event(json!({ "type": "message_stop" })));
    events
}

fn response(answer: &Answer, model: &Value) -> Value {
    let mut items = Vec::new();
    if !answer.reasoning.is_empty() {
        let summary = json!([{ "type": "summary_text", "text": answer.reasoning }]);
        items.push(
            json!({ "type": "reasoning", "id": "rs-1", "summary": summary, "encrypted_content": "sealed" }),
        );
    }
    if !answer.text.is_empty() {
        let content = json!([{ "type": "output_text", "text": answer.text }]);
        items.push(json!({ "type": "message", "role": "assistant", "content": content }));
    }
    for (id, name, arguments) in &answer.calls {
        items.push(json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments }));
    }
    let (input, output) = answer.usage;
    let cut = finish(answer) == "length";
    json!({
        "id": "resp-1", "object": "response", "model": model, "output": items,
        "status": if cut { "incomplete" } else { "completed" },
        "incomplete_details": if cut { json!({ "reason": "max_output_tokens" }) } else { Value::Null },
        "usage": { "input_tokens": input, "output_tokens": output },
    })
}

/// Why it stops, in the words of chat completions.
fn finish(answer: &Answer) -> String {
    let usual = if answer.calls.is_empty() { "stop" } else { "tool_calls" };
    answer.finish.clone().unwrap_or_else(|| usual.to_owned())
}

fn stop_reason(answer: &Answer) -> &'static str {
    match finish(answer).as_str() {
        "tool_calls" => "tool_use",
        "length" => "max_tokens",
        "content_filter" => "refusal",
        _ => "end_turn",
    }
}

fn object(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| json!({}))
}

fn pieces(text: &str) -> impl Iterator<Item = String> {
    let chars: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = chars.chunks(PIECE).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}
