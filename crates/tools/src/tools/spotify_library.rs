//! `spotify_library`: the tracks and albums that the person has saved.

use hermes_core::cx::ToolCx;
use hermes_core::effect::{ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::{Ask, Plan};
use crate::spotify::{self as lib, SERVICE, names};
use crate::toolsets::spotify;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Library>("spotify_library", &spotify::TOOLSET)
    .emoji("❤️")
    .gate(lib::gate)
    .variables(lib::variables)
    .untrusted();

/// The person's library on Spotify: list the saved tracks or albums, newest first, save more of them, or
/// remove some.
#[derive(Deserialize, JsonSchema)]
struct Library {
    /// Tracks or albums
    kind: Kind,
    /// What to do
    action: Action,
    /// Most to list, up to 50
    limit: Option<u32>,
    /// How many to skip
    offset: Option<u32>,
    /// Country whose catalogue counts, in two letters
    market: Option<String>,
    /// What to save or remove, by names such as spotify:track:…
    uris: Option<Vec<String>>,
    /// The same, by ids
    ids: Option<Vec<String>>,
    /// The same, in whichever way
    items: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Tracks,
    Albums,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Save,
    Remove,
}

impl Tool for Library {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.plan())
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let action = if let Action::Save = self.action { "save" } else { "remove" };
        lib::run(cx, self.plan(), action).await
    }
}

impl Library {
    fn plan(&self) -> Result<Plan, ToolError> {
        let (plural, one) = match self.kind {
            Kind::Tracks => ("tracks", "track"),
            Kind::Albums => ("albums", "album"),
        };
        if let Action::List = self.action {
            let ask = Ask::get(&["me", plural]).query("limit", lib::page(self.limit));
            return Ok(Plan::look(ask.query("offset", self.offset).query("market", self.market.as_deref())));
        }
        let given = [&self.uris, &self.ids, &self.items].into_iter().flatten().flatten();
        let uris = names::uris(given, one)?;
        if uris.is_empty() {
            return Err(ToolError::Arguments(format!("which {plural}? give their uris")));
        }
        let (ask, what) = match self.action {
            Action::Save => (Ask::put(&["me", "library"]), "save in the library"),
            _ => (Ask::delete(&["me", "library"]), "remove from the library"),
        };
        let names = uris.join(",");
        Ok(Plan::act(ActKind::Control, format!("{what}: {names}"), ask.query("uris", Some(names))))
    }
}
