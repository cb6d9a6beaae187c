//! `web_extract`: pages of the web as text.

use futures::future::join_all;
use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{MaxSize, Tool, ToolDef};
use hermes_core::web::{WebError, host_in};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::toolsets::web;
use crate::web::address::carries_secret;
use crate::web::provider::{Asking, Extract, Extracted, Job, SERVICE, choose, variables};
use crate::web::{KEYS, excerpt};

pub(crate) const TOOL: ToolDef = ToolDef::of::<WebExtract>("web_extract", &web::TOOLSET)
    .emoji("📄")
    .requires_env(KEYS)
    .variables(|| variables(Job::Extract))
    .max_result(MaxSize::Chars(100_000))
    .untrusted()
    .read_only();

/// Characters of one page, if nothing is said about it; the fewest, and the most.
const CHARS: (usize, usize, usize) = (15_000, 2_000, 500_000);

/// Longest text that is kept of a page.
const MAX_KEPT: usize = 2_000_000;

/// Read pages of the web as markdown: articles, documentation, feeds, PDF files, plain text. A page that
/// is longer than the limit is shown by its beginning and end, and the whole of it is kept in a file.
#[derive(Deserialize, JsonSchema)]
struct WebExtract {
    /// Addresses of the pages, http or https, at most 5
    #[schemars(length(max = 5))]
    urls: Vec<String>,
    /// Most characters of each page
    #[schemars(range(min = 2000))]
    char_limit: Option<u32>,
}

impl Tool for WebExtract {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        let hosts = self.urls.iter().filter_map(|url| host_in(url));
        hosts.chain([SERVICE.to_owned()]).map(Effect::Connect).collect()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        if self.urls.is_empty() {
            return Err(ToolError::Arguments("urls is empty".to_owned()));
        }
        let asking = Asking::new(cx)?;
        let (usual, least, most) = CHARS;
        let set = asking.keys.setting("web.char_limit").and_then(|value| value.as_u64());
        let wanted = self.char_limit.map(u64::from).or(set);
        let budget =
            wanted.map_or(usual, |wanted| usize::try_from(wanted).unwrap_or(most)).clamp(least, most);
        let provider = choose(Job::Extract, asking.keys)?;
        let Some(extract) = provider.extract() else {
            return Err(ToolError::Failed(format!("{} does not read pages", provider.name())));
        };
        let pages = self.urls.iter().enumerate().map(|(at, url)| one(&asking, extract, (at, url), budget));
        Ok(json!({ "results": join_all(pages).await }))
    }
}

/// One page; what is wrong with it is told in its place.
async fn one(asking: &Asking<'_>, extract: Extract, (at, url): (usize, &str), budget: usize) -> Value {
    let url = url.trim();
    if let Some(why) = carries_secret(url) {
        return json!({ "url": url, "title": "", "content": "", "error": why, "blocked_by_policy": true });
    }
    match read(asking, extract, url).await {
        Ok(page) => shown(asking, at, url, page, budget).await,
        Err(error) => failed(url, &error),
    }
}

/// The page, if neither its address nor where it was found in the end is closed to us. Whoever reads it:
/// a provider must not be a way around the rules.
async fn read(asking: &Asking<'_>, extract: Extract, url: &str) -> Result<Extracted, ToolError> {
    asking.web.judge(url)?;
    let mut page = extract(asking, url).await?;
    page.text = excerpt::without_inline_pictures(&page.text);
    if page.url != url && !page.url.is_empty() {
        asking.web.judge(&page.url)?;
    }
    Ok(page)
}

fn failed(url: &str, error: &ToolError) -> Value {
    let mut row = json!({ "url": url, "title": "", "content": "", "error": error.to_string() });
    if let (ToolError::Web(WebError::Refused { .. }), Some(fields)) = (error, row.as_object_mut()) {
        fields.insert("blocked_by_policy".to_owned(), true.into());
    }
    row
}

async fn shown(asking: &Asking<'_>, at: usize, url: &str, page: Extracted, budget: usize) -> Value {
    let excerpt = excerpt::of(&page.text, budget);
    let mut content = excerpt.text;
    if let Some((missing, line)) = excerpt.left_out {
        let whole: String = page.text.chars().take(MAX_KEPT).collect();
        let kept = asking.cx.keep(&format!("page{at}"), whole).await;
        let note = match kept {
            Some(path) => {
                format!(
                    "{missing} characters are left out; the whole text is in {}, go on from line {line}",
                    path.display()
                )
            }
            None => format!("{missing} characters are left out"),
        };
        content = format!("{content}\n\n[{note}]");
    }
    let mut row = json!({ "url": url, "title": page.title, "content": content, "error": null });
    if page.url != url
        && !page.url.is_empty()
        && let Some(fields) = row.as_object_mut()
    {
        fields.insert("final_url".to_owned(), page.url.into());
    }
    row
}
