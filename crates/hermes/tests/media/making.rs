//! `image_generate`, `video_generate` and what xAI does with films: doubles that answer as the vendors'
//! documentation shows.

use std::sync::atomic::{AtomicUsize, Ordering};

use hermes::guard::Mode;
use hermes::{Runtime, ToolCall};
use serde_json::{Value, json};

use crate::server::{Answer, Asked, Server, json_answer};
use crate::{call, runtime};

const PNG: &[u8] = b"\x89PNG\r\n\x1A\nmade";
const PNG_TEXT: &str = "iVBORw0KGgptYWRl";

/// The queue of fal: the first looks say that others are ahead, then that it works, then it is done.
fn fal(result: Value) -> Server {
    let looks = AtomicUsize::new(0);
    Server::start(move |asked: &Asked| fal_answer(asked, &looks, &result))
}

fn fal_answer(asked: &Asked, looks: &AtomicUsize, result: &Value) -> Answer {
    let id = "80e732af-660e-45cd-bd63-580e4f2a94cc";
    if asked.method() == "POST" {
        let url = "https://elsewhere.example/never-asked";
        return json_answer(200, &json!({ "request_id": id, "status_url": url, "response_url": url }));
    }
    if asked.path().ends_with("/status") {
        return json_answer(
            200,
            &match looks.fetch_add(1, Ordering::SeqCst) {
                0 => json!({ "status": "IN_QUEUE", "queue_position": 2 }),
                1 => json!({ "status": "IN_PROGRESS", "logs": null }),
                _ => json!({ "status": "COMPLETED" }),
            },
        );
    }
    json_answer(200, result)
}

fn with_fal(server: &Server, mode: Mode) -> (tempfile::TempDir, Runtime) {
    runtime("", mode, &[("FAL_KEY", "id:secret"), ("FAL_BASE_URL", server.address())])
}

#[test]
fn a_picture_is_made_by_the_queue_of_fal() {
    let server =
        fal(json!({ "images": [{ "url": "https://v3.fal.media/a.png", "width": 1024, "height": 576 }] }));
    let (_folder, runtime) = with_fal(&server, Mode::Off);

    let answer = call(&runtime, "image_generate", &json!({ "prompt": "a lamp", "aspect_ratio": "portrait" }));

    assert_eq!(
        answer,
        json!({
            "success": true, "image": "https://v3.fal.media/a.png", "modality": "text",
            "model": "fal-ai/flux-2/klein/9b", "prompt": "a lamp", "aspect_ratio": "portrait", "provider": "fal",
        })
    );
    let asked = server.asked();
    assert_eq!(asked[0].path(), "/fal-ai/flux-2/klein/9b");
    assert_eq!(asked[0].header("authorization"), "Key id:secret");
    assert_eq!(
        asked[0].json(),
        json!({ "prompt": "a lamp", "num_images": 1, "image_size": "portrait_16_9" })
    );
    // The key goes to the queue and nowhere else, whatever addresses an answer names.
    assert_eq!(asked[1].path(), "/fal-ai/flux-2/requests/80e732af-660e-45cd-bd63-580e4f2a94cc/status");
    assert_eq!(asked.last().unwrap().path(), "/fal-ai/flux-2/requests/80e732af-660e-45cd-bd63-580e4f2a94cc");
}

#[test]
fn nothing_is_paid_before_somebody_agrees() {
    let server = fal(json!({}));
    let (_folder, runtime) = with_fal(&server, Mode::Manual);

    let picture = call(&runtime, "image_generate", &json!({ "prompt": "a lamp" })).to_string();
    let film = call(&runtime, "video_generate", &json!({ "prompt": "waves", "duration": 8 })).to_string();

    assert!(picture.contains("a picture by fal-ai/flux-2/klein/9b of fal"), "{picture}");
    assert!(film.contains("a film of 8 s in 720p by fal-ai/veo3.1/fast of fal"), "{film}");
    assert!(server.asked().is_empty());
}

#[test]
fn pictures_that_come_as_text_are_kept_and_others_can_be_begun_with() {
    let server = Server::start(|asked: &Asked| match asked.path() {
        "/openai/images/generations" | "/openai/images/edits" | "/xai/images/edits" => {
            json_answer(200, &json!({ "created": 1, "data": [{ "b64_json": PNG_TEXT }] }))
        }
        _ => json_answer(404, &json!({ "error": "not here" })),
    });
    let openai =
        format!("image_gen:\n  provider: openai\n  openai:\n    base_url: {}/openai\n", server.address());
    let xai = format!("image_gen:\n  provider: xai\n  xai:\n    base_url: {}/xai\n", server.address());
    let (folder, by_openai) = runtime(&openai, Mode::Off, &[("OPENAI_API_KEY", "k")]);
    std::fs::write(folder.path().join("old.png"), PNG).unwrap();
    let (other, by_xai) = runtime(&xai, Mode::Off, &[("XAI_API_KEY", "k")]);
    std::fs::write(other.path().join("old.png"), PNG).unwrap();

    let made = call(&by_openai, "image_generate", &json!({ "prompt": "a lamp", "aspect_ratio": "square" }));
    let changed = call(&by_openai, "image_generate", &json!({ "prompt": "in blue", "image_url": "old.png" }));
    let by_json = call(&by_xai, "image_generate", &json!({ "prompt": "in blue", "image_url": "old.png" }));

    let path = made["image"].as_str().unwrap_or_default().to_owned();
    assert!(path.contains("/cache/images/image_"), "{made}");
    assert_eq!(std::fs::read(path).unwrap(), PNG);
    assert_eq!(
        (changed["modality"].clone(), by_json["modality"].clone()),
        (json!("image"), json!("image")),
        "{by_json}"
    );
    let asked = server.asked();
    assert_eq!(
        asked[0].json(),
        json!({ "model": "gpt-image-1", "prompt": "a lamp", "size": "1024x1024", "n": 1 })
    );
    let form = asked[1].text();
    assert!(
        form.contains("name=\"image[]\"; filename=\"picture0.png\"\r\nContent-Type: image/png"),
        "{form}"
    );
    assert!(asked[2].json()["image"]["url"].as_str().unwrap().starts_with("data:image/png;base64,"));
}

#[test]
fn what_goes_wrong_has_a_shape_and_a_reason() {
    let server = Server::start(|_: &Asked| json_answer(402, &json!({ "detail": "Exhausted balance" })));
    let (_folder, runtime_a) = with_fal(&server, Mode::Off);
    let (_other, without) = runtime("", Mode::Off, &[]);

    let answer = call(&runtime_a, "image_generate", &json!({ "prompt": "a lamp" }));
    let unset = without.call_blocking(ToolCall::new("image_generate", r#"{"prompt":"x"}"#));

    assert_eq!((answer["success"].clone(), answer["image"].clone()), (json!(false), Value::Null));
    assert_eq!(answer["error_type"], "provider");
    assert!(answer["error"].as_str().unwrap().contains("no credit left): Exhausted balance"), "{answer}");
    assert!(unset.body.contains("FAL_KEY"), "{}", unset.body);
}

/// The video API of xAI.
fn xai() -> Server {
    let looks = AtomicUsize::new(0);
    Server::start(move |asked: &Asked| match (asked.method(), asked.path()) {
        ("POST", _) => json_answer(200, &json!({ "request_id": "d97415a1-5796-b7ec-379f-4e6819e08fdf" })),
        _ if looks.fetch_add(1, Ordering::SeqCst) == 0 => json_answer(200, &json!({ "status": "pending" })),
        _ => json_answer(
            200,
            &json!({
                "status": "done", "model": "grok-imagine-video",
                "video": { "url": "https://vidgen.x.ai/a.mp4", "duration": 6, "respect_moderation": true },
            }),
        ),
    })
}

#[test]
fn films_are_made_changed_and_go_on() {
    let (video, ratio) = ("https://a.example/in.mp4", "9:16");
    let cases = [
        (
            "video_generate",
            json!({ "prompt": "waves", "duration": 6, "aspect_ratio": ratio }),
            "/v1/videos/generations",
            json!({ "model": "grok-imagine-video", "prompt": "waves", "aspect_ratio": ratio, "resolution": "720p", "duration": 6 }),
        ),
        (
            "xai_video_edit",
            json!({ "prompt": "at night", "video_url": video }),
            "/v1/videos/edits",
            json!({ "model": "grok-imagine-video", "prompt": "at night", "video": { "url": video } }),
        ),
        (
            "xai_video_extend",
            json!({ "prompt": "it ends", "video_url": video, "duration": 99 }),
            "/v1/videos/extensions",
            json!({ "model": "grok-imagine-video", "prompt": "it ends", "video": { "url": video }, "duration": 10 }),
        ),
    ];
    for (tool, arguments, path, body) in cases {
        let server = xai();
        let base = format!("{}/v1", server.address());
        let (_folder, runtime) = runtime("", Mode::Off, &[("XAI_API_KEY", "k"), ("XAI_BASE_URL", &base)]);

        let answer = call(&runtime, tool, &arguments);

        assert_eq!(
            (answer["success"].clone(), answer["video"].clone()),
            (json!(true), json!("https://vidgen.x.ai/a.mp4")),
            "{tool}: {answer}"
        );
        assert_eq!(answer["duration"], 6.0, "{tool}");
        let asked = server.asked();
        assert_eq!((asked[0].path(), asked[0].json()), (path, body), "{tool}");
        assert_eq!(asked[1].path(), "/v1/videos/d97415a1-5796-b7ec-379f-4e6819e08fdf");
    }
}

#[test]
fn a_call_that_is_taken_back_waits_no_longer() {
    let server = Server::start(|asked: &Asked| match asked.method() {
        "POST" => json_answer(200, &json!({ "request_id": "r1" })),
        _ => json_answer(200, &json!({ "status": "IN_QUEUE", "queue_position": 9 })),
    });
    let (_folder, runtime) = with_fal(&server, Mode::Off);
    let session = std::sync::Arc::new(runtime.session().open().unwrap());
    let other = std::sync::Arc::clone(&session);

    let running = std::thread::spawn(move || {
        other.call_blocking(ToolCall::new("image_generate", r#"{"prompt":"a lamp"}"#))
    });
    while server.asked().len() < 2 {
        std::thread::yield_now();
    }
    session.cancel();

    assert_eq!(running.join().unwrap().status, hermes::Status::Cancelled);
}

#[test]
fn a_model_of_deepinfra_films_and_its_film_has_a_whole_address() {
    let server = Server::start(|asked: &Asked| match asked.path() {
        "/v1/inference/FastVideo/FastWan-QAD-FP8-1.3B" => json_answer(
            200,
            &json!({ "video_url": "/model/x.mp4", "inference_status": { "status": "done" } }),
        ),
        _ => json_answer(404, &json!({ "detail": "not here" })),
    });
    let base = server.address();
    let config = format!("video_gen:\n  deepinfra:\n    base_url: {base}/v1/inference\n");
    let (_folder, runtime) = runtime(&config, Mode::Off, &[("DEEPINFRA_API_KEY", "k")]);

    let made = call(&runtime, "video_generate", &json!({ "prompt": "waves" })).to_string();

    assert!(made.contains(&format!("{base}/model/x.mp4")), "{made}");
    let asked = &server.asked()[0];
    assert_eq!(asked.header("authorization"), "Bearer k");
    assert!(asked.text().contains("\"prompt\":\"waves\""), "{}", asked.text());
}

/// Codex: it takes one token, and a new one is had for the token to renew with.
fn codex() -> Server {
    Server::start(|asked: &Asked| match asked.path() {
        "/login/oauth/token" if asked.json()["refresh_token"] == "renew" => {
            json_answer(200, &json!({ "access_token": "fresh", "refresh_token": "renew again" }))
        }
        "/codex/responses" if asked.header("authorization") == "Bearer fresh" => {
            let item = json!({ "type": "image_generation_call", "status": "completed", "result": PNG_TEXT });
            let event = json!({ "type": "response.output_item.done", "item": item });
            (200, "text/event-stream".to_owned(), format!("event: x\ndata: {event}\n\n").into_bytes())
        }
        "/codex/responses" => json_answer(401, &json!({ "detail": "token expired" })),
        _ => json_answer(404, &json!({})),
    })
}

#[test]
fn codex_draws_for_whoever_is_logged_in_and_the_login_is_renewed() {
    let server = codex();
    let config = format!(
        "image_gen:\n  provider: openai-codex\n  openai-codex:\n    base_url: {0}/codex\n    login_url: {0}/login\n",
        server.address()
    );
    let (_other, without) = runtime(&config, Mode::Off, &[]);
    let (folder, runtime) = runtime(&config, Mode::Off, &[]);
    let logins = folder.path().join("home/auth.json");
    let tokens = json!({ "access_token": "old", "refresh_token": "renew", "account_id": "acc" });
    let login = json!({ "version": 1, "providers": { "openai-codex": { "tokens": tokens } } });
    std::fs::write(&logins, login.to_string()).unwrap();

    let nobody = call(&without, "image_generate", &json!({ "prompt": "a lamp" })).to_string();
    let made = call(&runtime, "image_generate", &json!({ "prompt": "a lamp" }));

    assert!(nobody.contains("openai-codex"), "{nobody}");
    let file = made["image"].as_str().unwrap_or_default();
    assert_eq!(std::fs::read(file).unwrap_or_default(), PNG, "{made}");
    assert_eq!((&made["provider"], &made["model"]), (&json!("openai-codex"), &json!("gpt-image-2")));
    let asked = server.asked();
    let paths: Vec<&str> = asked.iter().map(Asked::path).collect();
    assert_eq!(paths, ["/codex/responses", "/login/oauth/token", "/codex/responses"]);
    assert_eq!(asked[0].header("chatgpt-account-id"), "acc");
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(logins).unwrap()).unwrap();
    let tokens = &kept["providers"]["openai-codex"]["tokens"];
    assert_eq!(tokens, &json!({ "access_token": "fresh", "refresh_token": "renew again" }));
}
