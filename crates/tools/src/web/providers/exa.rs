//! Exa: searches, and reads pages.

use futures::future::{BoxFuture, FutureExt as _};
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::web::answers::{hits_by_passage, list, page};
use crate::web::provider::{Asking, Extracted, Hit, Provider};

pub(crate) const PROVIDER: Provider =
    Provider::new("exa", 20, &["EXA_API_KEY"]).searching(search).extracting(extract);

fn search<'a>(
    asking: &'a Asking<'a>,
    query: &'a str,
    limit: usize,
) -> BoxFuture<'a, Result<Vec<Hit>, ToolError>> {
    async move {
        let body = json!({ "query": query, "numResults": limit, "contents": { "highlights": true } });
        let answer = post(asking, "/search", &body).await?;
        Ok(hits_by_passage(list(&answer, &["results"]), "highlights"))
    }
    .boxed()
}

fn extract<'a>(asking: &'a Asking<'a>, url: &'a str) -> BoxFuture<'a, Result<Extracted, ToolError>> {
    async move {
        let answer = post(asking, "/contents", &json!({ "urls": [url], "text": true })).await?;
        page(&answer, "text", ("statuses", "error"))
    }
    .boxed()
}

async fn post(asking: &Asking<'_>, path: &str, body: &Value) -> Result<Value, ToolError> {
    let key = asking.key(&["EXA_API_KEY"])?;
    let url = format!("{}{path}", asking.base("EXA_BASE_URL", "https://api.exa.ai"));
    asking.post(url, &[("x-api-key", key)], body).await
}
