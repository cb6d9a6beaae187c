//! What is said in a recording, as text: for voice messages that reach the program itself.
//!
//! | file | what |
//! |---|---|
//! | here | who listens by the settings |
//! | [`service`] | has a service listen; the services are files in `providers/` |
//! | [`plan`] | what is run where a program of this machine listens; the programs are files in `engines/` |
//! | [`tool`](tool::Recording) | runs it, on the road |

mod engines;
mod plan;
mod providers;
mod service;
mod tool;

use std::path::PathBuf;

use hermes_core::keys::Keys;
use hermes_core::tool::ToolDef;
use serde_json::{Value, json};

use crate::hash::sha256_hex;
use crate::media::kind_of;
use crate::senders::Courier;
use engines::ENGINES;
use plan::COMMAND;
use providers::PROVIDERS;
pub(crate) use service::Provider;
pub use tool::Recording;

/// Largest recording.
const MOST: usize = 25 * 1024 * 1024;

/// The word for the programs of this machine.
const LOCAL: &str = "local";

/// Kinds of files that can be listened to, with the ending that they should have.
const KINDS: [(&str, &str); 9] = [
    ("audio/mpeg", "mp3"),
    ("audio/mp4", "m4a"),
    ("audio/wav", "wav"),
    ("audio/ogg", "ogg"),
    ("audio/aac", "aac"),
    ("audio/flac", "flac"),
    ("video/mp4", "mp4"),
    ("video/mpeg", "mpeg"),
    ("video/webm", "webm"),
];

/// What was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// The words.
    pub text: String,
    /// Who listened.
    pub provider: String,
    /// With which model.
    pub model: String,
}

/// Why there is no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TranscribeError {
    /// Something has to be set first.
    #[error("{0}")]
    NotConfigured(String),
    /// The recording cannot be taken.
    #[error("{0}")]
    BadRecording(String),
    /// Whoever was to listen failed.
    #[error("{provider}: {why}")]
    Failed {
        /// Who.
        provider: String,
        /// Why.
        why: String,
    },
}

/// Says where a program is.
pub type Finder<'a> = dyn Fn(&str) -> Option<PathBuf> + 'a;

/// Who listens.
#[derive(Clone)]
pub struct Listener(Way);

#[derive(Clone)]
enum Way {
    Service(&'static Provider),
    Program(String),
}

impl Listener {
    /// Who listens by these settings: whom they name, or the first that can, those of this machine before
    /// the others.
    pub fn chosen(keys: &dyn Keys, found: &Finder<'_>) -> Result<Self, TranscribeError> {
        let named = keys.text("stt.provider").map(|name| name.trim().to_lowercase());
        let way = match named.as_deref().filter(|name| *name != "auto") {
            Some(name) => named_way(name, keys, found),
            None => any_way(keys, found),
        };
        way.map(Self).map_err(TranscribeError::NotConfigured)
    }

    /// The name of the program, where it is one: it listens by a call of [`tool`], with what
    /// [`arguments`] says.
    pub fn program(&self) -> Option<&str> {
        match &self.0 {
            Way::Program(name) => Some(name),
            Way::Service(_) => None,
        }
    }

    /// What is said in a recording, asked of the service.
    pub async fn ask(&self, courier: &dyn Courier, recording: &[u8]) -> Result<Transcript, TranscribeError> {
        let kind = kind(recording)?;
        match &self.0 {
            Way::Service(provider) => provider.listen(courier, recording, kind).await,
            Way::Program(name) => {
                let why = "a program listens by a call".to_owned();
                Err(TranscribeError::Failed { provider: name.clone(), why })
            }
        }
    }
}

/// The tool by which programs listen.
pub fn tool() -> &'static ToolDef {
    &tool::TOOL
}

/// The arguments for a call of [`tool`] about this recording.
pub fn arguments(listener: &str, found: &Finder<'_>, recording: &[u8]) -> Result<Value, TranscribeError> {
    let (_, ending) = kind(recording)?;
    let digest: String = sha256_hex(&[recording]).chars().take(16).collect();
    let name = format!("recording_{digest}.{ending}");
    let engine = ENGINES.iter().find(|engine| engine.name == listener);
    // By its whole path: the shell that runs it may look elsewhere than we do.
    let program = engine.and_then(|engine| found(engine.program?));
    Ok(match program.map(|path| path.to_string_lossy().into_owned()) {
        Some(program) => json!({ "listener": listener, "program": program, "recording": name }),
        None => json!({ "listener": listener, "recording": name }),
    })
}

fn kind(recording: &[u8]) -> Result<(&'static str, &'static str), TranscribeError> {
    if recording.len() > MOST {
        let why = format!("the recording has more than {} MB", MOST / (1024 * 1024));
        return Err(TranscribeError::BadRecording(why));
    }
    let found = kind_of(recording).and_then(|kind| KINDS.into_iter().find(|(known, _)| *known == kind));
    found.ok_or_else(|| {
        TranscribeError::BadRecording("this is no recording that can be listened to".to_owned())
    })
}

fn named_way(name: &str, keys: &dyn Keys, found: &Finder<'_>) -> Result<Way, String> {
    if name == LOCAL {
        return local(keys, found)?
            .ok_or_else(|| format!("nobody listens here: install one of {}", programs()));
    }
    if let Some(engine) = ENGINES.iter().find(|engine| engine.name == name) {
        return Ok(Way::Program(engine.name.to_owned()));
    }
    if let Some(found) = PROVIDERS.iter().find(|provider| provider.name == name) {
        let needs = || format!("{name} needs {}", found.keys.join(" or "));
        return found.key(keys).map(|_| Way::Service(found)).ok_or_else(needs);
    }
    let section = plan::section(name, false);
    if name == COMMAND || keys.setting(&section).is_some() {
        let unset = || format!("{section}.command is not set");
        return keys
            .text(&format!("{section}.command"))
            .map(|_| Way::Program(name.to_owned()))
            .ok_or_else(unset);
    }
    Err(format!("stt.provider is `{name}`, which is none of {}, nor one of stt.providers", names()))
}

fn any_way(keys: &dyn Keys, found: &Finder<'_>) -> Result<Way, String> {
    if let Some(way) = local(keys, found)? {
        return Ok(way);
    }
    if keys.text("stt.command.command").is_some() {
        return Ok(Way::Program(COMMAND.to_owned()));
    }
    let usable = PROVIDERS.iter().filter(|provider| provider.key(keys).is_some());
    let first = usable.min_by_key(|provider| provider.order);
    first.map(|provider| Way::Service(provider)).ok_or_else(|| {
        format!("nobody can listen: install one of {}, or set a key of one of {}", programs(), names())
    })
}

/// The engine that the settings name, or the first that is installed.
fn local(keys: &dyn Keys, found: &Finder<'_>) -> Result<Option<Way>, String> {
    let way = |name: &str| Some(Way::Program(name.to_owned()));
    if let Some(name) = keys.text("stt.local.engine") {
        let known = ENGINES.iter().any(|engine| engine.name == name);
        let names: Vec<&str> = ENGINES.iter().map(|engine| engine.name).collect();
        let wrong = || format!("stt.local.engine is `{name}`, which is none of {}", names.join(", "));
        return if known { Ok(way(&name)) } else { Err(wrong()) };
    }
    if keys.text("stt.local.python").is_some() {
        return Ok(way("faster-whisper"));
    }
    let there =
        ENGINES.iter().filter(|engine| engine.program.is_some_and(|program| found(program).is_some()));
    // One that is there and was told of no model cannot be taken by itself.
    let able = there.filter(|engine| engine.name != "whisper-cli" || keys.text("stt.local.model").is_some());
    Ok(able.min_by_key(|engine| engine.order).and_then(|engine| way(engine.name)))
}

fn names() -> String {
    let services = PROVIDERS.iter().map(|provider| provider.name);
    [LOCAL, COMMAND].into_iter().chain(services).collect::<Vec<_>>().join(", ")
}

fn programs() -> String {
    ENGINES.iter().filter_map(|engine| engine.program).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) struct Given(pub(super) Value, pub(super) &'static [&'static str]);

    impl Keys for Given {
        fn key(&self, name: &str) -> Option<String> {
            self.1.contains(&name).then(|| "k".to_owned())
        }

        fn setting(&self, key: &str) -> Option<Value> {
            self.0.pointer(&format!("/{}", key.replace('.', "/"))).cloned()
        }
    }

    fn found(program: &str, installed: &str) -> Option<PathBuf> {
        (program == installed).then(|| PathBuf::from("/v/bin").join(program))
    }

    fn name(settings: Value, keys: &'static [&'static str], installed: &str) -> Result<String, String> {
        let chosen = Listener::chosen(&Given(settings, keys), &|program| found(program, installed));
        chosen.map_err(|why| why.to_string()).map(|listener| match listener.0 {
            Way::Service(provider) => provider.name().to_owned(),
            Way::Program(name) => name,
        })
    }

    #[test]
    fn the_named_one_listens_or_the_first_that_can() {
        let keys = &["OPENAI_API_KEY", "GROQ_API_KEY"];

        assert_eq!(name(json!({}), keys, "").unwrap(), "groq");
        assert_eq!(name(json!({}), keys, "whisper").unwrap(), "whisper");
        assert_eq!(name(json!({ "stt": { "provider": "openai" } }), keys, "whisper").unwrap(), "openai");
        let command = json!({ "stt": { "command": { "command": "hear {input_path}" } } });
        assert_eq!(name(command.clone(), keys, "").unwrap(), "command");
        assert_eq!(name(command, &[], "whisper-ctranslate2").unwrap(), "whisper-ctranslate2");
        assert!(name(json!({}), &[], "").unwrap_err().contains("nobody can listen"));
        assert!(
            name(json!({ "stt": { "provider": "groq" } }), &[], "").unwrap_err().contains("GROQ_API_KEY")
        );
    }

    #[test]
    fn programs_of_this_machine_are_named_or_found() {
        let stt = |section: Value| json!({ "stt": section });

        assert_eq!(name(stt(json!({ "provider": "local" })), &[], "whisper").unwrap(), "whisper");
        assert!(name(stt(json!({ "provider": "local" })), &[], "").unwrap_err().contains("whisper-cli"));
        // It needs a model file, which only the settings can name.
        assert!(name(stt(json!({ "provider": "local" })), &[], "whisper-cli").is_err());
        let cpp = json!({ "provider": "local", "local": { "model": "/m/ggml.bin" } });
        assert_eq!(name(stt(cpp), &[], "whisper-cli").unwrap(), "whisper-cli");
        let python = json!({ "provider": "local", "local": { "python": "/v/bin/python" } });
        assert_eq!(name(stt(python), &[], "whisper").unwrap(), "faster-whisper");
        let engine = json!({ "provider": "local", "local": { "engine": "wisper" } });
        assert!(name(stt(engine), &[], "whisper").unwrap_err().contains("none of"));
        let mine = json!({ "provider": "Mine", "providers": { "mine": { "command": "hear" } } });
        assert_eq!(name(stt(mine), &[], "").unwrap(), "mine");
        assert!(name(stt(json!({ "provider": "nobody" })), &[], "").unwrap_err().contains("none of local"));
        assert!(
            name(stt(json!({ "provider": "command" })), &[], "").unwrap_err().contains("stt.command.command")
        );
    }

    #[test]
    fn only_recordings_of_a_fair_size_are_taken() {
        assert_eq!(kind(b"OggS\0").unwrap(), ("audio/ogg", "ogg"));
        assert!(kind(b"\x89PNG\r\n\x1A\n").is_err());
        assert!(kind(&vec![0; MOST + 1]).is_err());
        let arguments = arguments("whisper", &|program| found(program, "whisper"), b"OggS\0").unwrap();
        let recording = std::path::Path::new(arguments["recording"].as_str().unwrap());
        assert_eq!(recording.extension().and_then(std::ffi::OsStr::to_str), Some("ogg"), "{arguments}");
        assert_eq!(arguments["program"], "/v/bin/whisper");
    }
}
