//! Tavily: searches, and reads pages.

use futures::future::{BoxFuture, FutureExt as _};
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::web::answers::{hits, list, page};
use crate::web::provider::{Asking, Extracted, Hit, Provider};

pub(crate) const PROVIDER: Provider =
    Provider::new("tavily", 10, &["TAVILY_API_KEY"]).searching(search).extracting(extract);

const MOST: usize = 20;

fn search<'a>(
    asking: &'a Asking<'a>,
    query: &'a str,
    limit: usize,
) -> BoxFuture<'a, Result<Vec<Hit>, ToolError>> {
    async move {
        let body = json!({ "query": query, "max_results": limit.min(MOST) });
        let answer = post(asking, "/search", body).await?;
        Ok(hits(list(&answer, &["results"]), "title", "url", "content"))
    }
    .boxed()
}

fn extract<'a>(asking: &'a Asking<'a>, url: &'a str) -> BoxFuture<'a, Result<Extracted, ToolError>> {
    async move {
        let answer = post(asking, "/extract", json!({ "urls": [url] })).await?;
        page(&answer, "raw_content", ("failed_results", "error"))
    }
    .boxed()
}

async fn post(asking: &Asking<'_>, path: &str, mut body: Value) -> Result<Value, ToolError> {
    let key = asking.key(&["TAVILY_API_KEY"])?;
    let url = format!("{}{path}", asking.base("TAVILY_BASE_URL", "https://api.tavily.com"));
    if let Some(fields) = body.as_object_mut() {
        fields.insert("api_key".to_owned(), Value::String(key.clone()));
    }
    asking.post(url, &[("authorization", format!("Bearer {key}"))], &body).await
}
