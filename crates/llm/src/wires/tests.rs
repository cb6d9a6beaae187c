use std::sync::Arc;

use hermes_core::model::{
    AssistantMessage, Finish, Message, ModelCall, ModelEvent, ModelReply, ModelRequest, Part, Usage,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Answer, Decoder, Fault, body, tools};
use crate::adapt::Lessons;
use crate::endpoint::Endpoint;
use crate::provider::Wire;
use crate::providers;
use hermes_net::SseDecoder;

fn endpoint(provider: &str, model: &str) -> Endpoint {
    Endpoint::of(providers::find(provider).unwrap(), model, None)
}

fn weather_tool() -> Arc<str> {
    json!([{"type": "function", "function": {"name": "weather", "description": "d", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}])
        .to_string()
        .into()
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: "be good".into(),
        messages,
        tools: weather_tool(),
        max_tokens: Some(100),
        effort: None,
        session: None,
    }
}

/// A conversation with a thought, two calls, their results and a picture.
fn conversation(keep: Value) -> Vec<Message> {
    let call = |id: &str, city: &str| ModelCall {
        id: id.into(),
        name: "weather".into(),
        arguments: json!({"city": city}).to_string(),
    };
    let Value::Object(keep) = keep else { panic!() };
    let result = |id: &str, content: &str, images: Vec<String>| Message::Tool {
        call_id: id.into(),
        name: "weather".into(),
        content: content.into(),
        images,
    };
    vec![
        Message::user("hi"),
        Message::Assistant(AssistantMessage {
            text: "I look.".into(),
            reasoning: Some("hm".into()),
            calls: vec![call("a", "London"), call("b", "Paris")],
            finish: Finish::Calls,
            keep,
        }),
        result("a", "{\"t\":1}", Vec::new()),
        result("b", "{\"t\":2}", vec!["data:image/png;base64,AAAA".into()]),
    ]
}

fn built(endpoint: &Endpoint, request: &ModelRequest) -> Value {
    let tools = tools(endpoint.wire, &request.tools, Lessons::default());
    serde_json::from_str(&body(endpoint, request, tools.as_deref(), Lessons::default())).unwrap()
}

#[test]
fn a_chat_request_has_the_known_shape() {
    let endpoint = endpoint("lmstudio", "qwen2.5-vl");

    let sent = built(&endpoint, &request(conversation(json!({}))));

    let call = |id: &str, city: &str| json!({"id": id, "type": "function", "function": {"name": "weather", "arguments": format!("{{\"city\":\"{city}\"}}")}});
    assert_eq!(
        sent,
        json!({
            "model": "qwen2.5-vl",
            "messages": [
                {"role": "system", "content": "be good"},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "I look.", "reasoning_content": "hm", "tool_calls": [call("a", "London"), call("b", "Paris")]},
                {"role": "tool", "tool_call_id": "a", "name": "weather", "content": "{\"t\":1}"},
                {"role": "tool", "tool_call_id": "b", "name": "weather", "content": "{\"t\":2}"},
                {"role": "user", "content": [
                    {"type": "text", "text": "Picture from the result of weather (b):"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                ]},
            ],
            "tool_choice": "auto",
            "max_tokens": 100,
            "stream": true,
            "stream_options": {"include_usage": true},
            "tools": serde_json::from_str::<Value>(&weather_tool()).unwrap(),
        })
    );
}

#[test]
fn a_responses_request_has_the_known_shape() {
    let mut endpoint = endpoint("openai", "gpt-5");
    endpoint.effort = Some("high".into());
    let sealed = json!({"type": "reasoning", "summary": [], "encrypted_content": "x"});
    let keep = json!({"reasoning_items": [sealed], "from": "openai-api/gpt-5"});

    let sent = built(&endpoint, &request(conversation(keep)));

    assert_eq!(sent["instructions"], "be good");
    assert_eq!(sent["tools"][0]["name"], "weather");
    assert_eq!(sent["reasoning"], json!({"effort": "high", "summary": "auto"}));
    assert_eq!((&sent["store"], &sent["max_output_tokens"]), (&json!(false), &json!(100)));
    assert!(sent["prompt_cache_key"].as_str().unwrap().len() <= 64);
    let kinds: Vec<_> = sent["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["type"].as_str().unwrap_or("user"))
        .collect();
    assert_eq!(
        kinds,
        [
            "user",
            "reasoning",
            "message",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
            "user"
        ]
    );
}

#[test]
fn a_messages_request_has_the_known_shape_and_four_marks() {
    let endpoint = endpoint("anthropic", "claude-sonnet-4-5");
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let keep = json!({"thinking_blocks": [thought], "from": "anthropic/claude-sonnet-4-5"});

    let sent = built(&endpoint, &request(conversation(keep)));

    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": mark}]},
            {"role": "assistant", "content": [
                thought,
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a", "name": "weather", "input": {"city": "London"}},
                {"type": "tool_use", "id": "b", "name": "weather", "input": {"city": "Paris"}, "cache_control": mark},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "{\"t\":1}"},
                {"type": "tool_result", "tool_use_id": "b", "content": [
                    {"type": "text", "text": "{\"t\":2}"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                ], "cache_control": mark},
            ]},
        ])
    );
    assert_eq!(sent["system"], json!([{"type": "text", "text": "be good", "cache_control": mark}]));
    assert_eq!(sent["tools"][0]["input_schema"]["type"], "object");
}

#[test]
fn signatures_go_back_only_to_whom_they_came_from() {
    let keep = json!({
        "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "secret-signature"}],
        "reasoning_items": [{"type": "reasoning", "encrypted_content": "secret-signature"}],
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "secret-signature"}],
        "from": "somebody/else",
    });

    for (provider, model) in
        [("anthropic", "claude"), ("openai", "gpt-5"), ("openrouter", "x"), ("ollama", "y")]
    {
        let sent = built(&endpoint(provider, model), &request(conversation(keep.clone())));
        assert!(!sent.to_string().contains("secret-signature"), "{provider}");
    }
}

#[test]
fn the_prefix_of_a_growing_conversation_keeps_its_bytes() {
    for (provider, model) in [("ollama", "m"), ("openai", "gpt-5")] {
        let endpoint = endpoint(provider, model);
        let short = request(conversation(json!({})));
        let mut long = short.clone();
        long.messages
            .push(Message::Assistant(AssistantMessage { text: "ok".into(), ..AssistantMessage::default() }));
        let text = |request: &ModelRequest| body(&endpoint, request, Some("[]"), Lessons::default());
        let (short_text, long_text) = (text(&short), text(&long));
        let common = short_text.bytes().zip(long_text.bytes()).take_while(|(a, b)| a == b).count();

        assert_eq!(text(&short), short_text);
        assert!(common > short_text.find("tool_choice").unwrap() - 10, "{provider}");
    }
}

#[test]
fn openrouter_claude_gets_marks_and_old_openai_roles_are_kept() {
    let claude =
        built(&endpoint("openrouter", "anthropic/claude-sonnet-4.5"), &request(vec![Message::user("hi")]));
    let mut chat = endpoint("openai", "gpt-5");
    chat.wire = Wire::Chat;
    let gpt = built(&chat, &request(vec![Message::user("hi")]));

    assert_eq!(claude["messages"][0]["content"][0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(claude["messages"][1]["content"][0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(
        (&gpt["messages"][0]["role"], &gpt["max_completion_tokens"]),
        (&json!("developer"), &json!(100))
    );
}

#[test]
fn a_model_that_does_not_see_is_told_so() {
    let picture = Message::User {
        content: vec![Part::Text { text: "look".into() }, Part::Image { url: "https://x/y.png".into() }],
    };

    for (provider, model) in [("groq", "llama-3.1-8b-instant"), ("deepseek", "deepseek-chat")] {
        let sent = built(&endpoint(provider, model), &request(vec![picture.clone()]));
        assert!(sent.to_string().contains("not shown") && !sent.to_string().contains("y.png"), "{provider}");
    }
    let seen = built(&endpoint("gemini", "gemini-2.5-pro"), &request(vec![picture]));
    assert_eq!(seen["messages"][1]["content"][1]["image_url"]["url"], "https://x/y.png");
}

#[test]
fn thinking_is_asked_for_as_each_model_wants_it() {
    let asked = |provider: &str, model: &str, effort: &str| {
        let request = ModelRequest { effort: Some(effort.into()), ..request(vec![Message::user("hi")]) };
        built(&endpoint(provider, model), &request)
    };

    let old = asked("anthropic", "claude-sonnet-4-5", "high");
    assert_eq!(
        (&old["thinking"], &old["max_tokens"]),
        (&json!({"type": "enabled", "budget_tokens": 16_384}), &json!(20_480))
    );
    assert_eq!(asked("anthropic", "claude-opus-4-6", "low")["output_config"], json!({"effort": "low"}));
    assert_eq!(asked("openrouter", "x", "none")["reasoning"], json!({"enabled": false}));
    assert_eq!(asked("gemini", "gemini-2.5-pro", "xhigh")["reasoning_effort"], "high");
    assert_eq!(asked("zai", "glm-4.6", "medium")["thinking"], json!({"type": "enabled"}));
    assert_eq!(asked("custom", "qwen3", "high")["reasoning_effort"], "high");
    assert_eq!(asked("mistral", "mistral-large-latest", "high").get("reasoning_effort"), None);
}

fn decode(wire: Wire, stream: &str) -> (Result<ModelReply, Fault>, Vec<ModelEvent>) {
    let mut endpoint = endpoint("ollama", "m");
    endpoint.wire = wire;
    let mut decoder = Decoder::new(wire, Answer::new(&endpoint, &weather_tool()));
    let mut out = Vec::new();
    let mut fault = None;
    let mut sse = SseDecoder::default();
    let mut take = |event, out: &mut Vec<ModelEvent>| {
        if fault.is_none() {
            fault = decoder.event(&event, out).err();
        }
    };
    sse.push(stream.as_bytes(), |event| take(event, &mut out)).unwrap();
    sse.end(|event| take(event, &mut out));
    match fault {
        Some(fault) => (Err(fault), out),
        None => (decoder.finish(&mut out), out),
    }
}

fn stream(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<Vec<_>>().concat()
}

fn delta(delta: &Value) -> Value {
    json!({"model": "m1", "choices": [{"delta": delta}]})
}

fn reply(wire: Wire, events: &[Value]) -> ModelReply {
    decode(wire, &stream(events)).0.unwrap()
}

fn called(reply: &ModelReply) -> Vec<(&str, &str, &str)> {
    reply
        .message
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
        .collect()
}

#[test]
fn parallel_calls_are_put_together_by_index() {
    let piece = |index: u64, rest: Value| {
        let mut call = json!({"index": index});
        call.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        delta(&json!({"tool_calls": [call]}))
    };
    let reply = reply(
        Wire::Chat,
        &[
            piece(0, json!({"id": "a", "function": {"name": "weather", "arguments": ""}})),
            piece(1, json!({"id": "b", "function": {"name": "weather", "arguments": "{\"city\":"}})),
            piece(0, json!({"function": {"arguments": "{\"city\":\"x\"}"}})),
            piece(1, json!({"function": {"arguments": "\"y\"}"}})),
            // A new id at a used index is another call; an object is written out; an id may repeat.
            piece(
                0,
                json!({"id": "b", "function": {"name": "weather", "arguments": {"city": "z"}}, "extra_content": {"google": {"thought_signature": "s"}}}),
            ),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 5}, "completion_tokens_details": {"reasoning_tokens": 2}}}),
        ],
    );

    assert_eq!(
        called(&reply),
        [
            ("a", "weather", r#"{"city":"x"}"#),
            ("b", "weather", r#"{"city":"y"}"#),
            ("b_2", "weather", r#"{"city":"z"}"#)
        ]
    );
    assert_eq!(reply.message.finish, Finish::Calls);
    assert_eq!(reply.message.keep["call_extra"], json!({"b_2": {"google": {"thought_signature": "s"}}}));
    assert_eq!(reply.usage, Usage { input: 9, output: 4, cache_read: 5, cache_write: 0, reasoning: 2 });
    assert_eq!(reply.model, "m1");
}

#[test]
fn reasoning_is_kept_in_all_its_fields() {
    let reply = reply(
        Wire::Chat,
        &[
            delta(&json!({"reasoning_content": "a"})),
            delta(
                &json!({"reasoning": "b", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "b"}]}),
            ),
            delta(
                &json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "c", "signature": "s"}]}),
            ),
            delta(
                &json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "d"}]}, {"type": "text", "text": "Yes"}]}),
            ),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        ],
    );

    assert_eq!(reply.message.reasoning.as_deref(), Some("abcd"));
    assert_eq!(reply.message.text, "Yes");
    assert_eq!(
        reply.message.keep["reasoning_details"],
        json!([{"type": "reasoning.text", "index": 0, "text": "bc", "signature": "s"}])
    );
    assert_eq!(reply.message.keep["from"], "ollama/m");
}

#[test]
fn a_stream_that_breaks_off_says_so() {
    let text_only = reply(Wire::Chat, &[delta(&json!({"content": "Hel"}))]);
    let mid_call = reply(
        Wire::Chat,
        &[delta(
            &json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{\"ci"}}]}),
        )],
    );
    let forgot_why =
        decode(Wire::Chat, &(stream(&[delta(&json!({"content": "Hello"}))]) + "data: [DONE]\n\n")).0.unwrap();
    let empty = decode(Wire::Chat, "").0;

    assert_eq!(text_only.message.finish, Finish::Unknown);
    assert_eq!(
        (mid_call.message.finish, mid_call.message.calls[0].arguments.as_str()),
        (Finish::Length, "{\"ci")
    );
    assert_eq!(forgot_why.message.finish, Finish::Stop);
    assert!(matches!(empty, Err(Fault::Garbled(_))));
}

#[test]
fn a_call_written_as_text_becomes_a_call_and_is_not_shown() {
    let (reply, events) = decode(
        Wire::Chat,
        &stream(&[
            delta(&json!({"content": "Let me see. <tool_"})),
            delta(
                &json!({"content": "call>{\"name\": \"weather\", \"arguments\": {\"city\": \"x\"}}</tool_call>"}),
            ),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        ]),
    );
    let reply = reply.unwrap();

    assert_eq!(called(&reply), [("call_1", "weather", r#"{"city":"x"}"#)]);
    assert_eq!((reply.message.finish, reply.message.text.as_str()), (Finish::Calls, "Let me see. "));
    assert_eq!(
        events,
        [ModelEvent::Text("Let me see. ".into()), ModelEvent::CallBegins { name: "weather".into() }]
    );
}

#[test]
fn errors_inside_a_stream_are_faults() {
    for wire in [Wire::Chat, Wire::Responses, Wire::Messages] {
        let (reply, _) =
            decode(wire, "event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"x\"}}\n\n");
        assert!(matches!(reply, Err(Fault::Said(_))), "{wire:?}");
        assert!(matches!(decode(wire, "data: {oops\n\n").0, Err(Fault::Garbled(_))), "{wire:?}");
    }
}

#[test]
fn messages_thoughts_and_counts_are_kept() {
    let reply = reply(
        Wire::Messages,
        &[
            json!({"type": "message_start", "message": {"model": "c", "usage": {"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "zzz"}}),
            json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "t1", "name": "weather", "input": {}}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"city\":\"x\"}"}}),
            json!({"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "id": "t2", "name": "weather", "input": {}}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 30}}),
            json!({"type": "message_stop"}),
        ],
    );

    assert_eq!(called(&reply), [("t1", "weather", r#"{"city":"x"}"#), ("t2", "weather", "{}")]);
    assert_eq!(
        reply.message.keep["thinking_blocks"],
        json!([{"type": "thinking", "thinking": "hm", "signature": "sig"}, {"type": "redacted_thinking", "data": "zzz"}])
    );
    assert_eq!(reply.usage, Usage { input: 123, output: 30, cache_read: 100, cache_write: 20, reasoning: 0 });
}

#[test]
fn responses_items_and_reasons_are_kept() {
    let reply = reply(
        Wire::Responses,
        &[
            json!({"type": "response.reasoning_summary_text.delta", "delta": "hm"}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}}),
            json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": ""}}),
            json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{\"city\":"}),
            json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "\"x\"}"}),
            json!({"type": "response.output_item.done", "output_index": 1, "item": {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{\"city\":\"x\"}"}}),
            json!({"type": "response.completed", "response": {"status": "completed", "model": "g", "usage": {"input_tokens": 7, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 2}, "output_tokens_details": {"reasoning_tokens": 1}}}}),
        ],
    );

    assert_eq!(called(&reply), [("c1", "weather", r#"{"city":"x"}"#)]);
    assert_eq!(reply.message.reasoning.as_deref(), Some("hm"));
    assert_eq!(
        reply.message.keep["reasoning_items"],
        json!([{"type": "reasoning", "summary": [], "encrypted_content": "sealed"}])
    );
    assert_eq!(reply.usage, Usage { input: 7, output: 3, cache_read: 2, cache_write: 0, reasoning: 1 });
}

proptest! {
    #[test]
    fn arbitrary_events_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        kinds in prop::collection::vec(prop::sample::select(vec![
            "content_block_start", "content_block_delta", "message_delta", "response.output_item.added", "response.output_item.done",
            "response.function_call_arguments.delta", "response.completed", "error", "",
        ]), 0..6),
        index in 0_u64..3,
        text in "\\PC{0,12}",
    ) {
        let events: Vec<Value> = kinds.iter().map(|kind| json!({
            "type": kind, "index": index, "output_index": index, "delta": {"type": "text_delta", "text": text, "tool_calls": [{"index": index}]},
            "item": {"type": "function_call", "arguments": text}, "content_block": {"type": "tool_use", "input": text},
            "choices": [{"delta": {"content": text, "tool_calls": [{"index": index, "id": text}, text]}, "message": 3}], "response": {"status": text},
        })).collect();
        for wire in [Wire::Chat, Wire::Responses, Wire::Messages] {
            let _ = decode(wire, &stream(&events));
            let _ = decode(wire, &format!("data: {}\n\n", String::from_utf8_lossy(&bytes)));
        }
    }
}
