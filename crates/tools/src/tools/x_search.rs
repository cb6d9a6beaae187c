//! `x_search`: what is said on X.

use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::session::Place;
use hermes_core::tool::{MaxSize, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Api, Ask, address, key, needed, set};
use crate::toolsets::x_search;
use crate::xai::{API, LONGEST, SERVICE, Settings, answer, filter};

pub(crate) const TOOL: ToolDef = ToolDef::of::<XSearch>("x_search", &x_search::TOOLSET)
    .emoji("🐦")
    .requires_env(&["XAI_API_KEY"])
    .gate(|| Gate::env("XAI_API_KEY"))
    .max_result(MaxSize::Chars(100_000))
    .timeout(Duration::from_secs(4 * LONGEST))
    .untrusted()
    .read_only();

/// Search posts, people and threads on X. Another model searches and answers in words, with the posts it
/// rests on; `degraded` says that nothing was cited for the filters that were given, so the answer may be
/// made up.
#[derive(Deserialize, JsonSchema)]
struct XSearch {
    /// What to find out, in plain words
    query: String,
    /// Only posts of these people, at most 10; not together with excluded ones
    allowed_x_handles: Option<Vec<String>>,
    /// No posts of these people, at most 10
    excluded_x_handles: Option<Vec<String>>,
    /// Only posts from this day on, YYYY-MM-DD
    from_date: Option<String>,
    /// Only posts up to this day, YYYY-MM-DD
    to_date: Option<String>,
    /// Look at pictures in posts too
    #[serde(default)]
    enable_image_understanding: bool,
    /// Look at videos in posts too
    #[serde(default)]
    enable_video_understanding: bool,
}

impl Tool for XSearch {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![SERVICE.connects()]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let query = needed(Some(&self.query), "query", "a search")?.to_owned();
        let (search, is_filtered) = self.search()?;
        let keys = cx.keys()?;
        let settings = Settings::read(keys);
        let api =
            Api::new(cx, &SERVICE, &address(keys, "XAI_BASE_URL", API))?.bearer(&key(keys, "XAI_API_KEY")?);
        let body = json!({
            "model": settings.model,
            "input": [{ "role": "user", "content": query }],
            "tools": [search],
            "store": false,
        });
        let ask = Ask::post(&["responses"]).json(body).timeout(settings.timeout).retries(settings.retries);
        let response = api.ask(ask).await?;
        if let Some(why) = answer::trouble(&response) {
            return Err(ToolError::Failed(format!("xAI could not answer: {why}")));
        }
        Ok(told(&query, &settings.model, &response, is_filtered))
    }
}

impl XSearch {
    /// The search as xAI describes it, and whether it leaves posts out.
    fn search(&self) -> Result<(Value, bool), ToolError> {
        let allowed = filter::handles(self.allowed_x_handles.as_deref(), "allowed_x_handles")?;
        let excluded = filter::handles(self.excluded_x_handles.as_deref(), "excluded_x_handles")?;
        if !allowed.is_empty() && !excluded.is_empty() {
            let why = "give either allowed_x_handles or excluded_x_handles";
            return Err(ToolError::Arguments(why.to_owned()));
        }
        let (from, to) = filter::days(self.from_date.as_deref(), self.to_date.as_deref())?;
        let is_filtered = !allowed.is_empty() || !excluded.is_empty() || from.is_some() || to.is_some();
        let mut search = json!({ "type": "x_search" });
        for (name, list) in [("allowed_x_handles", allowed), ("excluded_x_handles", excluded)] {
            if !list.is_empty() {
                set(&mut search, name, json!(list));
            }
        }
        for (name, day) in [("from_date", from), ("to_date", to)] {
            if let Some(day) = day {
                set(&mut search, name, json!(day));
            }
        }
        let looks = [
            ("enable_image_understanding", self.enable_image_understanding),
            ("enable_video_understanding", self.enable_video_understanding),
        ];
        for (name, _) in looks.into_iter().filter(|(_, wanted)| *wanted) {
            set(&mut search, name, json!(true));
        }
        Ok((search, is_filtered))
    }
}

fn told(query: &str, model: &str, response: &Value, is_filtered: bool) -> Value {
    let answer = answer::read(response);
    let degraded = is_filtered && answer.citations.is_empty();
    let reason =
        degraded.then_some("no post that fits the filters was cited; the answer may rest on nothing");
    json!({
        "success": true,
        "provider": "xai",
        "credential_source": "XAI_API_KEY",
        "tool": "x_search",
        "model": model,
        "query": query,
        "answer": answer.text,
        "citations": answer.citations,
        "inline_citations": answer.inline,
        "degraded": degraded,
        "degraded_reason": reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(arguments: Value) -> Result<(Value, bool), String> {
        let tool: XSearch = serde_json::from_value(arguments).unwrap();
        tool.search().map_err(|why| why.to_string())
    }

    #[test]
    fn only_what_was_wished_for_is_asked() {
        assert_eq!(search(json!({ "query": "q" })).unwrap(), (json!({ "type": "x_search" }), false));
        assert_eq!(
            search(json!({ "query": "q", "allowed_x_handles": ["@a"], "from_date": "2026-01-01", "enable_video_understanding": true }))
                .unwrap(),
            (
                json!({ "type": "x_search", "allowed_x_handles": ["a"], "from_date": "2026-01-01", "enable_video_understanding": true }),
                true
            )
        );
        let both = json!({ "query": "q", "allowed_x_handles": ["a"], "excluded_x_handles": ["b"] });
        assert!(search(both).unwrap_err().contains("either"));
    }

    #[test]
    fn an_answer_without_posts_is_degraded_only_where_posts_were_chosen() {
        let response = json!({ "output": [{ "type": "message", "content": [{ "type": "output_text", "text": "Hm." }] }] });

        assert_eq!(told("q", "m", &response, true)["degraded"], true);
        assert_eq!(told("q", "m", &response, false)["degraded"], false);
        assert_eq!(told("q", "m", &response, false)["degraded_reason"], Value::Null);
    }
}
