//! `image_generate`: a picture from words, or from words and pictures.

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

use crate::drawing::{self, Image, Provider, Shape, Wish};
use crate::hash::sha256_hex;
use crate::media::service::{Asking, Choosing, not_made, spends};
use crate::media::source::{Source, data_url};
use crate::media::{ending, kind_of, shelf};
use crate::toolsets::image_gen;

pub(crate) const TOOL: ToolDef = ToolDef::of::<ImageGenerate>("image_generate", &image_gen::TOOLSET)
    .emoji("🎨")
    .gate(|| Gate::check("image_gen", |probe| async move { ready(probe.as_ref()) }))
    .variables(drawing::variables)
    .timeout(Duration::from_mins(7))
    .waits()
    .dynamic(fitted);

/// Largest picture to begin with.
const MOST: usize = 20 * 1024 * 1024;

/// Most pictures to begin with.
const PICTURES: usize = 8;

/// Make a picture from words. With a picture to begin with, that one is changed as the words say. Answers with
/// the address or the path of the picture; show it to the person as a markdown image.
#[derive(Deserialize, JsonSchema)]
struct ImageGenerate {
    /// What is to be seen, in detail: subject, style, light, colours, composition
    prompt: String,
    /// The shape of the picture
    #[serde(default)]
    aspect_ratio: AspectRatio,
    /// A picture to begin with: address, path, or data: URL
    image_url: Option<String>,
    /// More pictures to go by, for style or content
    reference_image_urls: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AspectRatio {
    #[default]
    Landscape,
    Square,
    Portrait,
}

impl AspectRatio {
    fn shape(self) -> Shape {
        match self {
            Self::Landscape => Shape::Landscape,
            Self::Square => Shape::Square,
            Self::Portrait => Shape::Portrait,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Landscape => "landscape",
            Self::Square => "square",
            Self::Portrait => "portrait",
        }
    }
}

/// Who draws, and with which model.
fn chosen(keys: &dyn Keys) -> Result<(&'static Provider, String), String> {
    let (setting, has_key) = (|key: &str| keys.setting(key), |name: &str| keys.key(name).is_some());
    let choosing = Choosing { setting: &setting, has_key: &has_key };
    let provider = drawing::chosen(&choosing)?;
    Ok((provider, provider.model(&choosing)))
}

fn ready(probe: &dyn Probe) -> Result<(), String> {
    let (setting, has_key) = (|key: &str| probe.config(key), |name: &str| probe.env(name));
    let provider = drawing::chosen(&Choosing { setting: &setting, has_key: &has_key })?;
    match provider.login().filter(|login| !probe.login(login)) {
        Some(login) => Err(format!("{} needs a login for {login} in auth.json", provider.name())),
        None => Ok(()),
    }
}

/// Says which model draws.
#[expect(clippy::unnecessary_wraps, reason = "a dynamic schema may leave its tool out; this one never does")]
fn fitted(mut definition: Definition, cx: &SchemaCx<'_>) -> Option<Definition> {
    let (setting, has_key) = (|key: &str| (cx.config)(key), |_: &str| true);
    let choosing = Choosing { setting: &setting, has_key: &has_key };
    if let Ok(provider) = drawing::chosen(&choosing) {
        let (name, model) = (provider.name(), provider.model(&choosing));
        definition.description = format!("{} Drawn by {model} ({name}).", definition.description);
    }
    Some(definition)
}

impl ImageGenerate {
    fn sources(&self) -> Vec<&str> {
        let more = self.reference_image_urls.iter().flatten();
        self.image_url.iter().chain(more).map(|url| url.trim()).filter(|url| !url.is_empty()).collect()
    }

    async fn draw(&self, cx: &ToolCx, provider: &Provider, model: &str) -> Result<Value, ToolError> {
        let prompt = self.prompt.trim();
        if prompt.is_empty() {
            return Err(ToolError::Arguments("prompt is empty".to_owned()));
        }
        let sources = self.sources();
        if sources.len() > PICTURES {
            return Err(ToolError::Arguments(format!("at most {PICTURES} pictures to begin with")));
        }
        let mut pictures = Vec::with_capacity(sources.len());
        for source in &sources {
            pictures.push(picture(cx, source).await?);
        }
        let asking = Asking::new(cx)?;
        cx.progress(&format!("{model} draws"));
        let wish = Wish { prompt, shape: self.aspect_ratio.shape(), pictures: &pictures, model };
        let image = match provider.draw(&asking, &wish).await? {
            Image::Url(url) => url,
            Image::Bytes(bytes) => kept(cx, bytes).await?,
        };
        Ok(json!({
            "success": true,
            "image": image,
            "modality": if pictures.is_empty() { "text" } else { "image" },
            "model": model,
            "prompt": prompt,
            "aspect_ratio": self.aspect_ratio.word(),
            "provider": provider.name(),
        }))
    }
}

/// A picture to begin with, as what it holds: what it is was looked at here, whoever serves it.
async fn picture(cx: &ToolCx, source: &str) -> Result<String, ToolError> {
    let found = Source::of(source).load(cx, MOST).await?;
    let kind = found.media_type.filter(|kind| kind.starts_with("image/"));
    let kind = kind.ok_or_else(|| ToolError::Failed(format!("{} is no picture", found.name)))?;
    Ok(data_url(kind, &found.bytes))
}

async fn kept(cx: &ToolCx, bytes: Vec<u8>) -> Result<String, ToolError> {
    let kind = kind_of(&bytes).filter(|kind| kind.starts_with("image/"));
    let kind = kind.ok_or_else(|| ToolError::Failed("what the service made is no picture".to_owned()))?;
    let digest: String = sha256_hex(&[&bytes]).chars().take(16).collect();
    let path = shelf::keep(cx, "images", &format!("image_{digest}.{}", ending(kind)), bytes).await?;
    Ok(path.to_string_lossy().into_owned())
}

impl Tool for ImageGenerate {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        self.sources().into_iter().flat_map(|source| Source::of(source).effects(place)).collect()
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        let mut effects = self.effects(place);
        let keys = services.service::<Arc<dyn Keys>>();
        if let Some(Ok((provider, model))) = keys.map(|keys| chosen(keys.as_ref())) {
            effects.push(shelf::effect(services, place, "images"));
            effects.extend(spends(format!("a picture by {model} of {}", provider.name())));
        }
        effects
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let drawn = match chosen(cx.keys()?) {
            Ok((provider, model)) => self.draw(cx, provider, &model).await,
            Err(why) => Err(ToolError::Failed(why)),
        };
        match drawn {
            Err(
                wrong @ (ToolError::Failed(_)
                | ToolError::Web(_)
                | ToolError::File(_)
                | ToolError::Arguments(_)),
            ) => Ok(not_made("image", &wrong)),
            other => other,
        }
    }
}
