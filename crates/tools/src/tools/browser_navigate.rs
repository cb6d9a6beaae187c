//! `browser_navigate`: opens a page in the session's browser.

use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Definition, SchemaCx, Tool, ToolDef};
use hermes_core::web::host_in;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::browser::answer::{with_news, with_snapshot};
use crate::browser::capture::Detail;
use crate::browser::{self, opened};
use crate::toolsets::browser as toolset;
use crate::web::address::carries_secret;

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserNavigate>("browser_navigate", &toolset::TOOLSET)
    .emoji("🌐")
    .gate(browser::needs)
    .timeout(Duration::from_mins(4))
    .untrusted()
    .dynamic(beside_readers);

/// Open a page in a real browser, which stays open for the whole session. Comes back with a snapshot of
/// the page: what can be read, and what can be clicked or filled in by its ref (@e1, @e2, …). Must be
/// called before the other browser tools.
#[derive(Deserialize, JsonSchema)]
struct BrowserNavigate {
    /// Address of the page, http or https
    url: String,
}

/// Where a page can be read without a browser, that is said.
#[expect(clippy::unnecessary_wraps, reason = "a dynamic schema may leave its tool out")]
fn beside_readers(mut definition: Definition, cx: &SchemaCx<'_>) -> Option<Definition> {
    let others: Vec<&str> =
        ["web_extract", "web_search"].into_iter().filter(|tool| cx.offers(tool)).collect();
    if !others.is_empty() {
        let words = format!(" To only read or find something, {} is quicker.", others.join(" or "));
        definition.description.push_str(&words);
    }
    Some(definition)
}

impl BrowserNavigate {
    /// The address, with the scheme that people leave out.
    fn address(&self) -> String {
        let url = self.url.trim();
        let bare =
            !url.is_empty() && !url.contains("://") && !url.starts_with("about:") && has_no_scheme(url);
        if bare { format!("https://{url}") } else { url.to_owned() }
    }
}

/// Whether a text begins with a host, not with `file:`, `javascript:` and the like; a port is none of these.
fn has_no_scheme(url: &str) -> bool {
    let Some((_, after)) = url.split_once(':') else { return true };
    after.split(['/', '?', '#']).next().is_some_and(|port| port.parse::<u16>().is_ok())
}

impl Tool for BrowserNavigate {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        let host = host_in(&self.address()).map(Effect::Connect);
        browser::effects().into_iter().chain(host).collect()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let url = self.address();
        if let Some(why) = carries_secret(&url) {
            return Err(ToolError::Failed(why));
        }
        browser::browsers(cx)?.judge(&url)?;
        let browser = opened(cx).await?;
        cx.progress("loading the page");
        let settled = browser.open(&url).await?;
        let answer = json!({ "success": true, "url": url, "title": "" });
        let answer = with_snapshot(cx, &browser, answer, Detail::Compact, "snapshot").await?;
        Ok(with_news(answer, &browser, settled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_that_people_leave_out_is_added() {
        for (url, meant) in [
            ("example.com", "https://example.com"),
            (" example.com:8080/x?y ", "https://example.com:8080/x?y"),
            ("http://example.com", "http://example.com"),
            ("about:blank", "about:blank"),
            ("file:///etc/passwd", "file:///etc/passwd"),
            ("javascript:alert(1)", "javascript:alert(1)"),
            ("data:text/html,x", "data:text/html,x"),
        ] {
            assert_eq!(BrowserNavigate { url: url.to_owned() }.address(), meant, "{url}");
        }
    }
}
