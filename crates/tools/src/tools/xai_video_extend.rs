//! `xai_video_extend`: a film that goes on.

use std::time::Duration;

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::gate::Gate;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::filming::xai::{Change, KEYS, ready};
use crate::toolsets::video_gen;

pub(crate) const TOOL: ToolDef = ToolDef::of::<XaiVideoExtend>("xai_video_extend", &video_gen::TOOLSET)
    .emoji("video")
    .gate(|| Gate::check("xai_video", |probe| async move { ready(probe.as_ref()) }))
    .variables(|| KEYS.to_vec())
    .timeout(Duration::from_mins(17))
    .waits();

/// Let a video go on from its last picture. The video has 2 to 15 seconds; MP4. Answers with the address of the
/// whole, old and new, which passes away after a while.
#[derive(Deserialize, JsonSchema)]
struct XaiVideoExtend {
    /// What happens next
    prompt: String,
    /// The video: http(s) address, path, or data: URL
    video_url: String,
    /// How many seconds are added, 2 to 10; 6 if left out
    duration: Option<u32>,
    /// The model, where another than the usual one is wanted
    model: Option<String>,
}

impl XaiVideoExtend {
    fn change(&self) -> Change<'_> {
        let (prompt, video, model) = (self.prompt.as_str(), self.video_url.as_str(), self.model.as_deref());
        Change { what: "extensions", prompt, video, model, duration: self.duration }
    }
}

impl Tool for XaiVideoExtend {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        self.change().effects(place, services)
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        self.change().make(cx).await
    }
}
