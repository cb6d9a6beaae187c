//! `text_to_speech`: with espeak-ng, which needs no key, and with services that do.

use hermes::guard::Mode;
use serde_json::{Value, json};

use crate::server::{Asked, Server, json_answer};
use crate::{call, runtime};

const MP3: &[u8] = b"ID3\x04mp3";

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !found {
        assert!(std::env::var_os("CI").is_none(), "{program} is missing (scripts/testbeds/espeak)");
        eprintln!("SKIPPED: {program} is missing (scripts/testbeds/espeak)");
    }
    found
}

#[test]
fn a_fresh_machine_speaks_without_any_key() {
    if !has("espeak-ng") {
        return;
    }
    let (folder, runtime) = runtime("", Mode::Manual, &[]);

    let answer =
        call(&runtime, "text_to_speech", &json!({ "text": "Good evening.", "output_path": "a.wav" }));

    let file = folder.path().join("a.wav");
    assert_eq!(answer["success"], true, "{answer}");
    assert_eq!(answer["provider"], "espeak");
    assert_eq!(answer["media_tag"], format!("MEDIA:{}", file.canonicalize().unwrap().display()));
    let sound = std::fs::read(file).unwrap();
    // About a second of sound, with a header that says how long it is.
    assert!(sound.len() > 20_000 && sound.starts_with(b"RIFF"), "{}", sound.len());
    let told = u32::from_le_bytes(sound[4..8].try_into().unwrap());
    assert_eq!(usize::try_from(told).unwrap(), sound.len() - 8);
}

#[test]
fn a_voice_message_is_kept_in_the_cache_and_long_texts_are_cut() {
    if !has("espeak-ng") || !has("ffmpeg") {
        return;
    }
    let config = "tts:\n  format: ogg\n  espeak:\n    max_text_length: 20\n";
    let (folder, runtime) = runtime(config, Mode::Manual, &[]);

    let answer = call(&runtime, "text_to_speech", &json!({ "text": "One, two, three, four, five, six." }));

    let path = answer["file_path"].as_str().unwrap_or_default().to_owned();
    assert_eq!(
        (answer["success"].clone(), answer["voice_compatible"].clone()),
        (json!(true), json!(true)),
        "{answer}"
    );
    assert!(path.contains("/cache/audio/tts_"), "{path}");
    assert!(answer["note"].as_str().unwrap().contains("13 characters were left out"), "{answer}");
    assert!(std::fs::read(path).unwrap().starts_with(b"OggS"));
    assert!(folder.path().join("home/cache/audio").is_dir());
}

#[test]
fn a_command_of_ones_own_speaks() {
    let config = "tts:\n  provider: mine\n  providers:\n    mine:\n      type: command\n      output_format: wav\n      \
                  command: \"(printf 'RIFF....WAVE'; cat {input_path}) > {output_path}\"\n";
    let (folder, runtime) = runtime(config, Mode::Manual, &[]);

    let answer = call(&runtime, "text_to_speech", &json!({ "text": "words", "output_path": "b.wav" }));

    assert_eq!(
        (answer["success"].clone(), answer["provider"].clone()),
        (json!(true), json!("mine")),
        "{answer}"
    );
    assert_eq!(std::fs::read_to_string(folder.path().join("b.wav")).unwrap(), "RIFF....WAVEwords");
}

/// Every service, as its documentation shows the answer.
fn services() -> Server {
    Server::start(|asked: &Asked| match asked.path().split('?').next().unwrap() {
        "/v1/t2a_v2" => json_answer(
            200,
            &json!({ "data": { "audio": "494433046d7033", "status": 2 }, "base_resp": { "status_code": 0 } }),
        ),
        "/mistral/audio/speech" => json_answer(200, &json!({ "audio_data": "SUQzBG1wMw==" })),
        "/gemini/models/gemini-2.5-flash-preview-tts:generateContent" => json_answer(
            200,
            &json!({ "candidates": [{ "content": { "parts": [
                { "inlineData": { "mimeType": "audio/L16;codec=pcm;rate=24000", "data": "AAECAw==" } },
            ] } }] }),
        ),
        "/refuses/audio/speech" => {
            json_answer(401, &json!({ "error": { "message": "Incorrect API key provided" } }))
        }
        _ => (200, "audio/mpeg".to_owned(), MP3.to_vec()),
    })
}

#[test]
fn every_service_is_asked_in_its_own_words() {
    let server = services();
    let at = |path: &str| format!("{}{path}", server.address());
    let cases = [
        (
            "openai",
            "OPENAI_API_KEY",
            at("/openai"),
            "/openai/audio/speech",
            json!({
                "model": "gpt-4o-mini-tts", "voice": "alloy", "input": "Hi", "response_format": "mp3",
            }),
        ),
        (
            "deepinfra",
            "DEEPINFRA_API_KEY",
            at("/di"),
            "/di/audio/speech",
            json!({
                "model": "hexgrad/Kokoro-82M", "voice": "af_bella", "input": "Hi", "response_format": "mp3",
            }),
        ),
        (
            "elevenlabs",
            "ELEVENLABS_API_KEY",
            at(""),
            "/v1/text-to-speech/pNInz6obpgDQGcFmaJgB?output_format=mp3_44100_128",
            json!({ "text": "Hi", "model_id": "eleven_multilingual_v2" }),
        ),
        (
            "minimax",
            "MINIMAX_API_KEY",
            at(""),
            "/v1/t2a_v2",
            json!({
                "model": "speech-2.6-hd", "text": "Hi", "stream": false,
                "voice_setting": { "voice_id": "English_Graceful_Lady", "speed": 1.0, "vol": 1.0, "pitch": 0 },
                "audio_setting": { "sample_rate": 32000, "bitrate": 128_000, "format": "mp3", "channel": 1 },
            }),
        ),
        (
            "mistral",
            "MISTRAL_API_KEY",
            at("/mistral"),
            "/mistral/audio/speech",
            json!({
                "model": "voxtral-mini-tts-2603", "input": "Hi", "voice_id": "en_paul_neutral", "response_format": "mp3",
            }),
        ),
        (
            "xai",
            "XAI_API_KEY",
            at("/xai"),
            "/xai/tts",
            json!({
                "text": "Hi", "voice_id": "eve", "language": "auto",
                "output_format": { "codec": "mp3", "sample_rate": 24000, "bit_rate": 128_000 },
            }),
        ),
    ];

    for (name, key, base, path, body) in cases {
        let config = format!("tts:\n  provider: {name}\n  {name}:\n    base_url: {base}\n");
        let (_folder, runtime) = runtime(&config, Mode::Off, &[(key, "k-123")]);
        let answer = call(&runtime, "text_to_speech", &json!({ "text": "Hi" }));
        let asked = server.asked().last().unwrap().clone();

        assert_eq!((asked.path(), asked.json()), (path, body), "{name}");
        assert!(
            [asked.header("authorization"), asked.header("xi-api-key")].concat().ends_with("k-123"),
            "{name}"
        );
        let file = answer["file_path"].as_str().unwrap_or_default();
        assert_eq!(std::fs::read(file).unwrap_or_default(), MP3, "{name}: {answer}");
    }
}

#[test]
fn samples_become_a_file_and_a_refusal_is_told_without_the_key() {
    let server = services();
    let gemini = format!(
        "tts:\n  provider: gemini\n  format: wav\n  gemini:\n    base_url: {}/gemini\n",
        server.address()
    );
    let refusing =
        format!("tts:\n  provider: openai\n  openai:\n    base_url: {}/refuses\n", server.address());

    let (_folder, runtime_a) = runtime(&gemini, Mode::Off, &[("GEMINI_API_KEY", "k")]);
    let spoken = call(&runtime_a, "text_to_speech", &json!({ "text": "Hi" }));
    let (_folder, runtime_b) = runtime(&refusing, Mode::Off, &[("OPENAI_API_KEY", "sk-secret-value")]);
    let refused = call(&runtime_b, "text_to_speech", &json!({ "text": "Hi" }));

    assert_eq!(std::fs::read(spoken["file_path"].as_str().unwrap()).unwrap().len(), 48);
    assert_eq!(refused["success"], false);
    let text = refused.to_string();
    assert!(
        text.contains("401 (is the key right?): Incorrect API key provided") && !text.contains("sk-secret"),
        "{text}"
    );
}

#[test]
fn a_service_that_costs_is_asked_about_and_a_program_is_not() {
    let server = services();
    let config = format!("tts:\n  provider: openai\n  openai:\n    base_url: {}/openai\n", server.address());
    let (_folder, runtime) = runtime(&config, Mode::Manual, &[("OPENAI_API_KEY", "k")]);

    let answer: Value = call(&runtime, "text_to_speech", &json!({ "text": "Hi" }));

    assert!(answer.to_string().contains("2 characters spoken by openai"), "{answer}");
    assert!(server.asked().is_empty());
}
