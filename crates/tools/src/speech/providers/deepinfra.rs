//! `DeepInfra`, in the language of `OpenAI`.

use futures::future::BoxFuture;
use hermes_core::error::ToolError;

use super::openai::request;
use crate::media::service::{Asking, bearer};
use crate::speech::voice::{Provider, Way, Wish};

pub(crate) const PROVIDER: Provider = Provider::new("deepinfra", 4_096, Way::Service(KEYS, speak));

const KEYS: &[&str] = &["DEEPINFRA_API_KEY"];

fn speak<'a>(asking: &'a Asking<'a>, wish: Wish<'a>) -> BoxFuture<'a, Result<Vec<u8>, ToolError>> {
    Box::pin(async move {
        let usual = "https://api.deepinfra.com/v1/openai";
        let base = asking.base("tts.deepinfra.base_url", "DEEPINFRA_BASE_URL", usual);
        let body = request(asking, wish, "deepinfra", ("hexgrad/Kokoro-82M", "af_bella"));
        let key = asking.key(KEYS)?;
        Ok(asking.post_for_bytes(format!("{base}/audio/speech"), &[bearer(&key)], &body).await?.body)
    })
}
