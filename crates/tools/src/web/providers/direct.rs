//! Ourselves: pages are fetched from here and turned into text. Needs no key.

use futures::future::{BoxFuture, FutureExt as _};
use hermes_core::error::ToolError;
use hermes_core::host::blocking;
use hermes_core::web::{Reach, WebRequest};

use crate::web::page::{self, Fetched};
use crate::web::provider::{Asking, Extracted, Provider};

pub(crate) const PROVIDER: Provider = Provider::new("direct", 100, &[]).extracting(extract);

/// What we can make text of, best first.
const ACCEPT: &str = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,application/pdf;q=0.8,\
    application/rss+xml,application/atom+xml,application/json;q=0.7,*/*;q=0.1";

fn extract<'a>(asking: &'a Asking<'a>, url: &'a str) -> BoxFuture<'a, Result<Extracted, ToolError>> {
    async move {
        let request = WebRequest::get(url, Reach::Open)
            .header("accept", ACCEPT)
            .header("accept-encoding", "gzip")
            .header("accept-language", "en;q=0.9,*;q=0.5");
        let reply = asking.web.fetch(request).await?;
        if !reply.is_ok() {
            return Err(ToolError::Failed(format!("the server answered {}", reply.status)));
        }
        let kind = reply.header("content-type").unwrap_or_default().to_owned();
        let from = reply.url.clone();
        let fetched = Fetched { url: from.clone(), kind, body: reply.body, cut: reply.cut };
        // Reading a page takes milliseconds of plain work, which is not for the threads that wait.
        let page = blocking(asking.cx.host(), move || page::text(fetched)).await;
        let page = page.map_err(|lost| ToolError::Broken(lost.to_string()))?.map_err(ToolError::Failed)?;
        Ok(Extracted { url: from, title: page.title, text: page.text })
    }
    .boxed()
}
