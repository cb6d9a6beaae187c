//! Films by xAI: asked for, looked after, fetched. Three tools share this.

use std::sync::Arc;

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::ToolError;
use hermes_core::gate::Probe;
use hermes_core::keys::Keys;
use hermes_core::session::Place;
use serde_json::{Value, json};

use super::{Made, PATIENCE};
use crate::media::service::{Asking, Patience, at, bearer, not_made, spends, words};
use crate::media::source::{Source, as_url};

/// The variable with the key.
pub(crate) const KEYS: &[&str] = &["XAI_API_KEY"];

/// The usual model.
pub(crate) const MODEL: &str = "grok-imagine-video";

/// Largest film to begin with that is sent along.
const MOST: usize = 50 * 1024 * 1024;

/// Has something done, and waits for the film.
pub(crate) async fn run(asking: &Asking<'_>, what: &str, body: &Value) -> Result<Made, ToolError> {
    let base = asking.base("video_gen.xai.base_url", "XAI_BASE_URL", "https://api.x.ai/v1");
    let key = [bearer(&asking.key(KEYS)?)];
    let ticket = asking.post(format!("{base}/videos/{what}"), &key, body).await?;
    let is_plain = |id: &&str| id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let id = at(&ticket, "/request_id").as_str().filter(is_plain).map(str::to_owned);
    let id = id.ok_or_else(|| ToolError::Failed("xAI did not take the work".to_owned()))?;
    let mut patience = Patience::new(PATIENCE);
    loop {
        if let Some(made) = finished(&asking.get(format!("{base}/videos/{id}"), &key).await?)? {
            return Ok(made);
        }
        asking.cx.progress("xAI is filming");
        patience.next(asking).await?;
    }
}

/// The film when there is one; nothing while it is being made.
fn finished(answer: &Value) -> Result<Option<Made>, ToolError> {
    match at(answer, "/status").as_str() {
        Some("expired" | "failed") => {
            let why = words(answer).unwrap_or_else(|| format!("the work has {}", at(answer, "/status")));
            Err(ToolError::Failed(format!("xAI could not do it: {why}")))
        }
        // Older answers have the film and no status.
        _ => Ok(at(answer, "/video/url")
            .as_str()
            .map(|url| Made { url: url.to_owned(), duration: at(answer, "/video/duration").as_f64() })),
    }
}

/// Opens where xAI films by these settings.
pub(crate) fn ready(probe: &dyn Probe) -> Result<(), String> {
    let named = probe.config("video_gen.provider");
    let other = named.as_ref().and_then(Value::as_str).filter(|name| !matches!(*name, "" | "xai"));
    match other {
        Some(name) => Err(format!("video_gen.provider is {name}, and only xai does this")),
        None if probe.env("XAI_API_KEY") => Ok(()),
        None => Err("needs XAI_API_KEY".to_owned()),
    }
}

/// A film that there is already, and what is to become of it.
pub(crate) struct Change<'a> {
    /// `edits` or `extensions`.
    pub(crate) what: &'static str,
    pub(crate) prompt: &'a str,
    pub(crate) video: &'a str,
    pub(crate) model: Option<&'a str>,
    pub(crate) duration: Option<u32>,
}

impl Change<'_> {
    fn model(&self, keys: &dyn Keys) -> String {
        let wish = self.model.map(str::trim).filter(|model| !model.is_empty()).map(str::to_owned);
        wish.or_else(|| keys.text("video_gen.xai.model")).unwrap_or_else(|| MODEL.to_owned())
    }

    /// What it would do.
    pub(crate) fn effects(&self, place: &Place, services: &Services) -> Vec<Effect> {
        let keys = services.service::<Arc<dyn Keys>>();
        let model = keys.map_or_else(|| MODEL.to_owned(), |keys| self.model(keys.as_ref()));
        let mut effects = Source::of(self.video).effects(place);
        effects.extend(spends(format!("a film by {model} of xai ({})", self.what)));
        effects
    }

    /// Does it.
    pub(crate) async fn make(&self, cx: &ToolCx) -> Result<Value, ToolError> {
        match self.made(cx).await {
            Err(
                wrong @ (ToolError::Failed(_)
                | ToolError::Web(_)
                | ToolError::File(_)
                | ToolError::Arguments(_)),
            ) => Ok(not_made("video", &wrong)),
            other => other,
        }
    }

    async fn made(&self, cx: &ToolCx) -> Result<Value, ToolError> {
        let prompt = self.prompt.trim();
        if prompt.is_empty() {
            return Err(ToolError::Arguments("prompt is empty".to_owned()));
        }
        let asking = Asking::new(cx)?;
        let model = self.model(asking.keys);
        let url = as_url(cx, self.video, MOST, "video/").await?;
        let mut body = json!({ "model": model, "prompt": prompt, "video": { "url": url } });
        if let (Some(seconds), Some(fields)) = (self.duration, body.as_object_mut()) {
            fields.insert("duration".to_owned(), json!(seconds.clamp(2, 10)));
        }
        let made = run(&asking, self.what, &body).await?;
        Ok(json!({
            "success": true,
            "video": made.url,
            "model": model,
            "prompt": prompt,
            "modality": "video",
            "duration": made.duration,
            "provider": "xai",
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_film_is_there_when_its_address_is() {
        let done = json!({ "status": "done", "video": { "url": "https://v.example/a.mp4", "duration": 6 } });

        assert_eq!(finished(&json!({ "status": "pending" })).unwrap(), None);
        assert_eq!(
            finished(&done).unwrap(),
            Some(Made { url: "https://v.example/a.mp4".into(), duration: Some(6.0) })
        );
        let failed = json!({ "status": "failed", "error": { "message": "not allowed" } });
        assert!(finished(&failed).unwrap_err().to_string().contains("not allowed"));
    }
}
