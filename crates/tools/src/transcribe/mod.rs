//! What is said in a recording, as text: for voice messages that reach the program itself.
//!
//! No tool uses it, so it has no permits: it asks services through the same [`Courier`] as messages do.
//! Programs of this machine are not asked, since only a call on the road may start one. A service is a
//! file in `providers/`.

mod providers;

use std::time::Duration;

use hermes_core::keys::Keys;
use hermes_core::web::{Reach, WebRequest};
use serde_json::Value;

use crate::media::kind_of;
use crate::media::service::words;
use crate::multipart::Form;
use crate::senders::Courier;
use providers::PROVIDERS;

/// The name under which these services are known where effects are declared.
const SERVICE: &str = "the configured transcription service";

/// Largest recording.
const MOST: usize = 25 * 1024 * 1024;

/// Longest wait for the text.
const PATIENCE: Duration = Duration::from_mins(5);

/// Kinds of files that services take, with the ending that they want to see.
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

/// A service that listens. All of them take a form with a file and answer with a `text`.
pub(crate) struct Provider {
    pub(crate) name: &'static str,
    /// Lower is asked first when the settings name none.
    pub(crate) order: u8,
    pub(crate) keys: &'static [&'static str],
    /// The variable that may hold its address, and the usual one.
    pub(crate) base: (&'static str, &'static str),
    pub(crate) path: &'static str,
    /// The field of the form that names the model, empty where there is none, and the usual model.
    pub(crate) model: (&'static str, &'static str),
    /// The header with the key, and what stands before the key.
    pub(crate) header: (&'static str, &'static str),
}

impl Provider {
    /// Its name in settings.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    fn key(&self, keys: &dyn Keys) -> Option<String> {
        self.keys.iter().find_map(|name| keys.key(name)).map(|key| key.trim().to_owned())
    }
}

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
    /// The service failed.
    #[error("{provider}: {why}")]
    Failed {
        /// Who.
        provider: String,
        /// Why.
        why: String,
    },
}

/// Has a recording written down by the service that the settings name, or the first that has a key.
pub async fn transcribe(courier: &dyn Courier, recording: &[u8]) -> Result<Transcript, TranscribeError> {
    let keys = courier.keys();
    let (kind, ending) = kind(recording)?;
    let provider = chosen(keys)?;
    let key = provider.key(keys).unwrap_or_default();
    let section = format!("stt.{}", provider.name);
    let model = keys.text(&format!("{section}.model")).unwrap_or_else(|| provider.model.1.to_owned());
    let base = keys.text(&format!("{section}.base_url")).or_else(|| keys.key(provider.base.0));
    let base = base.unwrap_or_else(|| provider.base.1.to_owned());
    let mut form = Form::default();
    if !provider.model.0.is_empty() {
        form = form.text(provider.model.0, &model);
    }
    if let Some(language) = keys.text(&format!("{section}.language")).or_else(|| keys.text("stt.language")) {
        form = form.text("language", &language);
    }
    let (media_type, body) = form.file("file", &format!("recording.{ending}"), kind, recording).finish();
    let url = format!("{}{}", base.trim_end_matches('/'), provider.path);
    let mut request = WebRequest::get(url, Reach::Configured(SERVICE))
        .method("POST")
        .timeout(PATIENCE)
        .header("content-type", media_type)
        .header(provider.header.0, format!("{}{key}", provider.header.1));
    request.body = body;
    let failed = |why: String| TranscribeError::Failed { provider: provider.name.to_owned(), why };
    let reply = courier.fetch(request).await.map_err(|wrong| failed(wrong.to_string()))?;
    let answer = reply.json().unwrap_or_default();
    if !reply.is_ok() {
        let said = words(&answer).unwrap_or_else(|| reply.text());
        let said: String = said.trim().chars().take(300).collect();
        return Err(failed(format!("it answered {}: {said}", reply.status)));
    }
    let text = answer.get("text").and_then(Value::as_str);
    let text = text.ok_or_else(|| failed("its answer has no text".to_owned()))?;
    Ok(Transcript { text: text.trim().to_owned(), provider: provider.name.to_owned(), model })
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

fn chosen(keys: &dyn Keys) -> Result<&'static Provider, TranscribeError> {
    let missing = |why: String| TranscribeError::NotConfigured(why);
    let names = || PROVIDERS.iter().map(|provider| provider.name).collect::<Vec<_>>().join(", ");
    if let Some(name) = keys.text("stt.provider").filter(|name| name != "auto") {
        let found = PROVIDERS.iter().find(|provider| provider.name == name.to_lowercase());
        let found = found
            .ok_or_else(|| missing(format!("stt.provider is `{name}`, which is none of {}", names())))?;
        let needs = || missing(format!("{name} needs {}", found.keys.join(" or ")));
        return found.key(keys).map(|_| *found).ok_or_else(needs);
    }
    let usable = PROVIDERS.iter().filter(|provider| provider.key(keys).is_some());
    let first = usable.min_by_key(|provider| provider.order).copied();
    first.ok_or_else(|| missing(format!("nobody can listen: set a key of one of {}", names())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Given(Value, &'static [&'static str]);

    impl Keys for Given {
        fn key(&self, name: &str) -> Option<String> {
            self.1.contains(&name).then(|| "k".to_owned())
        }

        fn setting(&self, key: &str) -> Option<Value> {
            self.0.pointer(&format!("/{}", key.replace('.', "/"))).cloned()
        }
    }

    fn name(settings: Value, keys: &'static [&'static str]) -> Result<&'static str, TranscribeError> {
        chosen(&Given(settings, keys)).map(Provider::name)
    }

    #[test]
    fn the_named_service_listens_or_the_first_with_a_key() {
        assert_eq!(name(json!({}), &["OPENAI_API_KEY", "GROQ_API_KEY"]).unwrap(), "groq");
        assert_eq!(
            name(json!({ "stt": { "provider": "openai" } }), &["OPENAI_API_KEY", "GROQ_API_KEY"]).unwrap(),
            "openai"
        );
        assert!(name(json!({}), &[]).unwrap_err().to_string().contains("nobody can listen"));
        assert!(
            name(json!({ "stt": { "provider": "local" } }), &[]).unwrap_err().to_string().contains("none of")
        );
    }

    #[test]
    fn only_recordings_of_a_fair_size_are_taken() {
        assert_eq!(kind(b"OggS\0").unwrap(), ("audio/ogg", "ogg"));
        assert!(kind(b"\x89PNG\r\n\x1A\n").is_err());
        assert!(kind(&vec![0; MOST + 1]).is_err());
    }
}
