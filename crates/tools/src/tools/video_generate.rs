//! `video_generate`: a film from words, or from words and pictures.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::{Gate, Probe};
use hermes_core::keys::Keys;
use hermes_core::session::Place;
use hermes_core::tool::{Definition, SchemaCx, Tool, ToolDef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::filming::{self, Provider, Wish};
use crate::media::service::{Asking, Choosing, not_made, spends};
use crate::media::source::{Source, as_url};
use crate::toolsets::video_gen;

pub(crate) const TOOL: ToolDef = ToolDef::of::<VideoGenerate>("video_generate", &video_gen::TOOLSET)
    .emoji("🎬")
    .gate(|| Gate::check("video_gen", |probe| async move { ready(probe.as_ref()) }))
    .variables(filming::variables)
    .timeout(Duration::from_mins(17))
    .waits()
    .dynamic(fitted);

/// Largest picture to begin with, and most of them.
const MOST: usize = 20 * 1024 * 1024;
const PICTURES: usize = 7;

/// Make a short video from words, from a picture that begins to move, or with pictures to go by. It takes
/// minutes and costs money. Answers with the address of the video, which passes away after a while.
#[derive(Deserialize, JsonSchema)]
struct VideoGenerate {
    /// What is to be seen: subject, action, surroundings, camera, light, mood
    prompt: String,
    /// The picture that the video begins with: address, path, or data: URL
    image_url: Option<String>,
    /// Pictures to go by, for persons, things or style
    reference_image_urls: Option<Vec<String>>,
    /// How many seconds; models make between 1 and 15 of them
    duration: Option<u32>,
    /// Width to height
    #[serde(default)]
    aspect_ratio: Ratio,
    /// How large
    #[serde(default)]
    resolution: Resolution,
    /// What is not to be seen, for models that take it
    negative_prompt: Option<String>,
    /// Whether it has sound, for models that make some
    audio: Option<bool>,
    /// A number that makes the same video again, for models that take it
    seed: Option<i64>,
    /// The model, where another than the usual one is wanted
    model: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
enum Ratio {
    #[default]
    #[serde(rename = "16:9")]
    Wide,
    #[serde(rename = "9:16")]
    Tall,
    #[serde(rename = "1:1")]
    Square,
    #[serde(rename = "4:3")]
    FourThree,
    #[serde(rename = "3:4")]
    ThreeFour,
    #[serde(rename = "3:2")]
    ThreeTwo,
    #[serde(rename = "2:3")]
    TwoThree,
}

impl Ratio {
    fn word(self) -> &'static str {
        match self {
            Self::Wide => "16:9",
            Self::Tall => "9:16",
            Self::Square => "1:1",
            Self::FourThree => "4:3",
            Self::ThreeFour => "3:4",
            Self::ThreeTwo => "3:2",
            Self::TwoThree => "2:3",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
enum Resolution {
    #[serde(rename = "480p")]
    P480,
    #[serde(rename = "540p")]
    P540,
    #[default]
    #[serde(rename = "720p")]
    P720,
    #[serde(rename = "1080p")]
    P1080,
}

impl Resolution {
    fn word(self) -> &'static str {
        match self {
            Self::P480 => "480p",
            Self::P540 => "540p",
            Self::P720 => "720p",
            Self::P1080 => "1080p",
        }
    }
}

fn ready(probe: &dyn Probe) -> Result<(), String> {
    let (setting, has_key) = (|key: &str| probe.config(key), |name: &str| probe.env(name));
    filming::chosen(&Choosing { setting: &setting, has_key: &has_key }).map(drop)
}

/// Says which model films.
#[expect(clippy::unnecessary_wraps, reason = "a dynamic schema may leave its tool out; this one never does")]
fn fitted(mut definition: Definition, cx: &SchemaCx<'_>) -> Option<Definition> {
    let named = (cx.config)("video_gen.provider").and_then(|value| value.as_str().map(str::to_owned));
    // Without a word of the person it depends on keys, which nobody here knows.
    if named.is_some_and(|name| !name.is_empty()) {
        let (setting, has_key) = (|key: &str| (cx.config)(key), |_: &str| true);
        let choosing = Choosing { setting: &setting, has_key: &has_key };
        if let Ok(provider) = filming::chosen(&choosing) {
            let (name, model) = (provider.name(), provider.model(&choosing));
            definition.description = format!("{} Made by {model} ({name}).", definition.description);
        }
    }
    Some(definition)
}

impl VideoGenerate {
    /// Who films, and with which model.
    fn chosen(&self, keys: &dyn Keys) -> Result<(&'static Provider, String), String> {
        let (setting, has_key) = (|key: &str| keys.setting(key), |name: &str| keys.key(name).is_some());
        let choosing = Choosing { setting: &setting, has_key: &has_key };
        let provider = filming::chosen(&choosing)?;
        let wish = self.model.as_deref().map(str::trim).filter(|model| !model.is_empty());
        Ok((provider, wish.map_or_else(|| provider.model(&choosing), str::to_owned)))
    }

    fn first(&self) -> Option<&str> {
        self.image_url.as_deref().map(str::trim).filter(|url| !url.is_empty())
    }

    fn references(&self) -> Vec<&str> {
        let all = self.reference_image_urls.iter().flatten().map(|url| url.trim());
        all.filter(|url| !url.is_empty()).collect()
    }

    async fn film(&self, cx: &ToolCx, provider: &Provider, model: &str) -> Result<Value, ToolError> {
        let prompt = self.prompt.trim();
        if prompt.is_empty() {
            return Err(ToolError::Arguments("prompt is empty".to_owned()));
        }
        let sources = self.references();
        if sources.len() > PICTURES {
            return Err(ToolError::Arguments(format!("at most {PICTURES} pictures to go by")));
        }
        let first = match self.first() {
            Some(source) => Some(as_url(cx, source, MOST, "image/").await?),
            None => None,
        };
        let mut references = Vec::with_capacity(sources.len());
        for source in sources {
            references.push(as_url(cx, source, MOST, "image/").await?);
        }
        let asking = Asking::new(cx)?;
        let wish = Wish {
            prompt,
            model,
            first: first.as_deref(),
            references: &references,
            duration: self.duration,
            ratio: self.aspect_ratio.word(),
            resolution: self.resolution.word(),
            negative: self.negative_prompt.as_deref(),
            audio: self.audio,
            seed: self.seed,
        };
        let made = provider.film(&asking, &wish).await?;
        let has_pictures = first.is_some() || !references.is_empty();
        Ok(json!({
            "success": true,
            "video": made.url,
            "model": model,
            "prompt": prompt,
            "modality": if has_pictures { "image" } else { "text" },
            "aspect_ratio": self.aspect_ratio.word(),
            "duration": made.duration.map_or_else(|| json!(self.duration), |seconds| json!(seconds)),
            "provider": provider.name(),
        }))
    }
}

impl Tool for VideoGenerate {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        let all = self.first().into_iter().chain(self.references());
        all.flat_map(|source| Source::of(source).effects(place)).collect()
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        let mut effects = self.effects(place);
        let keys = services.service::<Arc<dyn Keys>>();
        if let Some(Ok((provider, model))) = keys.map(|keys| self.chosen(keys.as_ref())) {
            let seconds = self.duration.map(|seconds| format!(" of {seconds} s")).unwrap_or_default();
            let size = self.resolution.word();
            effects.extend(spends(format!("a film{seconds} in {size} by {model} of {}", provider.name())));
        }
        effects
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let made = match self.chosen(cx.keys()?) {
            Ok((provider, model)) => self.film(cx, provider, &model).await,
            Err(why) => Err(ToolError::Failed(why)),
        };
        match made {
            Err(
                wrong @ (ToolError::Failed(_)
                | ToolError::Web(_)
                | ToolError::File(_)
                | ToolError::Arguments(_)),
            ) => Ok(not_made("video", &wrong)),
            other => other,
        }
    }
}
