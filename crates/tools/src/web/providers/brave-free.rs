//! Brave Search, whose free plan needs a key.

use futures::future::{BoxFuture, FutureExt as _};
use hermes_core::error::ToolError;

use crate::web::answers::{encoded, hits, list};
use crate::web::provider::{Asking, Hit, Provider};

pub(crate) const PROVIDER: Provider =
    Provider::new("brave-free", 60, &["BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"]).searching(search);

const MOST: usize = 20;

fn search<'a>(
    asking: &'a Asking<'a>,
    query: &'a str,
    limit: usize,
) -> BoxFuture<'a, Result<Vec<Hit>, ToolError>> {
    async move {
        let key = asking.key(&["BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"])?;
        let base = asking.base("BRAVE_BASE_URL", "https://api.search.brave.com");
        let url = format!("{base}/res/v1/web/search?q={}&count={}", encoded(query), limit.min(MOST));
        let headers = [("x-subscription-token", key), ("accept", "application/json".to_owned())];
        let answer = asking.get(url, &headers).await?;
        Ok(hits(list(&answer, &["web", "results"]), "title", "url", "description"))
    }
    .boxed()
}
