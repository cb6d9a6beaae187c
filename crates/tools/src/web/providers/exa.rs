//! Exa: searches, and reads pages.

use futures::future::{BoxFuture, FutureExt as _};
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::web::provider::{Asking, Extracted, Hit, Provider, list, text};

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
        Ok(list(&answer, &["results"]).iter().map(hit).filter(|hit| !hit.url.is_empty()).collect())
    }
    .boxed()
}

fn hit(row: &Value) -> Hit {
    let highlights: Vec<&str> = list(row, &["highlights"]).iter().filter_map(Value::as_str).collect();
    Hit { title: text(row, &["title"]), url: text(row, &["url"]), description: highlights.join(" … ") }
}

fn extract<'a>(asking: &'a Asking<'a>, url: &'a str) -> BoxFuture<'a, Result<Extracted, ToolError>> {
    async move {
        let answer = post(asking, "/contents", &json!({ "urls": [url], "text": true })).await?;
        let page = list(&answer, &["results"]).first();
        let page = page.ok_or_else(|| ToolError::Failed("the page could not be read".to_owned()))?;
        Ok(Extracted {
            url: text(page, &["url"]),
            title: text(page, &["title"]),
            text: text(page, &["text"]),
        })
    }
    .boxed()
}

async fn post(asking: &Asking<'_>, path: &str, body: &Value) -> Result<Value, ToolError> {
    let key = asking.key(&["EXA_API_KEY"])?;
    let url = format!("{}{path}", asking.base("EXA_BASE_URL", "https://api.exa.ai"));
    asking.post(url, &[("x-api-key", key)], body).await
}
