//! `SearXNG`, one's own: searches many engines, no key.

use futures::future::{BoxFuture, FutureExt as _};
use hermes_core::error::ToolError;
use serde_json::Value;

use crate::web::answers::{encoded, hits, list};
use crate::web::provider::{Asking, Hit, Provider};

pub(crate) const PROVIDER: Provider = Provider::new("searxng", 50, &["SEARXNG_URL"]).searching(search);

fn search<'a>(
    asking: &'a Asking<'a>,
    query: &'a str,
    limit: usize,
) -> BoxFuture<'a, Result<Vec<Hit>, ToolError>> {
    async move {
        let base = asking.base("SEARXNG_URL", "");
        let url = format!("{base}/search?q={}&format=json&pageno=1", encoded(query));
        let answer = asking.get(url, &[("accept", "application/json".to_owned())]).await?;
        Ok(best(&answer, limit))
    }
    .boxed()
}

/// The best by the engine's own score; equal ones as they came.
fn best(answer: &Value, limit: usize) -> Vec<Hit> {
    let score = |row: &Value| row.get("score").and_then(Value::as_f64).unwrap_or_default();
    let mut rows = list(answer, &["results"]).to_vec();
    rows.sort_by(|a, b| score(b).total_cmp(&score(a)));
    let mut found = hits(&rows, "title", "url", "content");
    found.truncate(limit);
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn the_best_score_comes_first() {
        let answer = json!({ "results": [
            { "title": "b", "url": "https://b.example", "content": "two", "score": 0.5 },
            { "title": "a", "url": "https://a.example", "content": "one", "score": 3.0 },
            { "title": "no address", "content": "x", "score": 9.0 },
        ]});

        let found = super::best(&answer, 5);

        assert_eq!(found.iter().map(|hit| hit.title.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}
