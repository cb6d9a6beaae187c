//! Pictures that are made: who draws for `image_generate`.
//!
//! A provider is a file in `providers/`. It gets words and perhaps pictures to begin with, and hands back
//! the address of a picture or the picture itself.

mod codex;
mod providers;

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::Value;

use crate::media::service::{Asking, Choosing, at};

/// Somebody who draws.
#[derive(Clone, Copy)]
pub(crate) struct Provider {
    name: &'static str,
    keys: &'static [&'static str],
    model: &'static str,
    /// A login that it needs, where it is not paid for by a key.
    login: Option<&'static str>,
    draw: Draw,
}

/// Draws.
type Draw = for<'a> fn(&'a Asking<'a>, &'a Wish<'a>) -> BoxFuture<'a, Result<Image, ToolError>>;

/// What is wanted.
pub(crate) struct Wish<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) shape: Shape,
    /// Pictures to begin with, as addresses or `data:` URLs.
    pub(crate) pictures: &'a [String],
    pub(crate) model: &'a str,
}

/// The shape of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Landscape,
    Square,
    Portrait,
}

impl Shape {
    /// As width to height.
    pub(crate) fn ratio(self) -> &'static str {
        match self {
            Self::Landscape => "16:9",
            Self::Square => "1:1",
            Self::Portrait => "9:16",
        }
    }

    /// In dots, as the models of `OpenAI` take it.
    pub(crate) fn dots(self) -> (u32, u32) {
        match self {
            Self::Landscape => (1536, 1024),
            Self::Square => (1024, 1024),
            Self::Portrait => (1024, 1536),
        }
    }
}

/// A picture that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Image {
    /// Where it is.
    Url(String),
    /// The picture itself.
    Bytes(Vec<u8>),
}

impl Provider {
    pub(crate) const fn new(
        name: &'static str,
        keys: &'static [&'static str],
        model: &'static str,
        draw: Draw,
    ) -> Self {
        Self { name, keys, model, login: None, draw }
    }

    /// It needs this login.
    pub(crate) const fn logged_in(mut self, login: &'static str) -> Self {
        self.login = Some(login);
        self
    }

    pub(crate) fn login(&self) -> Option<&'static str> {
        self.login
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// The model that the settings name, else its usual one.
    pub(crate) fn model(&self, choosing: &Choosing<'_>) -> String {
        let own = choosing.text(&format!("image_gen.{}.model", self.name));
        own.or_else(|| choosing.text("image_gen.model")).unwrap_or_else(|| self.model.to_owned())
    }

    pub(crate) async fn draw(&self, asking: &Asking<'_>, wish: &Wish<'_>) -> Result<Image, ToolError> {
        (self.draw)(asking, wish).await
    }
}

/// The variables of those who draw.
pub(crate) fn variables() -> Vec<&'static str> {
    providers::PROVIDERS.iter().flat_map(|provider| provider.keys).copied().collect()
}

/// Who draws by these settings.
pub(crate) fn chosen(choosing: &Choosing<'_>) -> Result<&'static Provider, String> {
    choosing.among("image_gen", providers::PROVIDERS, |provider| (provider.name, provider.keys), "fal")
}

/// The first picture of an answer in the words of `OpenAI`.
pub(crate) fn first_image(answer: &Value) -> Result<Image, ToolError> {
    use base64::Engine as _;
    let first = at(answer, "/data/0");
    if let Some(text) = at(first, "/b64_json").as_str() {
        let decoded = base64::engine::general_purpose::STANDARD.decode(text);
        return decoded
            .map(Image::Bytes)
            .map_err(|wrong| ToolError::Failed(format!("the picture cannot be read: {wrong}")));
    }
    at(first, "/url").as_str().map(|url| Image::Url(url.to_owned())).ok_or_else(no_image)
}

pub(crate) fn no_image() -> ToolError {
    ToolError::Failed("the service made no picture".to_owned())
}
