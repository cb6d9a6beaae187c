//! Has a service listen. No tool uses it, so it has no permits: it asks through the same [`Courier`] as
//! messages do.

use std::time::Duration;

use hermes_core::keys::Keys;
use hermes_core::web::{Reach, WebRequest};
use serde_json::Value;

use super::{TranscribeError, Transcript};
use crate::media::service::words;
use crate::multipart::Form;
use crate::senders::Courier;

/// The name under which these services are known where effects are declared.
const SERVICE: &str = "the configured transcription service";

/// Longest wait for the text.
const PATIENCE: Duration = Duration::from_mins(5);

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

    pub(super) fn key(&self, keys: &dyn Keys) -> Option<String> {
        self.keys.iter().find_map(|name| keys.key(name)).map(|key| key.trim().to_owned())
    }

    /// What is said in a recording, whose kind and ending are known.
    pub(super) async fn listen(
        &self,
        courier: &dyn Courier,
        recording: &[u8],
        (kind, ending): (&str, &str),
    ) -> Result<Transcript, TranscribeError> {
        let keys = courier.keys();
        let key = self.key(keys).unwrap_or_default();
        let section = format!("stt.{}", self.name);
        let model = keys.text(&format!("{section}.model")).unwrap_or_else(|| self.model.1.to_owned());
        let base = keys.text(&format!("{section}.base_url")).or_else(|| keys.key(self.base.0));
        let base = base.unwrap_or_else(|| self.base.1.to_owned());
        let mut form = Form::default();
        if !self.model.0.is_empty() {
            form = form.text(self.model.0, &model);
        }
        let language = keys.text(&format!("{section}.language")).or_else(|| keys.text("stt.language"));
        if let Some(language) = language {
            form = form.text("language", &language);
        }
        let (media_type, body) = form.file("file", &format!("recording.{ending}"), kind, recording).finish();
        let url = format!("{}{}", base.trim_end_matches('/'), self.path);
        let mut request = WebRequest::get(url, Reach::Configured(SERVICE))
            .method("POST")
            .timeout(PATIENCE)
            .header("content-type", media_type)
            .header(self.header.0, format!("{}{key}", self.header.1));
        request.body = body;
        let failed = |why: String| TranscribeError::Failed { provider: self.name.to_owned(), why };
        let reply = courier.fetch(request).await.map_err(|wrong| failed(wrong.to_string()))?;
        let answer = reply.json().unwrap_or_default();
        if !reply.is_ok() {
            let said = words(&answer).unwrap_or_else(|| reply.text());
            let said: String = said.trim().chars().take(300).collect();
            return Err(failed(format!("it answered {}: {said}", reply.status)));
        }
        let text = answer.get("text").and_then(Value::as_str);
        let text = text.ok_or_else(|| failed("its answer has no text".to_owned()))?;
        Ok(Transcript { text: text.trim().to_owned(), provider: self.name.to_owned(), model })
    }
}
