//! `spotify_search`: finds music on Spotify.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::{Ask, Plan, needed};
use crate::spotify::{self as lib, SERVICE};
use crate::toolsets::spotify;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Search>("spotify_search", &spotify::TOOLSET)
    .emoji("🔎")
    .gate(lib::gate)
    .variables(lib::variables)
    .untrusted()
    .read_only();

/// What can be looked for.
const KINDS: [&str; 7] = ["album", "artist", "playlist", "track", "show", "episode", "audiobook"];

/// Most hits of each kind; more is refused to most applications.
const MOST: u32 = 10;

/// Search Spotify for tracks, albums, artists, playlists, shows, episodes or audiobooks. The query may
/// use fields: artist:, album:, track:, year:1990-1999, genre:, isrc:.
#[derive(Deserialize, JsonSchema)]
struct Search {
    /// What to look for
    query: String,
    /// Kinds to look for; tracks if left out
    types: Option<Vec<String>>,
    /// One kind to look for, or several with commas between them
    r#type: Option<String>,
    /// Most hits of each kind, up to 10
    limit: Option<u32>,
    /// How many hits to skip
    offset: Option<u32>,
    /// Country whose catalogue counts, in two letters
    market: Option<String>,
    /// `audio` to say that the client can play what is hosted elsewhere
    include_external: Option<String>,
}

impl Tool for Search {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.plan())
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        lib::run(cx, self.plan(), "search").await
    }
}

impl Search {
    fn plan(&self) -> Result<Plan, ToolError> {
        let query = needed(Some(&self.query), "query", "a search")?;
        let listed = self.types.iter().flatten().map(String::as_str).chain(self.r#type.as_deref());
        let mut kinds: Vec<String> = Vec::new();
        for word in listed.flat_map(|words| words.split(',')).map(str::trim).filter(|word| !word.is_empty()) {
            let kind = word.to_lowercase();
            let kind = kind.strip_suffix('s').unwrap_or(&kind).to_owned();
            if !KINDS.contains(&kind.as_str()) {
                return Err(ToolError::Arguments(format!("{word:?} is none of {}", KINDS.join(", "))));
            }
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if kinds.is_empty() {
            kinds.push("track".to_owned());
        }
        let ask = Ask::get(&["search"])
            .query("q", Some(query))
            .query("type", Some(kinds.join(",")))
            .query("limit", self.limit.map(|limit| limit.clamp(1, MOST)))
            .query("offset", self.offset)
            .query("market", self.market.as_deref())
            .query("include_external", self.include_external.as_deref());
        Ok(Plan::look(ask))
    }
}
