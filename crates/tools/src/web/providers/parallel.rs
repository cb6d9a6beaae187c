//! Parallel: searches by objective, and reads pages.

use futures::future::{BoxFuture, FutureExt as _};
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::web::provider::{Asking, Extracted, Hit, Provider, list, text};

pub(crate) const PROVIDER: Provider =
    Provider::new("parallel", 30, &["PARALLEL_API_KEY"]).searching(search).extracting(extract);

const MOST: usize = 20;

fn search<'a>(
    asking: &'a Asking<'a>,
    query: &'a str,
    limit: usize,
) -> BoxFuture<'a, Result<Vec<Hit>, ToolError>> {
    async move {
        let mode = asking.keys.key("PARALLEL_SEARCH_MODE").unwrap_or_else(|| "agentic".to_owned());
        let body = json!({
            "objective": query,
            "search_queries": [query],
            "mode": mode,
            "max_results": limit.min(MOST),
        });
        let answer = post(asking, "/v1beta/search", &body).await?;
        Ok(list(&answer, &["results"]).iter().map(hit).filter(|hit| !hit.url.is_empty()).collect())
    }
    .boxed()
}

fn hit(row: &Value) -> Hit {
    let excerpts: Vec<&str> = list(row, &["excerpts"]).iter().filter_map(Value::as_str).collect();
    Hit { title: text(row, &["title"]), url: text(row, &["url"]), description: excerpts.join(" … ") }
}

fn extract<'a>(asking: &'a Asking<'a>, url: &'a str) -> BoxFuture<'a, Result<Extracted, ToolError>> {
    async move {
        let answer = post(asking, "/v1beta/extract", &json!({ "urls": [url], "full_content": true })).await?;
        if let Some(page) = list(&answer, &["results"]).first() {
            return Ok(Extracted {
                url: text(page, &["url"]),
                title: text(page, &["title"]),
                text: text(page, &["full_content"]),
            });
        }
        let why = list(&answer, &["errors"]).first().map(|error| text(error, &["content"]));
        let why = why.filter(|why| !why.is_empty());
        Err(ToolError::Failed(why.unwrap_or_else(|| "the page could not be read".to_owned())))
    }
    .boxed()
}

async fn post(asking: &Asking<'_>, path: &str, body: &Value) -> Result<Value, ToolError> {
    let key = asking.key(&["PARALLEL_API_KEY"])?;
    let url = format!("{}{path}", asking.base("PARALLEL_BASE_URL", "https://api.parallel.ai"));
    asking.post(url, &[("x-api-key", key)], body).await
}
