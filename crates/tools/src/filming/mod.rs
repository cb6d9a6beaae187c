//! Films that are made: who films for `video_generate`, and what xAI does with films that there are.
//!
//! A provider is a file in `providers/`. It gets words and perhaps pictures to begin with, and hands back
//! the address of a film, which services keep for a while.

mod providers;
pub(crate) mod xai;

use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::error::ToolError;

use crate::media::service::{Asking, Choosing};

/// How long a film may take.
pub(crate) const PATIENCE: Duration = Duration::from_mins(15);

/// Somebody who films.
#[derive(Clone, Copy)]
pub(crate) struct Provider {
    name: &'static str,
    keys: &'static [&'static str],
    model: &'static str,
    film: Film,
}

/// Films.
type Film = for<'a> fn(&'a Asking<'a>, &'a Wish<'a>) -> BoxFuture<'a, Result<Made, ToolError>>;

/// What is wanted.
pub(crate) struct Wish<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) model: &'a str,
    /// The picture that the film begins with.
    pub(crate) first: Option<&'a str>,
    /// Pictures to go by.
    pub(crate) references: &'a [String],
    /// In seconds.
    pub(crate) duration: Option<u32>,
    pub(crate) ratio: &'a str,
    pub(crate) resolution: &'a str,
    pub(crate) negative: Option<&'a str>,
    pub(crate) audio: Option<bool>,
    pub(crate) seed: Option<i64>,
}

/// A film that was made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Made {
    /// Where it is.
    pub(crate) url: String,
    /// How long it is, in seconds, where the service says so.
    pub(crate) duration: Option<f64>,
}

impl Provider {
    pub(crate) const fn new(
        name: &'static str,
        keys: &'static [&'static str],
        model: &'static str,
        film: Film,
    ) -> Self {
        Self { name, keys, model, film }
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// The model that the settings name, else its usual one.
    pub(crate) fn model(&self, choosing: &Choosing<'_>) -> String {
        let own = choosing.text(&format!("video_gen.{}.model", self.name));
        own.or_else(|| choosing.text("video_gen.model")).unwrap_or_else(|| self.model.to_owned())
    }

    pub(crate) async fn film(&self, asking: &Asking<'_>, wish: &Wish<'_>) -> Result<Made, ToolError> {
        (self.film)(asking, wish).await
    }
}

/// The variables of those who film.
pub(crate) fn variables() -> Vec<&'static str> {
    providers::PROVIDERS.iter().flat_map(|provider| provider.keys).copied().collect()
}

/// Who films by these settings: the one that they name, else whoever has a key.
pub(crate) fn chosen(choosing: &Choosing<'_>) -> Result<&'static Provider, String> {
    let usual = [("FAL_KEY", "fal"), ("XAI_API_KEY", "xai"), ("DEEPINFRA_API_KEY", "deepinfra")];
    let usual = usual.iter().find(|(key, _)| (choosing.has_key)(key)).map_or("fal", |(_, name)| name);
    choosing.among("video_gen", providers::PROVIDERS, |provider| (provider.name, provider.keys), usual)
}
