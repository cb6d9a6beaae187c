//! How long it takes to write a request and to read a stream.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hermes_core::model::{AssistantMessage, Message, ModelCall, ModelRequest};
use hermes_llm::{Endpoint, Offline, ProviderDef, providers, request_body};
use hermes_net::SseDecoder;
use serde_json::json;

/// Fifty messages: questions, calls, results of two kilobytes; twenty tools.
fn conversation() -> ModelRequest {
    let mut messages = Vec::new();
    for turn in 0..17 {
        let id = format!("call_{turn}");
        messages.push(Message::user("Please look at the next file and tell me what it does."));
        let call = ModelCall {
            id: id.clone(),
            name: "read_file".into(),
            arguments: json!({"path": "a.rs"}).to_string(),
        };
        messages.push(Message::Assistant(AssistantMessage {
            text: "I look.".into(),
            calls: vec![call],
            ..AssistantMessage::default()
        }));
        messages.push(Message::Tool {
            call_id: id,
            name: "read_file".into(),
            content: "x\"y\n".repeat(500),
            images: Vec::new(),
        });
    }
    messages.truncate(50);
    let tool = |n: u32| json!({"type": "function", "function": {"name": format!("tool_{n}"), "description": "words ".repeat(200), "parameters": {"type": "object", "properties": {"path": {"type": "string", "description": "words ".repeat(60)}}}}});
    let tools: Vec<_> = (0..20).map(tool).collect();
    ModelRequest {
        system: "You are a helpful agent. ".repeat(300).into(),
        messages,
        tools: json!(tools).to_string().into(),
        max_tokens: Some(4096),
        effort: None,
        session: None,
    }
}

fn requests(c: &mut Criterion) {
    let request = conversation();
    for name in ["openrouter", "openai-api", "anthropic"] {
        let Some(provider): Option<&ProviderDef> = providers::find(name) else { continue };
        let endpoint = Endpoint::of(provider, provider.default_model, None);
        c.bench_function(&format!("request of 50 messages, {name}"), |b| {
            b.iter(|| request_body(&endpoint, &request));
        });
    }
    c.bench_function("offline answer", |b| b.iter(|| Offline::answer(&request)));
}

fn streams(c: &mut Criterion) {
    let event = json!({"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [{"index": 0, "delta": {"content": " word"}}]});
    let stream = format!("data: {event}\n\n").repeat(10_000);
    let mut group = c.benchmark_group("stream");
    group.throughput(Throughput::Bytes(stream.len() as u64));
    group.bench_function("events, 1400 bytes at a time", |b| {
        b.iter(|| {
            let mut decoder = SseDecoder::default();
            let mut count = 0;
            for piece in stream.as_bytes().chunks(1400) {
                let _ = decoder.push(piece, |_| count += 1);
            }
            count
        });
    });
    group.finish();
}

criterion_group!(benches, requests, streams);
criterion_main!(benches);
