//! `spotify_playlists`: the person's playlists.

use hermes_core::cx::ToolCx;
use hermes_core::effect::{ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::{Ask, Plan, needed, set};
use crate::spotify::{self as lib, SERVICE, names};
use crate::toolsets::spotify;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Playlists>("spotify_playlists", &spotify::TOOLSET)
    .emoji("📚")
    .gate(lib::gate)
    .variables(lib::variables)
    .untrusted();

/// Most tracks that are added or removed at once.
const MOST: usize = 100;

/// Playlists on Spotify: list the person's own, get one with what is in it, create one, add items to it
/// or remove them, or update its details (name, description, whether others see it).
#[derive(Deserialize, JsonSchema)]
struct Playlists {
    /// What to do
    action: Action,
    /// Which playlist: its name such as spotify:playlist:…, a link to it, or its id
    playlist_id: Option<String>,
    /// Country whose catalogue counts, in two letters
    market: Option<String>,
    /// Most playlists to list, up to 50
    limit: Option<u32>,
    /// How many to skip
    offset: Option<u32>,
    /// What it is called, for create and update
    name: Option<String>,
    /// What it is about, for create and update
    description: Option<String>,
    /// Whether it is shown on the person's profile
    public: Option<bool>,
    /// Whether others may change it; it must not be public then
    collaborative: Option<bool>,
    /// What to add or remove, such as spotify:track:…, at most 100
    uris: Option<Vec<String>>,
    /// Where to put what is added, counted from 0; at the end if left out
    position: Option<u32>,
    /// The state of the playlist that is meant, for removing
    snapshot_id: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Get,
    Create,
    AddItems,
    RemoveItems,
    UpdateDetails,
}

impl Action {
    const fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Get => "get",
            Self::Create => "create",
            Self::AddItems => "add_items",
            Self::RemoveItems => "remove_items",
            Self::UpdateDetails => "update_details",
        }
    }
}

impl Tool for Playlists {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.plan())
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        lib::run(cx, self.plan(), self.action.name()).await
    }
}

impl Playlists {
    fn plan(&self) -> Result<Plan, ToolError> {
        let act = |detail: String, ask: Ask| Ok(Plan::act(ActKind::Control, detail, ask));
        match self.action {
            Action::List => {
                let ask = Ask::get(&["me", "playlists"]).query("limit", lib::page(self.limit));
                Ok(Plan::look(ask.query("offset", self.offset)))
            }
            Action::Get => {
                let ask = Ask::get(&["playlists", &self.playlist()?]);
                Ok(Plan::look(ask.query("market", self.market.as_deref())))
            }
            Action::Create => {
                let name = needed(self.name.as_deref(), "name", "create")?;
                let detail = format!("create a playlist \"{name}\"{}", self.seen());
                act(detail, Ask::post(&["me", "playlists"]).json(Value::Object(self.details())))
            }
            Action::AddItems => {
                let (playlist, uris) = (self.playlist()?, self.uris()?);
                let detail = format!("add to the playlist {playlist}: {}", uris.join(", "));
                let mut body = json!({ "uris": uris });
                if let Some(position) = self.position {
                    set(&mut body, "position", json!(position));
                }
                act(detail, Ask::post(&["playlists", &playlist, "items"]).json(body))
            }
            Action::RemoveItems => {
                let (playlist, uris) = (self.playlist()?, self.uris()?);
                let detail = format!("remove from the playlist {playlist}: {}", uris.join(", "));
                let items: Vec<Value> = uris.iter().map(|uri| json!({ "uri": uri })).collect();
                let mut body = json!({ "items": items });
                if let Some(snapshot) = &self.snapshot_id {
                    set(&mut body, "snapshot_id", json!(snapshot));
                }
                act(detail, Ask::delete(&["playlists", &playlist, "items"]).json(body))
            }
            Action::UpdateDetails => {
                let (playlist, details) = (self.playlist()?, Value::Object(self.details()));
                if details == json!({}) {
                    return Err(ToolError::Arguments("update_details needs something to change".to_owned()));
                }
                let detail = format!("change the playlist {playlist}: {details}");
                act(detail, Ask::put(&["playlists", &playlist]).json(details))
            }
        }
    }

    fn playlist(&self) -> Result<String, ToolError> {
        names::id(needed(self.playlist_id.as_deref(), "playlist_id", self.action.name())?, "playlist")
    }

    fn uris(&self) -> Result<Vec<String>, ToolError> {
        let uris = names::uris(self.uris.iter().flatten(), "track")?;
        if (1..=MOST).contains(&uris.len()) {
            return Ok(uris);
        }
        let why = format!("{} needs uris, at least one and at most {MOST}", self.action.name());
        Err(ToolError::Arguments(why))
    }

    fn seen(&self) -> &'static str {
        if self.public == Some(false) { " that only you see" } else { " that others can see" }
    }

    fn details(&self) -> Map<String, Value> {
        let fields = [
            ("name", json!(self.name)),
            ("description", json!(self.description)),
            ("public", json!(self.public)),
            ("collaborative", json!(self.collaborative)),
        ];
        let said = fields.into_iter().filter(|(_, value)| !value.is_null());
        said.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
