//! Recordings as text, and the SDK of `OpenAI` against the same doubles that our tools are asked by: if it
//! takes their answers and asks as we do, they are not only our imagination.

use std::path::Path;
use std::process::Command;

use futures::executor::block_on;
use hermes::TranscribeError;
use hermes::guard::Mode;
use serde_json::json;

use crate::server::{Asked, Server, json_answer};
use crate::{call, runtime, testbed};

const OGG: &[u8] = b"OggS\0recording";

fn openai() -> Server {
    Server::start(|asked: &Asked| match asked.path() {
        "/v1/audio/transcriptions" => json_answer(200, &json!({ "text": " Good evening. " })),
        "/v1/audio/speech" => (200, "audio/mpeg".to_owned(), b"ID3\x04mp3".to_vec()),
        "/v1/images/generations" => {
            json_answer(200, &json!({ "created": 1, "data": [{ "b64_json": "iVBORw0KGgptYWRl" }] }))
        }
        _ => json_answer(404, &json!({ "error": { "message": "not here" } })),
    })
}

#[test]
fn a_recording_becomes_text() {
    let server = openai();
    let base = format!("{}/v1", server.address());
    let variables = [("GROQ_API_KEY", "gk"), ("GROQ_BASE_URL", base.as_str())];
    let (_folder, with_key) = runtime("stt:\n  language: en\n", Mode::Manual, &variables);
    let (_other, without) = runtime("", Mode::Manual, &[]);

    let heard = block_on(with_key.transcribe(OGG)).unwrap();
    let unset = block_on(without.transcribe(OGG)).unwrap_err();
    let picture = block_on(with_key.transcribe(b"\x89PNG\r\n\x1A\n")).unwrap_err();

    assert_eq!((heard.text.as_str(), heard.provider.as_str()), ("Good evening.", "groq"));
    assert!(matches!(unset, TranscribeError::NotConfigured(_)), "{unset}");
    assert!(matches!(picture, TranscribeError::BadRecording(_)), "{picture}");
    let asked = &server.asked()[0];
    assert_eq!(asked.header("authorization"), "Bearer gk");
    let form = asked.text();
    for part in [
        "name=\"model\"\r\n\r\nwhisper-large-v3-turbo",
        "name=\"language\"\r\n\r\nen",
        "filename=\"recording.ogg\"",
    ] {
        assert!(form.contains(part), "{form}");
    }
}

/// Asks everything that our tools ask, by the SDK.
const SDK: &str = r#"
import io, sys, openai
client = openai.OpenAI(api_key="k", base_url=sys.argv[1], max_retries=0)
said = client.audio.speech.create(model="gpt-4o-mini-tts", voice="alloy", input="Hi", response_format="mp3")
assert said.content.startswith(b"ID3")
made = client.images.generate(model="gpt-image-1", prompt="a lamp", size="1024x1024", n=1)
assert made.data[0].b64_json.startswith("iVBOR")
heard = client.audio.transcriptions.create(model="whisper-1", file=("recording.ogg", io.BytesIO(b"OggS\0recording"), "audio/ogg"))
assert heard.text == " Good evening. "
"#;

#[test]
fn the_sdk_of_the_vendor_asks_as_we_do_and_takes_the_same_answers() {
    let Some(python) = testbed("HERMES_TEST_OPENAI_PYTHON", "openai-sdk") else { return };
    let server = openai();
    let base = format!("{}/v1", server.address());
    let config = "tts:\n  provider: openai\nimage_gen:\n  provider: openai\nstt:\n  provider: openai\n";
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", base.as_str())];
    let (_folder, runtime) = runtime(config, Mode::Off, &variables);

    let ran = Command::new(python).args(["-c", SDK, &base]).output().unwrap();
    call(&runtime, "text_to_speech", &json!({ "text": "Hi" }));
    call(&runtime, "image_generate", &json!({ "prompt": "a lamp", "aspect_ratio": "square" }));
    block_on(runtime.transcribe(OGG)).unwrap();

    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let asked = server.asked();
    let (theirs, ours) = asked.split_at(3);
    for (theirs, ours) in theirs.iter().zip(ours) {
        assert_eq!((ours.method(), ours.path()), (theirs.method(), theirs.path()));
        assert_eq!(ours.header("authorization"), theirs.header("authorization"));
        assert_eq!(ours.json(), theirs.json(), "{}", ours.path());
    }
    let file = "filename=\"recording.ogg\"\r\nContent-Type: audio/ogg\r\n\r\nOggS";
    assert!(theirs[2].text().contains(file) && ours[2].text().contains(file));
}

#[test]
fn a_service_with_one_model_is_not_told_its_name() {
    let server = Server::start(|asked: &Asked| match asked.path() {
        "/v1/stt" => json_answer(200, &json!({ "text": "Good evening.", "language": "en", "duration": 0.5 })),
        _ => json_answer(404, &json!({ "error": "not here" })),
    });
    let base = format!("{}/v1", server.address());
    let variables = [("XAI_API_KEY", "k"), ("XAI_BASE_URL", base.as_str())];
    let (_folder, runtime) = runtime("", Mode::Manual, &variables);

    let heard = block_on(runtime.transcribe(OGG)).unwrap();

    assert_eq!((heard.text.as_str(), heard.provider.as_str()), ("Good evening.", "xai"));
    assert!(!server.asked()[0].text().contains("name=\"model\""));
}

/// A folder with a program of this name that does what the script says, before all others on the path.
fn with_program(folder: &Path, name: &str, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let file = folder.join(name);
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

fn left_in(home: &Path) -> Vec<String> {
    let found = std::fs::read_dir(home.join("home/cache/audio")).into_iter().flatten().flatten();
    found.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_program_of_this_machine_listens_before_any_service_and_leaves_nothing() {
    let programs = tempfile::tempdir().unwrap();
    // It is told what the real one is told: recording, --output_dir, --language.
    let script = r#"while [ $# -gt 1 ]; do case $1 in *.ogg) in=$1;; --output_dir) out=$2;; --language) of=$2;; esac; shift; done
echo "[00:00.000 --> 00:01.000] noise"; name=${in##*/}; printf ' heard %s bytes of %s\n' "$(wc -c < "$in")" "$of" > "$out/${name%.ogg}.txt""#;
    let path = with_program(programs.path(), "whisper", script);
    let variables = [("PATH", path.as_str()), ("GROQ_API_KEY", "gk")];
    let (folder, runtime) = runtime("stt:\n  local:\n    language: de\n", Mode::Manual, &variables);

    let heard = block_on(runtime.transcribe(OGG)).unwrap();

    assert_eq!((heard.text.as_str(), heard.provider.as_str()), ("heard 14 bytes of de", "whisper"));
    assert_eq!(left_in(folder.path()), [""; 0]);
}

#[test]
fn a_command_of_ones_own_listens_on_the_road() {
    let config = "stt:\n  provider: command\n  command:\n    command: wc -c < {input_path}\n";
    let (folder, open) = runtime(config, Mode::Manual, &[]);
    let denying = format!("{config}approvals:\n  deny: [\"wc *\"]\n");
    let (_other, closed) = runtime(&denying, Mode::Manual, &[]);
    let failing = config.replace("wc -c <", "echo no model >&2; false");
    let (third, broken) = runtime(&failing, Mode::Manual, &[]);

    let heard = block_on(open.transcribe(OGG)).unwrap();
    let denied = block_on(closed.transcribe(OGG)).unwrap_err();
    let failed = block_on(broken.transcribe(OGG)).unwrap_err();

    assert_eq!((heard.text.as_str(), heard.provider.as_str()), ("14", "command"));
    assert!(matches!(&denied, TranscribeError::Failed { why, .. } if why.contains("denied")), "{denied}");
    assert!(
        failed.to_string().contains("ended with 1") && failed.to_string().contains("no model"),
        "{failed}"
    );
    assert_eq!((left_in(folder.path()), left_in(third.path())), (Vec::new(), Vec::new()));
}

#[test]
fn what_was_spoken_here_is_written_down_here() {
    let Some(python) = testbed("HERMES_TEST_WHISPER_PYTHON", "whisper") else { return };
    let Some(model) = testbed("HERMES_TEST_WHISPER_MODEL", "whisper") else { return };
    let config = format!(
        "stt:\n  provider: local\n  language: en\n  local:\n    python: {python}\n    model: {model}\n"
    );
    let (folder, runtime) = runtime(&config, Mode::Manual, &[]);

    let words = "The quick brown fox jumps over the lazy dog.";
    call(&runtime, "text_to_speech", &json!({ "text": words, "output_path": "fox.wav" }));
    let heard = block_on(runtime.transcribe(&std::fs::read(folder.path().join("fox.wav")).unwrap())).unwrap();

    let text = heard.text.to_lowercase();
    assert_eq!(heard.provider, "faster-whisper");
    assert!(text.contains("brown") && text.contains("dog"), "{text}");
}
