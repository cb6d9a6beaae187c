//! `web_search`: what the web knows about something.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{MaxSize, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::toolsets::web;
use crate::web::KEYS;
use crate::web::provider::{Asking, Hit, Job, SERVICE, choose, variables};

pub(crate) const TOOL: ToolDef = ToolDef::of::<WebSearch>("web_search", &web::TOOLSET)
    .emoji("🔍")
    .requires_env(KEYS)
    .variables(|| variables(Job::Search))
    .max_result(MaxSize::Chars(100_000))
    .untrusted()
    .read_only();

/// Search the web. Returns titles, addresses and descriptions; read a page with `web_extract`.
#[derive(Deserialize, JsonSchema)]
struct WebSearch {
    /// What to look for, in the words a good page would use
    query: String,
    /// Most results to return
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
}

fn five() -> u32 {
    5
}

impl Tool for WebSearch {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::Connect(SERVICE.to_owned())]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let query = self.query.trim();
        if query.is_empty() {
            return Err(ToolError::Arguments("query is empty".to_owned()));
        }
        let limit = self.limit.clamp(1, 100) as usize;
        let asking = Asking::new(cx)?;
        let provider = choose(Job::Search, asking.keys)?;
        let Some(search) = provider.search() else {
            return Err(ToolError::Failed(format!("{} does not search", provider.name())));
        };
        let mut hits = search(&asking, query, limit).await?;
        hits.truncate(limit);
        let found: Vec<Value> = hits.iter().zip(1..).map(row).collect();
        Ok(json!({ "success": true, "provider": provider.name(), "data": { "web": found } }))
    }
}

fn row((hit, position): (&Hit, usize)) -> Value {
    json!({ "title": hit.title, "url": hit.url, "description": hit.description, "position": position })
}
