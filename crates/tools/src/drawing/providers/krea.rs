//! Krea: work is handed in as a job and looked after.

use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::drawing::{Image, Provider, Wish, no_image};
use crate::media::service::{Asking, Patience, at, bearer, words};

pub(crate) const PROVIDER: Provider = Provider::new("krea", KEYS, "bfl/flux-1-dev", draw);

const KEYS: &[&str] = &["KREA_API_KEY"];

/// How long a picture may take.
const PATIENCE: Duration = Duration::from_mins(5);

fn draw<'a>(asking: &'a Asking<'a>, wish: &'a Wish<'a>) -> BoxFuture<'a, Result<Image, ToolError>> {
    Box::pin(async move {
        if !wish.pictures.is_empty() {
            return Err(ToolError::Failed(format!("{} cannot begin with a picture", wish.model)));
        }
        let base = asking.base("image_gen.krea.base_url", "KREA_BASE_URL", "https://api.krea.ai");
        let key = [bearer(&asking.key(KEYS)?)];
        let (width, height) = wish.shape.dots();
        let body = json!({ "prompt": wish.prompt, "width": width, "height": height });
        let url = format!("{base}/generate/image/{}", wish.model.trim_matches('/'));
        let job = asking.post(url, &key, &body).await?;
        let is_plain = |id: &&str| id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let id = at(&job, "/job_id").as_str().filter(is_plain).ok_or_else(no_image)?.to_owned();
        let mut patience = Patience::new(PATIENCE);
        loop {
            if let Some(image) = finished(&asking.get(format!("{base}/jobs/{id}"), &key).await?)? {
                return Ok(image);
            }
            asking.cx.progress("Krea is at work");
            patience.next(asking).await?;
        }
    })
}

/// The picture when there is one; nothing while the job is at work.
fn finished(job: &Value) -> Result<Option<Image>, ToolError> {
    match at(job, "/status").as_str() {
        Some("completed") => {
            let url = at(job, "/result/urls/0").as_str().ok_or_else(no_image)?;
            Ok(Some(Image::Url(url.to_owned())))
        }
        Some("failed" | "cancelled") => {
            let why = words(job).unwrap_or_else(|| "no reason given".to_owned());
            Err(ToolError::Failed(format!("Krea could not do it: {why}")))
        }
        _ => Ok(None),
    }
}
