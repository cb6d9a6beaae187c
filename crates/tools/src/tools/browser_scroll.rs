//! `browser_scroll`: scrolls the page.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::browser::answer::{with, with_news};
use crate::browser::page::Settled;
use crate::browser::{self, current};
use crate::toolsets::browser as toolset;

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserScroll>("browser_scroll", &toolset::TOOLSET)
    .emoji("📜")
    .gate(browser::needs)
    .untrusted();

/// How far, in dots.
const STEP: i32 = 500;

/// Scrolls the page by so much, or where it does not scroll the largest part of it that does; says how
/// far it is and how far it goes.
const SCROLL: &str = r"(() => {
    const by = STEP;
    const page = document.scrollingElement || document.documentElement;
    const size = (it) => it.clientWidth * it.clientHeight;
    const moves = (it) => it.scrollHeight > it.clientHeight + 1
        && /(auto|scroll|overlay)/.test(getComputedStyle(it).overflowY);
    let it = page;
    if (page.scrollHeight <= innerHeight + 1) {
        const inner = [...document.querySelectorAll('*')].filter(moves);
        it = inner.sort((a, b) => size(b) - size(a))[0] || page;
    }
    it.scrollBy({ top: by, behavior: 'instant' });
    return { y: Math.round(it.scrollTop), end: Math.max(0, it.scrollHeight - it.clientHeight) };
})()";

/// Scroll the page up or down by half a screen, to reach what is loaded only when it comes into view.
#[derive(Deserialize, JsonSchema)]
struct BrowserScroll {
    /// Which way
    direction: Direction,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Direction {
    Up,
    Down,
}

impl Tool for BrowserScroll {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        browser::effects()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let browser = current(cx).await?;
        let page = browser.page()?;
        let (word, step) = match self.direction {
            Direction::Up => ("up", -STEP),
            Direction::Down => ("down", STEP),
        };
        let position = browser.evaluate(&page.session, &SCROLL.replace("STEP", &step.to_string())).await?;
        let answer = with(json!({ "success": true, "scrolled": word }), "position", position);
        Ok(with_news(answer, &browser, Settled::Done))
    }
}
