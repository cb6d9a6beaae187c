//! `spotify_albums`: an album, and what is on it.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::{Ask, Plan, needed};
use crate::spotify::{self as lib, SERVICE, names};
use crate::toolsets::spotify;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Albums>("spotify_albums", &spotify::TOOLSET)
    .emoji("💿")
    .gate(lib::gate)
    .variables(lib::variables)
    .untrusted()
    .read_only();

/// Look at an album on Spotify: who made it and when (get), or the tracks on it, a page at a time (tracks).
#[derive(Deserialize, JsonSchema)]
struct Albums {
    /// What to look at
    action: Action,
    /// The album: its name such as spotify:album:…, a link to it, or its id
    album_id: Option<String>,
    /// The same, if `album_id` is left out
    id: Option<String>,
    /// Country whose catalogue counts, in two letters
    market: Option<String>,
    /// Most tracks to list, up to 50
    limit: Option<u32>,
    /// How many tracks to skip
    offset: Option<u32>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Get,
    Tracks,
}

impl Tool for Albums {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.plan())
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        lib::run(cx, self.plan(), "look").await
    }
}

impl Albums {
    fn plan(&self) -> Result<Plan, ToolError> {
        let album = needed(self.album_id.as_deref().or(self.id.as_deref()), "album_id", "this")?;
        let album = names::id(album, "album")?;
        let ask = match self.action {
            Action::Get => Ask::get(&["albums", &album]),
            Action::Tracks => Ask::get(&["albums", &album, "tracks"])
                .query("limit", lib::page(self.limit))
                .query("offset", self.offset),
        };
        Ok(Plan::look(ask.query("market", self.market.as_deref())))
    }
}
