//! Firecrawl, hosted, one's own, or behind a gateway for tools: searches, and reads pages that need a browser.

use futures::future::{BoxFuture, FutureExt as _};
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::web::answers::{hits, list, text, unreadable};
use crate::web::provider::{Asking, Extracted, Hit, Provider};

pub(crate) const PROVIDER: Provider =
    Provider::new("firecrawl", 40, &["FIRECRAWL_API_KEY", "FIRECRAWL_API_URL", TOKEN])
        .searching(search)
        .extracting(extract);

/// Opens the gateway, for who has no key of their own.
const TOKEN: &str = "TOOL_GATEWAY_USER_TOKEN";

fn search<'a>(
    asking: &'a Asking<'a>,
    query: &'a str,
    limit: usize,
) -> BoxFuture<'a, Result<Vec<Hit>, ToolError>> {
    async move {
        let answer = post(asking, "/v2/search", &json!({ "query": query, "limit": limit })).await?;
        Ok(hits(list(&answer, &["data", "web"]), "title", "url", "description"))
    }
    .boxed()
}

fn extract<'a>(asking: &'a Asking<'a>, url: &'a str) -> BoxFuture<'a, Result<Extracted, ToolError>> {
    async move {
        let body = json!({ "url": url, "formats": ["markdown"], "timeout": 60_000 });
        let answer = post(asking, "/v2/scrape", &body).await?;
        let content = text(&answer, &["data", "markdown"]);
        if content.is_empty() {
            return Err(unreadable(text(&answer, &["error"])));
        }
        let source = text(&answer, &["data", "metadata", "sourceURL"]);
        Ok(Extracted {
            url: if source.is_empty() { url.to_owned() } else { source },
            title: text(&answer, &["data", "metadata", "title"]),
            text: content,
        })
    }
    .boxed()
}

async fn post(asking: &Asking<'_>, path: &str, body: &Value) -> Result<Value, ToolError> {
    let (base, key) = place(asking);
    let key = key.map(|key| ("authorization", format!("Bearer {key}")));
    asking.post(format!("{base}{path}"), key.as_slice(), body).await
}

/// Where it is, and the key. One's own server may need none.
fn place(asking: &Asking<'_>) -> (String, Option<String>) {
    let key = |name: &str| asking.keys.key(name);
    if let (None, None, Some(token)) = (key("FIRECRAWL_API_KEY"), key("FIRECRAWL_API_URL"), key(TOKEN)) {
        let scheme = key("TOOL_GATEWAY_SCHEME").unwrap_or_else(|| "https".to_owned());
        let domain = key("TOOL_GATEWAY_DOMAIN").unwrap_or_else(|| "nousresearch.com".to_owned());
        let usual = format!("{}://firecrawl-gateway.{}", scheme.trim(), domain.trim());
        return (asking.base("FIRECRAWL_GATEWAY_URL", &usual), Some(token));
    }
    (asking.base("FIRECRAWL_API_URL", "https://api.firecrawl.dev"), key("FIRECRAWL_API_KEY"))
}
