//! `vision_analyze`, `video_analyze` and `mixture_of_agents`: who is asked, and with what.

use std::sync::Arc;

use hermes::core::side::Answering;
use hermes::guard::Mode;
use hermes_testkit::{Answer, ModelServer, ScriptedModel};
use serde_json::{Value, json};

use crate::server::{Asked, Server};
use crate::{call, runtime};

const PNG: &[u8] = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0rest";

fn vision(server: &ModelServer) -> String {
    format!(
        "security:\n  allow_private_urls: true\nauxiliary:\n  vision:\n    provider: custom\n    model: eyes\n    \
         base_url: {}\n    api_key: sk-test\n",
        server.url()
    )
}

#[test]
fn the_model_that_is_named_for_it_looks_at_the_picture() {
    let server = ModelServer::saying([Answer::text("A red lamp."), Answer::text("Still a lamp.")]);
    let pictures = Server::start(|_: &Asked| (200, "text/html".to_owned(), PNG.to_vec()));
    let (folder, runtime) = runtime(&vision(&server), Mode::Manual, &[]);
    std::fs::write(folder.path().join("lamp.bin"), PNG).unwrap();

    let by_path =
        call(&runtime, "vision_analyze", &json!({ "image_url": "lamp.bin", "question": "What is it?" }));
    let by_url =
        call(&runtime, "vision_analyze", &json!({ "image_url": pictures.address(), "question": "And now?" }));

    assert!(by_path.to_string().contains("A red lamp."), "{by_path}");
    assert!(by_url.to_string().contains("Still a lamp."), "{by_url}");
    let body = server.bodies()[0].clone();
    assert_eq!(body["model"], "eyes");
    let parts = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(parts[0], json!({ "type": "text", "text": "What is it?" }));
    assert!(
        parts[1]["image_url"]["url"].as_str().unwrap().starts_with("data:image/png;base64,iVBORw0KGgo"),
        "{parts}"
    );
}

#[test]
fn what_cannot_be_looked_at_is_explained() {
    let server = ModelServer::saying([]);
    let (folder, runtime) = runtime(
        &vision(&server).replace("allow_private_urls: true", "allow_private_urls: false"),
        Mode::Manual,
        &[],
    );
    std::fs::write(folder.path().join("page.png"), "<html>").unwrap();
    let inside = Server::start(|_: &Asked| (200, "image/png".to_owned(), PNG.to_vec()));
    let look = |image: &str| {
        call(&runtime, "vision_analyze", &json!({ "image_url": image, "question": "?" })).to_string()
    };

    assert!(look("page.png").contains("no picture"));
    assert!(look("missing.png").contains("no such file"));
    let private = look(inside.address());
    assert!(private.contains("\\\"success\\\":false") || private.contains("\"success\":false"), "{private}");
    assert!(inside.asked().is_empty() && server.bodies().is_empty());
}

#[test]
fn without_a_model_that_sees_the_answer_says_what_to_set() {
    let config =
        "model:\n  provider: custom\n  default: blind\n  base_url: http://127.0.0.1:9/v1\n  api_key: k\n";
    let (folder, runtime) = runtime(config, Mode::Manual, &[]);
    std::fs::write(folder.path().join("lamp.png"), PNG).unwrap();

    let answer =
        call(&runtime, "vision_analyze", &json!({ "image_url": "lamp.png", "question": "?" })).to_string();

    assert!(answer.contains("auxiliary.vision.model"), "{answer}");
}

#[test]
fn a_model_that_sees_gets_the_picture_itself() {
    let (folder, runtime) = runtime("", Mode::Manual, &[]);
    std::fs::write(folder.path().join("lamp.png"), PNG).unwrap();
    // It sees, and is not asked by the tool: what it gets is the picture.
    let eyes = Arc::new(ScriptedModel::new("test/eyes", []).seeing());
    let session = runtime.session().extension(Answering(eyes.clone())).open().unwrap();

    let arguments = json!({ "image_url": "lamp.png", "question": "What is it?" }).to_string();
    let outcome = session.call_blocking(hermes::ToolCall::new("vision_analyze", arguments));

    assert_eq!(outcome.attachments.len(), 1, "{}", outcome.body);
    assert_eq!(
        (outcome.attachments[0].media_type.as_str(), &*outcome.attachments[0].bytes),
        ("image/png", PNG)
    );
    assert_eq!(eyes.times_asked(), 0);
}

#[test]
fn a_film_is_shown_as_a_film() {
    let server = ModelServer::saying([Answer::text("Waves.")]);
    let (folder, runtime) = runtime(&vision(&server), Mode::Manual, &[]);
    std::fs::write(folder.path().join("waves.mp4"), b"\0\0\0\x20ftypisom....").unwrap();

    let answer =
        call(&runtime, "video_analyze", &json!({ "video_url": "waves.mp4", "question": "What happens?" }));

    assert!(answer.to_string().contains("Waves."), "{answer}");
    let parts = server.bodies()[0]["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(parts[1]["type"], "video_url");
    assert!(parts[1]["video_url"]["url"].as_str().unwrap().starts_with("data:video/mp4;base64,"), "{parts}");
}

fn mixture(server: &ModelServer) -> String {
    format!(
        "providers:\n  here:\n    base_url: {}\n    api_key: sk-test\nmoa:\n  presets:\n    quick:\n      \
         reference_models:\n      - {{provider: here, model: one}}\n      - {{provider: here, model: two}}\n      \
         - {{provider: here, model: three}}\n      aggregator: {{provider: here, model: judge}}\n",
        server.url()
    )
}

#[test]
fn several_models_propose_and_one_makes_the_answer() {
    let server = ModelServer::deciding(|body: &Value| match body["model"].as_str() {
        Some("two") => Answer::error(400, "two is ill"),
        Some("judge") => Answer::text("The answer is 42."),
        Some(name) => Answer::text(format!("{name} says 42")),
        None => Answer::error(400, "who?"),
    });
    let (_folder, runtime) = runtime(&mixture(&server), Mode::Off, &[]);

    let answer = call(&runtime, "mixture_of_agents", &json!({ "user_prompt": "What is it?" }));

    assert_eq!(answer["success"], true, "{answer}");
    assert_eq!(answer["response"], "The answer is 42.");
    assert_eq!(
        answer["models_used"],
        json!({ "reference_models": ["here:one", "here:three"], "aggregator_model": "here:judge" })
    );
    assert!(answer["not_heard"][0].as_str().unwrap().contains("two is ill"), "{answer}");
    let judged = server.bodies().into_iter().find(|body| body["model"] == "judge").unwrap();
    let system = judged["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(
        system.contains("[answer 1]\none says 42") && system.contains("[answer 2]\nthree says 42"),
        "{system}"
    );
}

#[test]
fn a_person_is_asked_before_several_models_are_paid() {
    let server = ModelServer::saying([]);
    let (_folder, runtime) = runtime(&mixture(&server), Mode::Manual, &[]);

    let answer = call(&runtime, "mixture_of_agents", &json!({ "user_prompt": "?" })).to_string();

    assert!(answer.contains("one question to 3 models") && server.bodies().is_empty(), "{answer}");
}
