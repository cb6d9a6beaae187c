//! The model over real sockets, against the scripted server: all three wires, and what can go wrong.
#![expect(clippy::disallowed_methods, reason = "the test measures time and listens on loopback")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Mutex;
use std::time::{Duration, Instant};

use hermes_core::model::{
    Finish, Message, Model as _, ModelError, ModelErrorClass as Class, ModelEvent, ModelReply, ModelRequest,
};
use hermes_llm::select::{self, Sources, Wanted};
use hermes_llm::{Endpoint, HttpModel, Secret, Wire, catalog, local, providers};
use hermes_net::{Http, HttpSettings, ProxySettings};
use hermes_testkit::{Answer, ModelServer};
use serde_json::{Value, json};

const KEY: &str = "sk-test-key-0123456789";

fn http() -> Http {
    Http::new(HttpSettings::default())
}

fn endpoint(server: &ModelServer, wire: Wire) -> Endpoint {
    let name = match wire {
        Wire::Chat => "vllm",
        Wire::Responses => "openai",
        Wire::Messages => "anthropic",
    };
    let mut endpoint = Endpoint::of(providers::find(name).unwrap(), "m", Secret::new(KEY)).at(&server.url());
    endpoint.limits.idle = Duration::from_secs(5);
    endpoint
}

fn request() -> ModelRequest {
    let tools = json!([{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}]);
    ModelRequest {
        system: "s".into(),
        messages: vec![Message::user("hi")],
        tools: tools.to_string().into(),
        max_tokens: None,
        effort: None,
        session: None,
    }
}

async fn ask(endpoint: Endpoint) -> (Result<ModelReply, ModelError>, Vec<ModelEvent>) {
    let model = HttpModel::new(endpoint, http());
    let events = Mutex::new(Vec::new());
    let reply = model.ask(&request(), &|event| events.lock().unwrap().push(event)).await;
    (reply, events.into_inner().unwrap())
}

async fn refused(server: &ModelServer) -> ModelError {
    ask(endpoint(server, Wire::Chat)).await.0.unwrap_err()
}

const WIRES: [Wire; 3] = [Wire::Chat, Wire::Responses, Wire::Messages];

#[tokio::test]
async fn every_wire_answers_streaming_and_whole() {
    for wire in WIRES {
        for stream in [true, false] {
            let answer = Answer::text("Hello there, 世界!").thinking("I think so").usage(11, 7);
            let server = ModelServer::saying([answer]);
            let mut endpoint = endpoint(&server, wire);
            endpoint.stream = stream;

            let (reply, events) = ask(endpoint).await;
            let reply = reply.unwrap();

            let streamed: String = events
                .iter()
                .map(|event| if let ModelEvent::Text(text) = event { text.as_str() } else { "" })
                .collect();
            assert_eq!(
                (reply.message.text.as_str(), streamed.as_str()),
                ("Hello there, 世界!", "Hello there, 世界!"),
                "{wire:?}"
            );
            assert_eq!(reply.message.reasoning.as_deref(), Some("I think so"), "{wire:?}");
            assert_eq!(
                (reply.message.finish, reply.usage.input, reply.usage.output),
                (Finish::Stop, 11, 7),
                "{wire:?} {stream}"
            );
        }
    }
}

#[tokio::test]
async fn every_wire_calls_tools_in_parallel() {
    for wire in WIRES {
        for stream in [true, false] {
            let answer = Answer::call("c1", "weather", &json!({"city": "London"})).and_call(
                "c2",
                "weather",
                &json!({}),
            );
            let server = ModelServer::saying([answer]);
            let mut endpoint = endpoint(&server, wire);
            endpoint.stream = stream;

            let reply = ask(endpoint).await.0.unwrap();

            let calls: Vec<_> =
                reply.message.calls.iter().map(|call| (call.id.as_str(), call.arguments.as_str())).collect();
            assert_eq!(calls, [("c1", r#"{"city":"London"}"#), ("c2", "{}")], "{wire:?} {stream}");
            assert_eq!(reply.message.finish, Finish::Calls);
        }
    }
}

#[tokio::test]
async fn what_was_kept_goes_back_with_the_next_request() {
    for (wire, field) in [(Wire::Responses, "sealed"), (Wire::Messages, "signed")] {
        let server = ModelServer::saying([
            Answer::call("c1", "weather", &json!({})).thinking("hm"),
            Answer::text("done"),
        ]);
        let model = HttpModel::new(endpoint(&server, wire), http());
        let mut request = request();
        let first = model.ask(&request, &|_| {}).await.unwrap();
        request.messages.push(Message::Assistant(first.message));
        request.messages.push(Message::Tool {
            call_id: "c1".into(),
            name: "weather".into(),
            content: "{}".into(),
            images: Vec::new(),
        });

        model.ask(&request, &|_| {}).await.unwrap();

        assert!(server.bodies()[1].to_string().contains(field), "{wire:?}");
    }
}

#[tokio::test]
async fn the_key_is_sent_as_each_wire_wants_it_and_connections_are_kept() {
    let server = ModelServer::always(Answer::text("x"));
    let model = HttpModel::new(endpoint(&server, Wire::Chat), http());
    for _ in 0..3 {
        model.ask(&request(), &|_| {}).await.unwrap();
    }
    assert_eq!(server.connections(), 1);
    ask(endpoint(&server, Wire::Messages)).await.0.unwrap();

    let seen = server.requests();
    assert_eq!(seen[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(seen[0].path, "/v1/chat/completions");
    assert_eq!((seen[3].header("x-api-key"), seen[3].header("authorization")), (Some(KEY), None));
    assert_eq!(
        (seen[3].path.as_str(), seen[3].header("anthropic-version")),
        ("/v1/messages", Some("2023-06-01"))
    );
    assert_eq!(seen[0].bytes, seen[1].bytes, "the same request has the same bytes");
}

#[tokio::test]
async fn refusals_have_a_class_and_a_time_to_wait_and_never_the_key() {
    let limited = ModelServer::saying([Answer::error(429, "slow down").header("retry-after", "3")]);
    let denied = ModelServer::saying([Answer::error(401, &format!("bad key {KEY}"))]);
    let page = ModelServer::saying([Answer::raw(200, "text/html", "<html><title>Login</title></html>")]);
    let moved = ModelServer::saying([
        Answer::raw(302, "text/plain", "").header("location", "http://elsewhere.example/")
    ]);

    let error = refused(&limited).await;
    assert_eq!((error.class, error.retry_after), (Class::RateLimit, Some(Duration::from_secs(3))));
    let error = refused(&denied).await;
    assert_eq!(error.class, Class::Auth);
    assert!(!error.to_string().contains(KEY) && error.message.contains("[key]"));
    assert_eq!(refused(&page).await.class, Class::BadAnswer);
    assert!(refused(&moved).await.message.contains("redirects are not followed"));
}

#[tokio::test]
async fn what_an_endpoint_does_not_know_is_left_out_from_then_on() {
    let refusal = || Answer::error(400, "Unknown parameter: 'stream_options'");
    let server = ModelServer::saying([refusal(), Answer::text("a"), Answer::text("b")]);
    let model = HttpModel::new(endpoint(&server, Wire::Chat), http());

    model.ask(&request(), &|_| {}).await.unwrap();
    model.ask(&request(), &|_| {}).await.unwrap();

    let sent: Vec<bool> = server.bodies().iter().map(|body| body.get("stream_options").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
}

#[tokio::test]
async fn a_stall_is_noticed_before_and_within_the_answer() {
    let late = ModelServer::saying([Answer::text("x").after(Duration::from_secs(3))]);
    let stuck = ModelServer::saying([Answer::text("a long text that is never finished").stall_after(2)]);

    for server in [&late, &stuck] {
        let mut endpoint = endpoint(server, Wire::Chat);
        endpoint.limits.idle = Duration::from_millis(150);
        let begun = Instant::now();

        let error = ask(endpoint).await.0.unwrap_err();

        assert_eq!(error.class, Class::Timeout, "{error}");
        assert!(begun.elapsed() < Duration::from_secs(2));
    }
}

#[tokio::test]
async fn a_broken_connection_is_a_network_error_and_a_closed_port_too() {
    let cut = ModelServer::saying([Answer::text("a long text that is never finished").cut_after(3)]);
    let error = refused(&cut).await;
    assert_eq!(error.class, Class::Network, "{error}");

    let mut gone = endpoint(&cut, Wire::Chat);
    gone.base_url = "http://127.0.0.1:1/v1".into();
    let error = ask(gone).await.0.unwrap_err();
    assert_eq!(
        (error.class, error.message.as_str()),
        (Class::Network, "cannot reach 127.0.0.1:1: connection refused")
    );
}

#[tokio::test]
async fn dropping_the_question_closes_the_connection() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = ModelServer::always(Answer::text("unused"));
    let mut endpoint = endpoint(&server, Wire::Chat);
    endpoint.base_url = format!("http://{}", listener.local_addr().unwrap());
    let model = HttpModel::new(endpoint, http());
    let request = request();

    let question = model.ask(&request, &|_| {});
    let accepted = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut first = [0; 16];
        tokio::io::AsyncReadExt::read_exact(&mut stream, &mut first).await.unwrap();
        stream
    };
    let mut stream = match futures::future::select(question, Box::pin(accepted)).await {
        futures::future::Either::Right((stream, question)) => {
            drop(question);
            stream
        }
        futures::future::Either::Left(_) => panic!("nobody answered"),
    };

    let mut rest = Vec::new();
    tokio::time::timeout(
        Duration::from_secs(5),
        tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut rest),
    )
    .await
    .unwrap()
    .ok();
}

#[tokio::test]
async fn models_and_their_size_are_asked_of_the_server() {
    let list = json!({"object": "list", "data": [{"id": "m"}, {"id": "n", "max_model_len": 4096}]});
    let shown = json!({"model_info": {"llama.context_length": 8192}});
    let server = ModelServer::with_pages([("/v1/models", list), ("/api/show", shown)], Vec::new());
    let http = http();
    let ollama = Endpoint::of(providers::find("ollama").unwrap(), "m", None).at(&server.url());
    let vllm = Endpoint::of(providers::find("vllm").unwrap(), "n", None).at(&server.url());

    let names: Vec<String> =
        catalog::models(&http, &vllm).await.unwrap().into_iter().map(|model| model.name).collect();

    assert_eq!(names, ["m", "n"]);
    assert_eq!(catalog::context(&http, &ollama).await, Some(8192));
    assert_eq!(catalog::context(&http, &vllm).await, Some(4096));
}

#[tokio::test]
async fn servers_on_this_machine_are_found_quickly() {
    let list: Value = json!({"data": [{"id": "qwen3"}]});
    let server = ModelServer::with_pages([("/v1/models", list)], Vec::new());
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (ollama, vllm) = (providers::find("ollama").unwrap(), providers::find("vllm").unwrap());
    let places = [(ollama, server.port()), (vllm, silent.local_addr().unwrap().port()), (vllm, 1)];
    let begun = Instant::now();

    let found = local::find(&http(), &places).await;

    assert!(begun.elapsed() < Duration::from_millis(600), "{:?}", begun.elapsed());
    assert_eq!((found.len(), found[0].provider, found[0].first_model()), (1, "ollama", Some("qwen3")));
}

#[tokio::test]
async fn a_kept_connection_that_was_closed_meanwhile_is_replaced() {
    let server = ModelServer::always(Answer::text("x").then_close());
    let model = HttpModel::new(endpoint(&server, Wire::Chat), http());

    for _ in 0..3 {
        model.ask(&request(), &|_| {}).await.unwrap();
    }

    assert_eq!((server.requests().len(), server.connections()), (3, 3));
}

#[tokio::test]
async fn encrypted_connections_go_through_the_proxy_that_was_named() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://user:pass@{}", listener.local_addr().unwrap());
    let settings = HttpSettings {
        proxy: ProxySettings { https: Some(proxy), ..ProxySettings::default() },
        ..HttpSettings::default()
    };
    let endpoint = Endpoint::of(providers::find("groq").unwrap(), "m", Secret::new(KEY))
        .at("https://api.example.invalid/v1");
    let model = HttpModel::new(endpoint, Http::new(settings));
    let request = request();
    let refusing = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(tokio::io::AsyncReadExt::read_u8(&mut stream).await.unwrap());
        }
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 407 No\r\n\r\n").await.unwrap();
        String::from_utf8(head).unwrap()
    };

    let (reply, head) = futures::future::join(model.ask(&request, &|_| {}), refusing).await;

    let error = reply.unwrap_err();
    assert!(head.starts_with("CONNECT api.example.invalid:443 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("Proxy-Authorization: Basic dXNlcjpwYXNz\r\n") && !head.contains(KEY));
    assert_eq!(error.class, Class::Network);
    assert!(error.message.contains("407") && !error.message.contains("pass"), "{error}");
}

#[tokio::test]
async fn a_call_that_is_cut_off_is_never_completed() {
    let answer = Answer::text("").and_raw_call("c1", "weather", "{\"city\": \"Lon").finish("tool_calls");
    let server = ModelServer::saying([answer]);

    let reply = ask(endpoint(&server, Wire::Chat)).await.0.unwrap();

    assert_eq!(
        (reply.message.finish, reply.message.calls[0].arguments.as_str()),
        (Finish::Length, "{\"city\": \"Lon")
    );
}

#[tokio::test]
async fn a_model_is_asked_of_the_server_when_none_is_named() {
    let list = json!({"data": [{"id": "text-embed-1"}, {"id": "qwen3", "max_model_len": 16_384}]});
    let server = ModelServer::with_pages([("/v1/models", list)], Vec::new());
    let flags = Wanted { base_url: Some(server.url()), ..Wanted::default() };
    let config = Wanted::default();
    let sources = Sources { flags: &flags, config: &config, named: &[], env: &|_| None };

    let chosen = select::choose(&sources, &http()).await.unwrap().endpoint.unwrap();

    assert_eq!((chosen.model.as_str(), chosen.context), ("qwen3", Some(16_384)));
}
