//! Wikipedia: an encyclopedia and not the web, but it needs no key and welcomes programs.

use futures::future::{BoxFuture, FutureExt as _};
use hermes_core::error::ToolError;
use serde_json::Value;

use crate::web::answers::{encoded, list, text};
use crate::web::provider::{Asking, Hit, Provider};

pub(crate) const PROVIDER: Provider = Provider::new("wikipedia", 200, &[]).searching(search);

const MOST: usize = 50;

fn search<'a>(
    asking: &'a Asking<'a>,
    query: &'a str,
    limit: usize,
) -> BoxFuture<'a, Result<Vec<Hit>, ToolError>> {
    async move {
        let base = asking.base("WIKIPEDIA_BASE_URL", "https://en.wikipedia.org");
        let url = format!(
            "{base}/w/api.php?action=query&list=search&format=json&srlimit={}&srsearch={}",
            limit.min(MOST),
            encoded(query)
        );
        let answer = asking.get(url, &[]).await?;
        Ok(list(&answer, &["query", "search"]).iter().map(|row| hit(&base, row)).collect())
    }
    .boxed()
}

fn hit(base: &str, row: &Value) -> Hit {
    let title = text(row, &["title"]);
    let url = format!("{base}/wiki/{}", encoded(&title.replace(' ', "_")));
    Hit { url, description: without_marks(&text(row, &["snippet"])), title }
}

/// The words that were found are marked up; the marks are of no use here.
fn without_marks(snippet: &str) -> String {
    let mut plain = String::with_capacity(snippet.len());
    let mut inside = false;
    for c in snippet.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => inside = false,
            _ if !inside => plain.push(c),
            _ => {}
        }
    }
    plain
        .replace("&quot;", "\"")
        .replace("&#039;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn an_article_has_an_address_and_a_plain_description() {
        let row = json!({
            "title": "Rust (programming language)",
            "snippet": "<span class=\"searchmatch\">Rust</span> is &quot;fast&quot; &amp; safe",
        });

        let hit = super::hit("https://en.wikipedia.org", &row);

        assert_eq!(hit.url, "https://en.wikipedia.org/wiki/Rust_%28programming_language%29");
        assert_eq!(hit.description, "Rust is \"fast\" & safe");
    }
}
