//! Parallel: searches by objective, and reads pages.

use futures::future::{BoxFuture, FutureExt as _};
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::web::answers::{hits_by_passage, list, page};
use crate::web::provider::{Asking, Extracted, Hit, Provider};

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
        Ok(hits_by_passage(list(&answer, &["results"]), "excerpts"))
    }
    .boxed()
}

fn extract<'a>(asking: &'a Asking<'a>, url: &'a str) -> BoxFuture<'a, Result<Extracted, ToolError>> {
    async move {
        let answer = post(asking, "/v1beta/extract", &json!({ "urls": [url], "full_content": true })).await?;
        page(&answer, "full_content", ("errors", "content"))
    }
    .boxed()
}

async fn post(asking: &Asking<'_>, path: &str, body: &Value) -> Result<Value, ToolError> {
    let key = asking.key(&["PARALLEL_API_KEY"])?;
    let url = format!("{}{path}", asking.base("PARALLEL_BASE_URL", "https://api.parallel.ai"));
    asking.post(url, &[("x-api-key", key)], body).await
}
