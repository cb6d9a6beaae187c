//! `browser_get_images`: the pictures of the page.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::browser::answer::with_news;
use crate::browser::page::Settled;
use crate::browser::{self, current};
use crate::toolsets::browser as toolset;

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserGetImages>("browser_get_images", &toolset::TOOLSET)
    .emoji("🖼️")
    .gate(browser::needs)
    .untrusted()
    .read_only();

/// Most pictures that are listed.
const MOST: usize = 200;

/// The pictures of a document and of the frames that it may look into. One that is written out in the
/// page itself is named by its beginning.
const IMAGES: &str = r"(() => {
    const all = [];
    const look = (page) => {
        for (const it of page.images) {
            const src = it.currentSrc || it.src;
            if (!src) continue;
            all.push({ src: src.startsWith('data:') ? src.slice(0, 64) : src, alt: it.alt || '',
                       width: it.naturalWidth || it.width, height: it.naturalHeight || it.height });
        }
        for (const frame of page.querySelectorAll('iframe, frame')) {
            try { if (frame.contentDocument) look(frame.contentDocument); } catch { }
        }
    };
    look(document);
    return all;
})()";

/// List the pictures of the page that is open: where each is, its text for those who cannot see it, and
/// its size. The addresses can be handed to tools that look at pictures.
#[derive(Deserialize, JsonSchema)]
struct BrowserGetImages {}

impl Tool for BrowserGetImages {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        browser::effects()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let browser = current(cx).await?;
        let page = browser.page()?;
        let apart = page.apart.iter().map(|frame| frame.session.as_str());
        let mut images: Vec<Value> = Vec::new();
        for session in std::iter::once(page.session.as_str()).chain(apart) {
            match browser.evaluate(session, IMAGES).await {
                Ok(Value::Array(more)) => images.extend(more),
                Err(wrong) if session == page.session => return Err(wrong),
                // A frame that went away has no pictures.
                _ => {}
            }
        }
        if images.len() > MOST {
            images.truncate(MOST);
        }
        let count = images.len();
        let answer = json!({ "success": true, "images": images, "count": count });
        Ok(with_news(answer, &browser, Settled::Done))
    }
}
